@_spi(Testing) import TestSupport
import Testing

/// Small files of each kind that a store leaves, with single bits flipped: refused, or read to the same result.
struct FlipTests {
  private static let small = FlipTrial.Sample.allCases.filter { $0 != .longBulk }

  /// `crash-rig --flips` goes through every bit of these.
  @Test(arguments: small)
  func bitsOfHeadersAnchorsAndRecordHeaders(_ sample: FlipTrial.Sample) throws {
    var generator = SeededGenerator("\(#function) \(sample)")
    let trial = try FlipTrial(sample, seed: generator.next())
    for byte in trial.headerBytes.shuffled(using: &generator).prefix(80) {
      _ = try trial.run(byte: byte, bit: generator.number(in: 0...7), seed: generator.next())
    }
  }

  @Test(arguments: small)
  func bitsOfTheRest(_ sample: FlipTrial.Sample) throws {
    var generator = SeededGenerator("\(#function) \(sample)")
    let trial = try FlipTrial(sample, seed: generator.next())
    var bytes = (0..<20).map { _ in generator.pick(trial.saidBytes) }
    // Most of the rest are zeros that no code reads.
    bytes += (0..<5).map { _ in generator.next() % trial.image.byteCount }
    for byte in bytes {
      _ = try trial.run(byte: byte, bit: generator.number(in: 0...7), seed: generator.next())
    }
  }

  @Test func bitsOfALongTransaction() throws {
    var generator = SeededGenerator()
    let trial = try FlipTrial(.longBulk, seed: generator.next())
    for bytes in [trial.headerBytes, trial.headerBytes, trial.saidBytes] {
      _ = try trial.run(byte: generator.pick(bytes), bit: 3, seed: generator.next())
    }
  }
}
