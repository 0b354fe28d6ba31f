import Glibc

extension StoreError {
  /// Returns the error of a file that couldn't be opened, with a hint in its message where the cause is
  /// known: the folder is missing, or the file may be read but not written.
  func explained(forOpening path: String, _ options: StoreOptions) -> StoreError {
    guard let systemError, let hint = Self.hint(systemError.errno, forOpening: path, options) else {
      return self
    }
    return StoreError(code, "\(message): \(hint)", context: context, systemError: systemError)
  }

  private static func hint(_ errno: Int32, forOpening path: String, _ options: StoreOptions) -> String? {
    switch errno {
    case ENOENT:
      // A link may lead into another folder.
      let folder = PosixFile.folder(of: PosixFile.followed(path))
      return isMissing(folder) ? "the folder \(folder) is missing" : nil
    case EACCES, EPERM, EROFS:
      guard !options.isReadOnly, access(path, R_OK) == 0 else { return nil }
      return "the file may be read but not written; StoreOptions.isReadOnly opens it for reading"
    default: return nil
    }
  }

  /// Returns whether there is nothing at `path`. False if the system doesn't tell.
  private static func isMissing(_ path: String) -> Bool {
    do throws(StoreError) { return try PosixFile.identity(at: path) == nil } catch { return false }
  }
}
