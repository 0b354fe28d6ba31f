import CLinux
import Glibc

/// Opening files that other processes may open, replace or remove at the same moment.
extension PosixFile {
  /// How often another file may be found at a path before an error is thrown.
  static let patience = 100

  /// Opens the file at `path` and locks it: alone, for writing, or together with other readers. On return it
  /// is still the file at `path`. Throws `storeInUse`.
  static func openLocked(path: String, isReadOnly: Bool = false) throws(StoreError) -> PosixFile {
    for _ in 0..<patience {
      let file = try open(path: path, isReadOnly: isReadOnly, createsIfMissing: false)
      try FileLock.acquire(file, path: path, isExclusive: !isReadOnly)
      if try file.isAt(path) { return file }
    }
    throw keepsChanging(path)
  }

  /// Makes an empty file at `path` and locks it. A file that is there and that no process has locked was left
  /// by a crash, and is removed. Throws `storeInUse`.
  ///
  /// - Parameter original: the path of the store that the file will become.
  static func makeLocked(
    path: String,
    of original: String,
    permissions: mode_t
  ) throws(StoreError) -> PosixFile {
    for _ in 0..<patience {
      do throws(StoreError) {
        let file = try open(
          path: path,
          flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
          permissions: permissions
        )
        try FileLock.acquire(file, path: path, isExclusive: true)
        if try file.isAt(path) { return file }
      } catch {
        guard error.systemError?.errno == EEXIST else { throw error }
        try removeLeftover(path, of: original)
      }
    }
    throw keepsChanging(path)
  }

  /// Removes a file that a crash has left at `path`, if there is one. Throws `storeInUse` if a process has
  /// locked it.
  ///
  /// - Parameter original: the path of the store for which the file was made. If both are names of one file,
  ///   only the name is removed: the file was being published, and the caller itself may have locked it.
  static func removeLeftover(_ path: String, of original: String) throws(StoreError) {
    if let left = try identity(at: path), try identity(at: original) == left { return remove(path) }
    do throws(StoreError) {
      let file = try open(path: path, flags: O_RDWR | O_NOFOLLOW)
      try FileLock.acquire(file, path: path, isExclusive: true)
      if try file.isAt(path) { remove(path) }
    } catch {
      // No file can have a name that is too long.
      guard let errno = error.systemError?.errno, [ENOENT, ENAMETOOLONG].contains(errno) else { throw error }
    }
  }

  static func keepsChanging(_ path: String) -> StoreError {
    StoreError(.storeInUse, "other threads or processes keep replacing the file", context: .init(path: path))
  }

  // MARK: Paths

  /// Returns whether this file is the one at `path`. The answer is reliable only for a locked file: another
  /// process may replace the file between its opening and its locking.
  func isAt(_ path: String) throws(StoreError) -> Bool { try Self.identity(at: path) == identity() }

  func isFound(at path: String) -> Bool {
    var (device, inode, links) = (UInt64(0), UInt64(0), UInt64(0))
    // If the path still leads to this file, the file has a name, and one call is enough.
    if let knownIdentity, clinux_identity(descriptor, path, &device, &inode, &links) == 0, links > 0,
      Identity(device: device, inode: inode) == knownIdentity
    {
      return true
    }
    guard clinux_identity(descriptor, nil, &device, &inode, &links) == 0 else { return true }
    if links == 0 { return false }
    let own = Identity(device: device, inode: inode)
    // If no file is found at the path, this file has another name: it was moved, or the process's root folder
    // has changed.
    guard clinux_identity(descriptor, path, &device, &inode, &links) == 0 else { return true }
    return Identity(device: device, inode: inode) == own
  }

  /// Returns the identity of the file at `path`; nil if there is none.
  static func identity(at path: String) throws(StoreError) -> Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG { return nil }
      throw .system("stat", errno).adding { $0.path = path }
    }
    return identity(of: status)
  }

  /// Returns whether anything is at `path`, even a link that leads nowhere.
  static func isAnything(at path: String) throws(StoreError) -> Bool {
    var status = stat()
    if lstat(path, &status) == 0 { return true }
    if errno == ENOENT { return false }
    throw .system("lstat", errno).adding { $0.path = path }
  }

  /// Returns the path that results when every link in `path` is followed.
  static func resolved(_ path: String) throws(StoreError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw .system("realpath", errno).adding { $0.path = path }
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Returns the path that results when links are followed from `path` until the result is no link. The last
  /// link may lead to nothing.
  static func followed(_ path: String) -> String {
    var (path, buffer) = (path, [CChar](repeating: 0, count: Int(PATH_MAX)))
    // The system follows as many links.
    for _ in 0..<40 {
      let count = readlink(path, &buffer, buffer.count)
      guard count > 0 else { break }
      let target = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
    }
    return path
  }

  // MARK: Changing names

  /// Renames a file. A file that has the new name is replaced.
  static func rename(_ old: String, _ new: String) throws(StoreError) {
    guard Glibc.rename(old, new) == 0 else { throw .system("rename", errno).adding { $0.path = new } }
  }

  /// Renames a file if nothing has the new name.
  static func renameToNew(_ old: String, _ new: String) throws(StoreError) {
    let result = clinux_rename_new(old, new)
    guard result == 0 else { throw .system("renameat2", -result).adding { $0.path = new } }
  }

  /// Removes a name if it exists.
  static func remove(_ path: String) { _ = unlink(path) }

  /// Removes a name that must exist.
  static func removeExisting(_ path: String) throws(StoreError) {
    guard unlink(path) == 0 else { throw .system("unlink", errno).adding { $0.path = path } }
  }

  // MARK: Owner and permissions

  func setPermissions(_ permissions: UInt32) throws(StoreError) {
    guard fchmod(descriptor, mode_t(permissions)) == 0 else { throw .system("fchmod", errno) }
  }

  /// Gives the file the owner, the group and the permissions of `original`.
  func takeOwnerAndPermissions(of original: PosixFile) throws(StoreError) {
    let (wanted, own) = (try original.status(), try status())
    if wanted.st_uid != own.st_uid || wanted.st_gid != own.st_gid {
      guard fchown(descriptor, wanted.st_uid, wanted.st_gid) == 0 else { throw .system("fchown", errno) }
    }
    try setPermissions(UInt32(wanted.st_mode) & 0o7777)
  }
}
