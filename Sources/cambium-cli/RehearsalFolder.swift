import Foundation

/// A folder of a run of `cambium migrate` for the copy of the store on which several stages are worked out.
///
/// A run that is killed leaves the folder. The next run removes it: beside each folder is a file that its run has
/// locked, and the system releases the lock of a process that ends. The store's engine needs a name of the copy until
/// it has opened the copy, so the name can't be removed first.
struct RehearsalFolder {
  let url: URL
  private let lockPath: String
  private let lock: CInt

  private static let prefix = "cambium-dry-run-"
  private static let lockSuffix = ".lock"

  /// Removes the folders of runs that were killed, and prepares another one, which exists once a copy is made in it.
  /// Nil where no file can be made: a run of a single stage needs no folder.
  ///
  /// - Parameter parent: the folder of temporary files.
  init?(in parent: URL = FileManager.default.temporaryDirectory) {
    Self.removeAbandoned(in: parent)
    let url = parent.appending(component: Self.prefix + UUID().uuidString)
    let lockPath = url.path + Self.lockSuffix
    let lock = open(lockPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if lock < 0 { return nil }
    // Another run may have taken the file for an abandoned one before it was locked.
    var state = stat()
    guard flock(lock, LOCK_EX) == 0, fstat(lock, &state) == 0, state.st_nlink > 0 else {
      close(lock)
      return nil
    }
    (self.url, self.lockPath, self.lock) = (url, lockPath, lock)
  }

  /// Removes the folder and its lock.
  func remove() {
    try? FileManager.default.removeItem(at: url)
    unlink(lockPath)
    close(lock)
  }

  private static func removeAbandoned(in parent: URL) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(lockSuffix) {
      let lockPath = parent.appending(component: name).path
      // Other users may have files in the folder.
      let lock = open(lockPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      if lock < 0 { continue }
      defer { close(lock) }
      var state = stat()
      guard flock(lock, LOCK_EX | LOCK_NB) == 0, fstat(lock, &state) == 0, state.st_uid == geteuid() else {
        continue
      }
      try? FileManager.default.removeItem(atPath: String(lockPath.dropLast(lockSuffix.count)))
      unlink(lockPath)
    }
  }
}
