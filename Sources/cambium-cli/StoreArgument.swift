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
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: store, isDirectory: &isFolder) else {
      throw Failure(.use, "error: there is no file \(store)")
    }
    guard !isFolder.boolValue else { throw Failure(.use, "error: \(store) is a folder") }
    // Opening a pipe would wait for its other end.
    var status = stat()
    guard stat(store, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.use, "error: \(store) is no regular file")
    }
    return store
  }
}
