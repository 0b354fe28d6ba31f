import Glibc

/// The destination of a copy of a store. The copy is written under a temporary name and renamed when it is
/// complete. A protocol, so that tests can simulate the folder.
///
/// The functions are called once each, in this order: ``makeFile()``, ``synchronizeFile()``, ``publish()``,
/// ``synchronizeFolder()``. Any of the first three may be followed by ``discard()`` instead.
@_spi(Testing)
public protocol CopyPlace: AnyObject {
  /// The path of the unfinished copy, for errors.
  var temporaryPath: String { get }
  /// Creates an empty file under the temporary name and locks it. The lock lasts until the file is closed.
  func makeFile() throws(StoreError) -> any RandomAccessFile
  /// Syncs the contents and the metadata of the file.
  func synchronizeFile() throws(StoreError)
  /// Renames the file to its final name.
  func publish() throws(StoreError)
  /// Syncs the folder, which makes the new name durable.
  func synchronizeFolder() throws(StoreError)
  /// Closes the file and removes it.
  func discard()
}

/// A destination in a folder of the file system.
final class PosixCopyPlace: CopyPlace {
  /// The effect of publishing the copy.
  enum Aim {
    /// It becomes a new file, with these permissions.
    case newFile(permissions: UInt32)
    /// It replaces this file, which is locked.
    case replacing(PosixFile)
  }

  let temporaryPath: String
  private let path: String
  private let aim: Aim
  private var file: PosixFile?

  /// - Parameter path: leads to the file itself, not to a link, if there is a file to be replaced.
  init(path: String, _ aim: Aim) {
    self.path = path
    self.aim = aim
    temporaryPath = Self.temporaryPath(of: path)
  }

  /// Returns the name of an unfinished copy that is to appear at `path`.
  static func temporaryPath(of path: String) -> String { path + ".cambium-copy" }

  func makeFile() throws(StoreError) -> any RandomAccessFile {
    if case .newFile = aim, try PosixFile.isAnything(at: path) {
      throw StoreError.system("open", EEXIST).adding { $0.path = path }
    }
    let file = try PosixFile.makeLocked(path: temporaryPath, of: path, permissions: 0o600)
    self.file = file
    do throws(StoreError) {
      switch aim {
      case .newFile(let permissions): try file.setPermissions(permissions)
      case .replacing(let original): try file.takeOwnerAndPermissions(of: original)
      }
      return file
    } catch {
      discard()
      throw error.adding { $0.path = temporaryPath }
    }
  }

  func synchronizeFile() throws(StoreError) {
    guard let file, fsync(file.descriptor) == 0 else {
      throw StoreError.system("fsync", errno).adding { $0.path = temporaryPath }
    }
  }

  func publish() throws(StoreError) {
    switch aim {
    case .newFile: try PosixFile.renameToNew(temporaryPath, path)
    case .replacing(let original):
      guard try PosixFile.identity(at: path) == original.identity() else {
        throw StoreError(
          .storeInUse,
          "the store's file was replaced by another one while the copy was made",
          context: .init(path: path)
        )
      }
      try PosixFile.rename(temporaryPath, path)
    }
    file = nil
  }

  func synchronizeFolder() throws(StoreError) { try PosixFile.synchronizeFolder(of: path) }

  func discard() {
    guard let file else { return }
    // The name is removed before the lock is released: afterwards another process could have made a file of
    // this name.
    PosixFile.remove(temporaryPath)
    file.close()
    self.file = nil
  }
}
