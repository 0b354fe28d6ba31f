import Foundation

/// The terminals that the tool writes to.
enum Terminal {
  /// Returns the columns of a terminal, which its user may have resized; nil for a descriptor of something else, or if
  /// the terminal doesn't tell.
  static func columnCount(of descriptor: CInt) -> Int? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
  }
}
