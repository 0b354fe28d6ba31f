import Glibc
import TestSupport

/// What the command line asks for.
struct Arguments {
  /// When to stop, in seconds from the start.
  var seconds = 60.0
  /// How many crash images are enough; the run ends at whatever comes first.
  var images = Int.max
  /// How many threads work at once.
  var workers = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  /// What every scenario's seed is made from.
  var seed = SeededGenerator.seedOfThisRun()
  /// The only scenario to run, by its own seed.
  var scenario: UInt64?
  /// A folder that gets a copy of each image that failed.
  var keptImages: String?
  /// Whether a cell of the table may stay empty: short runs don't reach them all.
  var allowsEmptyCells = false
  /// Whether nothing is done but to flip every bit of all headers of small files.
  var flipsEveryBit = false
  /// Whether the run ends at the first failure.
  var stopsAtFirstFailure = false

  static let usage = """
    usage: crash-rig [--seconds N] [--images N] [--workers N] [--seed N] [--scenario N]
                     [--keep FOLDER] [--allow-empty-cells] [--stop-at-first]
                     [--flips]
    """

  init(_ words: ArraySlice<String>) throws(UsageError) {
    var rest = words
    while let word = rest.popFirst() {
      switch word {
      case "--seconds": seconds = try Self.value(of: word, in: &rest)
      case "--images": images = try Self.value(of: word, in: &rest)
      case "--workers": workers = try Self.value(of: word, in: &rest)
      case "--seed": seed = try Self.value(of: word, in: &rest)
      case "--scenario": scenario = try Self.value(of: word, in: &rest) as UInt64
      case "--keep": keptImages = try Self.value(of: word, in: &rest) as String
      case "--allow-empty-cells": allowsEmptyCells = true
      case "--flips": flipsEveryBit = true
      case "--stop-at-first": stopsAtFirstFailure = true
      default: throw UsageError(message: "unknown argument \(word)")
      }
    }
    guard workers > 0, seconds > 0 else { throw UsageError(message: "nothing to do") }
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
