import Glibc
import PageStore
import TestSupport

/// Commits without end, and says on standard output what was acknowledged: eight bytes for each commit, its number.
/// Somebody kills it.
@main
struct KillTarget {
  static func main() throws {
    var options = StoreOptions()
    options.pageSize = 4_096
    options.checkpointLogBytes = 64 << 10
    while true {
      // Now and then in pages of another size: the replacement of the file is killed too.
      for pageSize in [8_192, 4_096] {
        try commitAndClose(options)
        try Store.rewrite(at: CommandLine.arguments[1], pageSize: pageSize)
      }
    }
  }

  /// Commits from an opening to its close.
  private static var commitCount: Int { CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 40 }

  private static func commitAndClose(_ options: StoreOptions) throws {
    let store = try Store.open(at: CommandLine.arguments[1], options: options)
    // Each opening lasts for some commits: closing and recovering are killed too.
    for _ in 0..<commitCount { try commit(to: store) }
    try store.close()
  }

  private static func commit(to store: Store) throws {
    let number = store.lastCommit + 1
    try store.write(durability: KillWorkload.durability(number)) { transaction in
      for operation in KillWorkload.operations(number) { try transaction.apply(operation) }
    }
    withUnsafeBytes(of: number.littleEndian) { bytes in
      _ = write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
