import Foundation

/// Input, output and error output of the process, by the numbers 0 to 2.
enum StandardStreams {
  /// Opens the null device for each stream that was closed when the tool was started. Otherwise another file that the
  /// tool opens would have the number of the stream: its bytes would be taken for input, and messages be written to it.
  /// (The library protects the files of stores.) As the device is opened for reading, writing to a closed stream fails
  /// all the same.
  static func reserve() {
    var descriptor: Int32
    repeat { descriptor = open("/dev/null", O_RDONLY) } while (0...2).contains(descriptor)
    if descriptor > 2 { close(descriptor) }
  }
}
