import CLinux
import Glibc

/// The lock by which processes exclude each other: an open-file-description lock on one byte far beyond any
/// data, shared by readers, exclusive for the writer. The system releases it when its holder ends, so no
/// stale lock remains.
enum FileLock {
  /// Past the largest possible file, so that mandatory locking of a file system doesn't affect reads and
  /// writes.
  static let offset: Int64 = 1 << 62

  /// Takes the lock or throws `storeInUse`, which names the processes that have the descriptor, as far as
  /// /proc shows them. A child that was forked from the holder shares the lock, and keeps it when the holder
  /// ends.
  static func acquire(_ file: PosixFile, path: String, isExclusive: Bool) throws(StoreError) {
    var result = clinux_lock(file.descriptor, isExclusive ? 1 : 0, offset, 1)
    while result == -EINTR { result = clinux_lock(file.descriptor, isExclusive ? 1 : 0, offset, 1) }
    if result == 0 { return }
    guard result == -EAGAIN || result == -EACCES else {
      throw .system("fcntl(F_OFD_SETLK)", -result).adding { $0.path = path }
    }
    let holders = try holders(of: file.identity())
    let names =
      holders.isEmpty
      ? "a process that /proc doesn't show to this user"
      : holders.map(\.description).joined(separator: " and ")
    let have = holders.count > 1 ? "have" : "has"
    throw StoreError(
      .storeInUse,
      "\(names) \(have) the store open\(isExclusive ? "" : " for writing")",
      context: .init(path: path)
    )
  }

  /// Releases the lock, for every descriptor of the same opening. Does nothing if there is no lock.
  static func release(_ descriptor: Int32) { _ = clinux_unlock(descriptor, offset, 1) }

  /// Searches /proc for processes whose descriptors hold a store lock on the file. Processes of other users
  /// aren't visible there.
  static func holders(of file: PosixFile.Identity) -> [StoreProcess] {
    folderEntries("/proc").compactMap { Int32($0) }.sorted().compactMap { process in
      let descriptors = "/proc/\(process)/fdinfo"
      let holds = folderEntries(descriptors).contains { name in
        // Files of other file systems may have the same number.
        Int32(name) != nil && holdsLock(SystemFile.contents("\(descriptors)/\(name)"), inode: file.inode)
          && (try? PosixFile.identity(at: "/proc/\(process)/fd/\(name)")) == file
      }
      guard holds else { return nil }
      let command = SystemFile.contents("/proc/\(process)/comm").prefix { $0 != "\n" }
      return StoreProcess(id: process, command: String(command))
    }
  }

  /// Returns whether `descriptorInfo`, a text of /proc, names a store lock on the file. A line reads
  /// `lock: 1: OFDLCK ADVISORY WRITE -1 fe:00:1234 4611686018427387904 4611686018427387904`. The device is
  /// not compared: overlay file systems report another one here than `fstat` does.
  static func holdsLock(_ descriptorInfo: String, inode: UInt64) -> Bool {
    descriptorInfo.split(separator: "\n").contains { line in
      let words = line.split { $0 == " " || $0 == "\t" }
      return words.count == 9 && words[2] == "OFDLCK" && words[6].hasSuffix(":\(inode)")
        && words[7] == "\(offset)"
    }
  }

  private static func folderEntries(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      names.append(name)
    }
    return names
  }
}
