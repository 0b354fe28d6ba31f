@_spi(Testing) import TestSupport

/// Small stores' files of each kind, of which bits are flipped one at a time: all bits of a stretch of headers, all
/// bits of a stretch of sectors that aren't zeros, and some of the rest.
struct FlipScenario {
  let seed: UInt64
  let tally: Tally

  private static let group = "bits flipped one at a time"

  func run(until isOver: () -> Bool) {
    var generator = SeededGenerator(seed: seed)
    for sample in FlipTrial.Sample.allCases {
      // A file of many megabytes takes its time.
      let isLong = sample == .longBulk
      if isLong, !generator.chance(1, in: 3) { continue }
      do {
        let trial = try FlipTrial(sample, seed: generator.next())
        var bytes = Self.stretch(of: trial.headerBytes, isLong ? 4 : 16, using: &generator)
        bytes += Self.stretch(of: trial.saidBytes, isLong ? 2 : 10, using: &generator)
        for _ in 0..<(isLong ? 1 : 4) { bytes.append(generator.next() % trial.image.byteCount) }
        try flip(bytes, of: trial, until: isOver)
      } catch {
        tally.note(.wrong("\(error)"), Self.group, scenario: seed)
      }
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
