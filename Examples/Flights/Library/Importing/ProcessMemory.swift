import Foundation

/// The kernel's figures of this process's memory.
enum ProcessMemory {
  /// The most bytes that were ever resident at once; 0 where there is no `/proc`.
  static var peakByteCount: Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    return (kibibytes ?? 0) << 10
  }
}
