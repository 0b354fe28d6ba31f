import Foundation

extension FileManager {
  /// Removes the store's file at the path, if there is one.
  ///
  /// - Throws: ``DataError`` for a folder, which has more in it than a store.
  func removeStore(atPath path: String) throws {
    var isFolder: ObjCBool = false
    guard fileExists(atPath: path, isDirectory: &isFolder) else { return }
    guard !isFolder.boolValue else { throw DataError(path: path, message: "is a folder, and no store") }
    try removeItem(atPath: path)
  }
}
