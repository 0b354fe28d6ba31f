import Glibc

extension PosixFile {
  /// Returns a descriptor of the same open file that is none of the standard streams: `descriptor` itself, or a
  /// duplicate of it. In the second case `descriptor` is the null device afterwards, or closed if that can't be
  /// opened. Throws if there is no free descriptor; `descriptor` is closed then.
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
    if duplicate < 0 {
      let error = errno
      _ = Glibc.close(descriptor)
      throw .system("fcntl", error)
    }
    replaceByNullDevice(descriptor)
    return duplicate
  }

  /// Makes `descriptor` one of the null device. If the number were free, the next file that is opened would have
  /// it, while another thread may print. As the device is opened for reading, printing fails as before.
  private static func replaceByNullDevice(_ descriptor: Int32) {
    let null = Glibc.open("/dev/null", O_RDONLY)
    if null < 0 || dup2(null, descriptor) < 0 { _ = Glibc.close(descriptor) }
    // A second closed stream may have lent its number, and stays open for the same reason.
    if null > STDERR_FILENO { _ = Glibc.close(null) }
  }
}
