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
    if CommandLine.arguments.dropFirst(3).first == "destroy" { return try destroyAgainAndAgain(options) }
    while true {
      // Now and then in pages of another size: the replacement of the file is killed too.
      for pageSize in [8_192, 4_096] {
        try commitAndClose(options)
        try Store.rewrite(at: CommandLine.arguments[1], pageSize: pageSize)
      }
    }
  }

  /// Makes a store, commits to it and destroys it, without end. A destruction is said as commit 0.
  private static func destroyAgainAndAgain(_ options: StoreOptions) throws {
    while true {
      try commitAndClose(options)
      try Store.destroy(at: CommandLine.arguments[1])
      acknowledge(0)
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
    acknowledge(number)
  }

  private static func acknowledge(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { bytes in
      _ = write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
