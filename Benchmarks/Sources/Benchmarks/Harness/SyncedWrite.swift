import Foundation

/// The floor under every durable commit: one write of 512 bytes that returns when the device has them, into space that
/// has been written before, so that no metadata has to follow.
enum SyncedWrite {
  static func medianSeconds(in folder: String, count: Int) throws -> Double {
    let path = folder + "/synced-write"
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DSYNC, 0o600)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    defer {
      close(descriptor)
      unlink(path)
    }
    let block = [UInt8](repeating: 0, count: 1 << 20)
    guard pwrite(descriptor, block, block.count, 0) == block.count, fsync(descriptor) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EIO)
    }
    let record = [UInt8](repeating: 0xA5, count: 512)
    let clock = ContinuousClock()
    var times: [Double] = []
    for index in 0..<count {
      let start = clock.now
      let offset = off_t(index * record.count % block.count)
      guard pwrite(descriptor, record, record.count, offset) == record.count else {
        throw POSIXError(.init(rawValue: errno) ?? .EIO)
      }
      times.append((clock.now - start) / .seconds(1))
    }
    return times.sorted()[times.count / 2]
  }
}
