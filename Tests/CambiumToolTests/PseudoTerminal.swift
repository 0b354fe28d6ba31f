import Foundation
import Testing

/// A new pseudo-terminal. Its other end has the text that a program writes to it.
struct PseudoTerminal {
  /// The end that a program sees as a terminal.
  let device: FileHandle
  private let otherEnd: FileHandle

  /// - Parameter columnCount: the terminal's width; nil for a terminal that doesn't tell it.
  init(columnCount: UInt16? = nil) throws {
    otherEnd = try #require(FileHandle(forUpdatingAtPath: "/dev/ptmx"))
    let descriptor = otherEnd.fileDescriptor
    var isLocked: CInt = 0
    var number: CInt = -1
    // TIOCSPTLCK and TIOCGPTN, which Swift doesn't see.
    #expect(ioctl(descriptor, 0x4004_5431, &isLocked) == 0 && ioctl(descriptor, 0x8004_5430, &number) == 0)
    device = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(number)"))
    guard let columnCount else { return }
    var size = winsize(ws_row: 24, ws_col: columnCount, ws_xpixel: 0, ws_ypixel: 0)
    let isSet = ioctl(device.fileDescriptor, UInt(TIOCSWINSZ), &size) == 0
    #expect(isSet)
  }

  /// Returns the text that was written since the last call. Lines end as a terminal gets them: with `\r\n`.
  func text() -> String {
    var bytes: [UInt8] = []
    // The terminal returns the available bytes, and would block a further read.
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var waiting = pollfd(fd: otherEnd.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while poll(&waiting, 1, 2_000) == 1 {
      let count = read(otherEnd.fileDescriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    withExtendedLifetime(self) {}
    return String(decoding: bytes, as: UTF8.self)
  }
}
