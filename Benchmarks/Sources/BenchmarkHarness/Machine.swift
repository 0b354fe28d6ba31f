import Foundation

/// The machine on which the figures were taken.
package struct Machine: Codable, CustomStringConvertible, Sendable {
  package var processor: String
  package var processors: Int
  package var memoryBytes: UInt64
  package var kernel: String
  package var system: String
  /// The file system that the stores lie on, with its options.
  package var fileSystem: String

  /// Threads that were running or ready to run, on average over the last quarter of an hour. More of them than
  /// processors means that other programs made everything here slower.
  package var load: Double

  /// Reads the properties of this machine, and of the file system of `folder`.
  package init(folder: String) {
    let model = Self.lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
    processor = model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown processor"
    processors = ProcessInfo.processInfo.processorCount
    memoryBytes = ProcessInfo.processInfo.physicalMemory
    kernel = Self.lines(of: "/proc/sys/kernel/osrelease").first.map(String.init) ?? "unknown"
    system = ProcessInfo.processInfo.operatingSystemVersionString
    fileSystem = Self.fileSystem(of: folder)
    let loads = Self.lines(of: "/proc/loadavg").first?.split(separator: " ") ?? []
    load = loads.count > 2 ? Double(loads[2]) ?? 0 : 0
  }

  package var description: String {
    "\(processor), \(processors) cores, \(memoryBytes >> 30) GiB; \(system), Linux \(kernel); \(fileSystem)"
  }

  /// The same for the head of a report.
  package func introduction(on date: Date) -> [String] {
    [
      "- \(date.formatted(.iso8601.year().month().day())), \(description)",
      "- Load average of the quarter of an hour before the end: \(Figures.threeDigits(load)). The benchmark keeps "
        + "about one processor busy; the rest is others', and slows down small synced commits most of all.",
    ]
  }

  /// The mount whose folder is the longest one above `folder`.
  private static func fileSystem(of folder: String) -> String {
    let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path + "/"
    let mounts = lines(of: "/proc/self/mounts").map { $0.split(separator: " ") }.filter { $0.count >= 4 }
    let above = mounts.filter { mount in
      mount[1] == "/" || path.hasPrefix(mount[1] + "/")
    }
    guard let mount = above.max(by: { $0[1].count < $1[1].count }) else { return "unknown file system" }
    return "\(mount[2]) (\(mount[3]))"
  }

  private static func lines(of file: String) -> [Substring] {
    ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n")
  }
}
