#if canImport(Glibc)
  // The C library's `stdout` is a variable, but no code changes it.
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

/// Where the tool prints, and the only way it does so.
enum StandardOutput {
  /// Writes what is still in the buffer. `print` keeps it to itself when a disk is full: here it is said.
  static func finish() throws {
    let isFlushed = fflush(stdout) == 0
    guard isFlushed, ferror(stdout) == 0 else {
      throw Failure(.store, "error: the output could not be written: \(String(cString: strerror(errno)))")
    }
  }
}
