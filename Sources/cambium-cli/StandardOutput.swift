#if canImport(Glibc)
  // The C library's `stdout` is a variable, but no code changes it.
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

/// The output of the tool; all printing goes through it.
enum StandardOutput {
  /// Flushes the buffer. `print` ignores errors such as a full disk; this method throws them.
  static func finish() throws {
    let isFlushed = fflush(stdout) == 0
    guard isFlushed, ferror(stdout) == 0 else {
      throw Failure(.store, "error: the output could not be written: \(String(cString: strerror(errno)))")
    }
  }
}
