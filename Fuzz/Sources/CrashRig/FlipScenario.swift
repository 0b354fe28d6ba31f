@_spi(Testing) import TestSupport

/// A small store's file, of which bits are flipped one at a time: all those of a stretch of what it says, and some of the
/// rest.
struct FlipScenario {
  let seed: UInt64
  let tally: Tally

  /// A scenario goes through so many bytes of headers, and of all that the file says.
  private static let byteCount = 64
  private static let otherByteCount = 40
  private static let group = "bits flipped one at a time"

  func run(until isOver: () -> Bool) {
    var generator = SeededGenerator(seed: seed)
    let sample = generator.pick(FlipTrial.Sample.allCases)
    do {
      let trial = try FlipTrial(sample, seed: generator.next())
      let isLong = sample == .longBulk
      let (headers, said) = (trial.headerBytes, trial.saidBytes)
      var bytes = Self.stretch(of: headers, isLong ? 8 : Self.byteCount, using: &generator)
      if !isLong { bytes += Self.stretch(of: said, Self.byteCount, using: &generator) }
      for _ in 0..<(isLong ? 8 : Self.otherByteCount) {
        bytes.append(generator.next() % trial.image.byteCount)
      }
      try flip(bytes, of: trial, until: isOver)
    } catch {
      tally.note(.wrong("\(error)"), Self.group, scenario: seed)
    }
    tally.countScenario()
  }

  /// Flips every bit of all headers, anchors and records' headers of a sample.
  func runAll(_ sample: FlipTrial.Sample) {
    do {
      let trial = try FlipTrial(sample, seed: seed)
      try flip(trial.headerBytes, of: trial) { false }
    } catch {
      tally.note(.wrong("\(error)"), Self.group, scenario: seed)
    }
  }

  private func flip(_ bytes: [UInt64], of trial: FlipTrial, until isOver: () -> Bool) throws {
    for byte in bytes {
      for bit in 0..<8 where !isOver() {
        let isRefused = try trial.run(byte: byte, bit: bit, seed: mixed(seed, 8 * byte + UInt64(bit)))
        let effect = isRefused ? "refused" : "without effect"
        tally.count(Self.group, "\(trial.sample.rawValue): \(effect)", .right, scenario: seed)
      }
    }
  }

  private static func stretch(
    of bytes: [UInt64],
    _ count: Int,
    using generator: inout SeededGenerator
  ) -> [UInt64] {
    let start = generator.number(in: 0...max(0, bytes.count - count))
    return Array(bytes[start...].prefix(count))
  }
}
