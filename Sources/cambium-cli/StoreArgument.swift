import ArgumentParser
import Foundation

/// The store that every command takes.
struct StoreArgument: ParsableArguments {
  @Argument(help: "The store's file.", completion: .file(extensions: ["cambium"]))
  var store: String

  /// The path, if there is a file.
  func path() throws -> String { try Self.path(store) }

  /// Returns a store's path as it is given, if there is a file. Opening would fail as well, but couldn't
  /// distinguish a wrong argument from a failing disk.
  static func path(_ store: String) throws -> String {
    var status = stat()
    guard stat(store, &status) == 0 else { throw unreachable(store, errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return store
    case S_IFDIR: throw Failure(.use, "error: \(store) is a folder")
    // Opening a pipe would wait for its other end.
    default: throw Failure(.use, "error: \(store) is no regular file")
    }
  }

  /// - Parameter code: the system's error. A folder on the way that may not be searched says nothing about the file.
  private static func unreachable(_ store: String, _ code: Int32) -> Failure {
    if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(code) {
      return Failure(.use, "error: there is no file \(store)")
    }
    return Failure(.store, "error: \(store) can't be reached: \(String(cString: strerror(code)))")
  }
}
