import Glibc

/// Files in which the system states something, such as those of /proc and /sys.
enum SystemFile {
  /// Reads the text of a file; returns no text if the file can't be read.
  static func contents(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { _ = close(descriptor) }
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += bytes[..<count]
    }
  }
}
