import Glibc

extension PosixFile {
  /// Returns a descriptor of the same open file that is none of the standard streams: `descriptor` itself, or a
  /// duplicate of it, which is closed then. Throws if there is no free descriptor; `descriptor` is closed then,
  /// too.
  ///
  /// A process that was started with a closed standard stream gets the stream's number for the next file that it
  /// opens. Everything that the program prints to the stream would then be written into that file. SQLite has met
  /// this case ("How To Corrupt An SQLite Database File", section 2.1).
  ///
  /// - Parameter last: the greatest descriptor of a standard stream.
  static func aboveStandardStreams(
    _ descriptor: Int32,
    last: Int32 = STDERR_FILENO
  ) throws(StoreError) -> Int32 {
    if descriptor > last { return descriptor }
    let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, last + 1)
    let error = errno
    _ = Glibc.close(descriptor)
    if duplicate < 0 { throw .system("fcntl", error) }
    return duplicate
  }
}
