import Glibc

/// The names of a store that is destroyed: its own, and that of an unfinished copy. A protocol, so that tests can
/// simulate the folder.
///
/// The functions are called once each, in this order, also where there is no file to remove.
@_spi(Testing)
public protocol DestructionPlace {
  /// Removes the file that an unfinished copy has left, if there is one.
  func removeLeftover() throws(StoreError)
  /// Removes the store's file. Throws an error of the system with `ENOENT` if there is none.
  func removeFile() throws(StoreError)
  /// Syncs the folder, which makes the removal durable.
  func synchronizeFolder() throws(StoreError)
}

extension Store {
  /// Destroys a store as ``destroy(at:)`` does, at a place that the caller provides.
  @_spi(Testing)
  public static func destroy(at place: some DestructionPlace) throws(StoreError) {
    try place.removeLeftover()
    var absence: StoreError?
    do throws(StoreError) { try place.removeFile() } catch {
      // A destruction that was cut short may have removed the file, and a power failure would bring it back.
      guard error.isOfMissingFile else { throw error }
      absence = error
    }
    do throws(StoreError) { try place.synchronizeFolder() } catch {
      throw error.ofUnsyncedFolder("the store is removed, but a power failure may bring it back")
    }
    if let absence { throw absence }
  }
}

/// A store in a folder of the file system.
struct PosixDestructionPlace: DestructionPlace {
  /// The path of the file itself, not of a link to it.
  private let path: String
  /// The error of the opening that found no file; nil if the file is there, and locked.
  private let absence: StoreError?

  init(of path: String, absence: StoreError?) throws(StoreError) {
    self.path = absence == nil ? try PosixFile.resolved(path) : PosixFile.followed(path)
    self.absence = absence
  }

  func removeLeftover() throws(StoreError) {
    try PosixFile.removeLeftover(PosixCopyPlace.temporaryPath(of: path), of: path)
  }

  func removeFile() throws(StoreError) {
    // A file that is there by now may be another process's new store.
    if let absence { throw absence }
    try PosixFile.removeExisting(path)
  }

  func synchronizeFolder() throws(StoreError) {
    do throws(StoreError) { try PosixFile.synchronizeFolder(of: path) } catch {
      // If the folder doesn't exist, a power failure can't bring the file back.
      guard absence != nil, error.isOfMissingFile else { throw error }
    }
  }
}

extension StoreError {
  /// True if the system has found no file at a path.
  fileprivate var isOfMissingFile: Bool { systemError?.errno == ENOENT }
}
