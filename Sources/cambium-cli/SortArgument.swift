import ArgumentParser

/// `arrDelay`, `arrDelay:asc`, `origin.name:desc`.
struct SortArgument: ExpressibleByArgument {
  var keyPath: String
  var isAscending: Bool

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, !parts[0].isEmpty else { return nil }
    keyPath = String(parts[0])
    switch parts.count == 2 ? parts[1] : "asc" {
    case "asc": isAscending = true
    case "desc": isAscending = false
    default: return nil
    }
  }
}
