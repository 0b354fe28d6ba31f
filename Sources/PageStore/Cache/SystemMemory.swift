import Glibc

/// The memory of the machine, or less if a control group that the process is in has a limit.
enum SystemMemory {
  static let smallestShare = 16 << 20
  static let largestShare = 1 << 30
  private static let largestSixteenth = 256 << 20

  /// Bytes of a budget for which the program hasn't chosen a number.
  static let share = share(of: byteCount())

  /// Returns a 16th of a small memory, a 32nd of a large one, and 256 MiB in between. Less memory than that
  /// makes updates slow; much more would take too much from other programs.
  static func share(of byteCount: Int) -> Int {
    let share = max(min(byteCount / 16, largestSixteenth), byteCount / 32)
    return min(max(share, smallestShare), largestShare)
  }

  /// - Parameter root: the folder that has the folders `proc` and `sys`, for tests.
  static func byteCount(root: String = "") -> Int {
    let groups = controlGroups(in: SystemFile.contents("\(root)/proc/self/cgroup"))
    return groups.flatMap { $0.limits(root: root) }.reduce(machineByteCount, min)
  }

  private static let machineByteCount = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))

  /// A control group of the process that may limit its memory.
  private struct ControlGroup {
    /// The folder below which the groups of the hierarchy are usually mounted.
    var hierarchy: String
    /// The path of the group in its hierarchy.
    var path: String
    /// The names of the files that have the limits.
    var limitNames: [String]

    /// Reads the limits of the group and of the groups that contain it. In a container, the path may be the
    /// group's path on the machine outside, while the group is mounted as the root of the hierarchy. Then the
    /// root's limit is the group's limit.
    func limits(root: String) -> [Int] {
      let names = path.split(separator: "/")
      return (0...names.count).flatMap { depth in
        let folder = "\(root)\(hierarchy)/\(names.prefix(depth).joined(separator: "/"))"
        // A group without a limit says `max`.
        return limitNames.compactMap { Int(SystemFile.contents("\(folder)/\($0)").prefix { $0 != "\n" }) }
      }
    }
  }

  /// Returns the groups that the lines of `text` name. A line reads `4:memory:/user.slice` for the first
  /// version of control groups, and `0::/user.slice` for the second one (cgroups(7)).
  private static func controlGroups(in text: String) -> [ControlGroup] {
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      let path = String(parts[2])
      if parts[0] == "0", parts[1].isEmpty {
        // Beyond `memory.high` the kernel slows the process down, beyond `memory.max` it ends it.
        return ControlGroup(
          hierarchy: "/sys/fs/cgroup",
          path: path,
          limitNames: ["memory.max", "memory.high"]
        )
      }
      guard parts[1].split(separator: ",").contains("memory") else { return nil }
      return ControlGroup(
        hierarchy: "/sys/fs/cgroup/memory",
        path: path,
        limitNames: ["memory.limit_in_bytes"]
      )
    }
  }
}
