import Foundation
import TestSupport
import Testing

@testable import PageStore

/// The memory that a store takes if its options don't set a limit.
struct SystemMemoryTests {
  @Test func aShareIsASixteenthOrAThirtySecondWithinLimits() {
    #expect(SystemMemory.share(of: 1 << 30) == 64 << 20)
    #expect(SystemMemory.share(of: 4 << 30) == 256 << 20)
    #expect(SystemMemory.share(of: 8 << 30) == 256 << 20)
    #expect(SystemMemory.share(of: 16 << 30) == 512 << 20)
    #expect(SystemMemory.share(of: 64 << 20) == 16 << 20)
    #expect(SystemMemory.share(of: .max) == 1 << 30)
    #expect(SystemMemory.share(of: 0) == 16 << 20)
  }

  @Test func withoutControlGroupsItIsTheMachinesMemory() {
    #expect(SystemMemory.byteCount(root: "/nowhere") == SystemMemory.byteCount(root: "/not/there"))
    #expect(SystemMemory.byteCount(root: "/nowhere") >= SystemMemory.byteCount())
    #expect(SystemMemory.byteCount() > 16 << 20)
  }

  /// The smallest limit counts, whichever group has it.
  @Test(arguments: ["", "app.slice/", "app.slice/server/"])
  func aLimitAroundTheGroupCounts(group: String) throws {
    var files = [
      "proc/self/cgroup": "0::/app.slice/server\n",
      "sys/fs/cgroup/memory.max": "max\n",
      "sys/fs/cgroup/app.slice/memory.max": "50000000\n",
      "sys/fs/cgroup/app.slice/server/memory.max": "max\n",
    ]
    files["sys/fs/cgroup/\(group)memory.max"] = "40000000\n"
    try Self.withFiles(files) { #expect(SystemMemory.byteCount(root: $0) == 40_000_000) }
  }

  @Test func aLimitBeyondWhichTheProcessIsSlowedDownCounts() throws {
    try Self.withFiles([
      "proc/self/cgroup": "0::/a b (deleted)\n",
      "sys/fs/cgroup/a b (deleted)/memory.max": "50000000\n",
      "sys/fs/cgroup/a b (deleted)/memory.high": "40000000",
    ]) { #expect(SystemMemory.byteCount(root: $0) == 40_000_000) }
  }

  /// Each of the first version's controllers has a line with the whole path.
  @Test func aLongListOfGroupsIsReadToItsEnd() throws {
    let path = String(repeating: "/pod", count: 150)
    let others = (0..<12).map { "\($0 + 5):controller\($0):\(path)\n" }.joined()
    try Self.withFiles([
      "proc/self/cgroup": others + "4:memory:\(path)\n",
      "sys/fs/cgroup/memory/pod/memory.limit_in_bytes": "10000000\n",
    ]) { #expect(SystemMemory.byteCount(root: $0) == 10_000_000) }
  }

  @Test func theFirstVersionsLimitCounts() throws {
    try Self.withFiles([
      "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:hugetlb,memory:/app:one\n0::/\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "sys/fs/cgroup/memory/app:one/memory.limit_in_bytes": "30000000\n",
      "sys/fs/cgroup/cpu/x/memory.limit_in_bytes": "1\n",
    ]) { #expect(SystemMemory.byteCount(root: $0) == 30_000_000) }
  }

  /// The path is that of the machine outside; inside, the group's folder is the root.
  @Test func aContainersLimitCounts() throws {
    try Self.withFiles([
      "proc/self/cgroup": "4:memory:/docker/0123\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "20000000\n",
    ]) { #expect(SystemMemory.byteCount(root: $0) == 20_000_000) }
  }

  @Test(arguments: ["", "\n", "0", "0::", "::", "x:memory:/a", "0::/../..", "0::/../x", "0::///\n0::/a"])
  func whatIsNotUnderstoodIsLeftOut(text: String) throws {
    try Self.withFiles(["proc/self/cgroup": text, "sys/fs/cgroup/memory.max": "a lot\n"]) {
      #expect(SystemMemory.byteCount(root: $0) == SystemMemory.byteCount(root: "/nowhere"))
    }
  }

  @Test func aProgramsChoiceIsNotAShare() {
    var options = StoreOptions()
    #expect(options.cacheBytes == SystemMemory.share && options.dirtyMemoryBytes == SystemMemory.share)
    options.cacheBytes = 5 << 20
    #expect(options.cacheBytes == 5 << 20 && options.dirtyMemoryBytes == SystemMemory.share)
    #expect(options != StoreOptions())
  }

  @Test func aBudgetIsExceededByMore() {
    #expect(!MemoryBudget(chosen: 100).isExceeded(by: 100) && MemoryBudget(chosen: 100).isExceeded(by: 101))
    let share = MemoryBudget()
    #expect(!share.isExceeded(by: share.byteCount) && share.isExceeded(by: share.byteCount + 1))
    #expect(share.isAtLeast(share.byteCount) && !share.isAtLeast(share.byteCount + 1))
  }

  private static func withFiles(_ files: [String: String], _ body: (_ root: String) throws -> Void) throws {
    let folder = try TemporaryFolder()
    for (path, text) in files.sorted(by: { $0.key < $1.key }) {
      let file = URL(filePath: "\(folder.path)/\(path)")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    try body(folder.path)
  }
}
