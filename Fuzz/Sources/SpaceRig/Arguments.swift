import TestSupport

/// What the command line asks for.
struct Arguments {
  var updateCount = 1_000_000
  var entryCount = 200_000
  /// The only trial to run.
  var only: String?
  /// Where the stores are made: a folder of the disk in question. The system's temporary folder may be memory.
  var folder = "."
  var seed = SeededGenerator.seedOfThisRun()

  static let usage = """
    usage: space-rig [--updates N] [--entries N] [--only TRIAL] [--folder FOLDER] [--seed N]
    trials: \(Trial.allCases.map(\.rawValue).joined(separator: ", "))
    """

  init(_ words: ArraySlice<String>) throws(UsageError) {
    var rest = words
    while let word = rest.popFirst() {
      switch word {
      case "--updates": updateCount = try Self.value(of: word, in: &rest)
      case "--entries": entryCount = try Self.value(of: word, in: &rest)
      case "--only": only = try Self.value(of: word, in: &rest) as String
      case "--folder": folder = try Self.value(of: word, in: &rest)
      case "--seed": seed = try Self.value(of: word, in: &rest)
      default: throw UsageError(message: "unknown argument \(word)")
      }
    }
    guard updateCount >= 10_000, entryCount >= 10_000 else {
      throw UsageError(message: "fewer than 10,000 updates or entries say nothing")
    }
    if let only, Trial(rawValue: only) == nil { throw UsageError(message: "no trial is called \(only)") }
  }

  private static func value<Value: LosslessStringConvertible>(
    of word: String,
    in rest: inout ArraySlice<String>
  ) throws(UsageError) -> Value {
    guard let text = rest.popFirst(), let value = Value(text) else {
      throw UsageError(message: "\(word) wants a value")
    }
    return value
  }
}

struct UsageError: Error {
  var message: String
}
