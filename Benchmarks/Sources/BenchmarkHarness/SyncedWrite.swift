import CFloor
import Foundation

/// The floor under every durable commit: one write of 512 bytes that returns when the device has them, into space that
/// has been written before, so that no metadata has to follow.
package final class SyncedWrite {
  package static let byteCount = 512

  private let path: String
  private let descriptor: Int32
  private let record = [UInt8](repeating: 0xA5, count: byteCount)
  private let span = 1 << 20
  private var offset = 0

  /// Makes a file of a megabyte in `folder`.
  package init(in folder: String) throws {
    path = folder + "/synced-write"
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    let block = [UInt8](repeating: 0, count: span)
    guard pwrite(descriptor, block, block.count, 0) == block.count, fsync(descriptor) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
  }

  deinit {
    close(descriptor)
    unlink(path)
  }

  /// Overwrites the next `count` places, each with a synced write.
  package func run(count: Int) throws {
    for _ in 0..<count {
      let written = record.withUnsafeBytes {
        cfloor_pwrite_dsync(descriptor, $0.baseAddress, UInt64($0.count), Int64(offset))
      }
      guard written == record.count else { throw POSIXError(.init(rawValue: Int32(-written)) ?? .EIO) }
      offset = (offset + record.count) % span
    }
  }

  /// The median time of one such write in `folder`.
  package static func medianSeconds(in folder: String, count: Int) throws -> Double {
    let write = try SyncedWrite(in: folder)
    let clock = ContinuousClock()
    return Figures.median(
      try (0..<count).map { _ in
        let start = clock.now
        try write.run(count: 1)
        return (clock.now - start) / .seconds(1)
      }
    )
  }
}
