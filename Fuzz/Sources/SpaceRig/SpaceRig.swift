import ArgumentParser
import Glibc
import PageStore
@_spi(Testing) import TestSupport

/// Changes stores on the real disk at full size, and reports whether file and memory stayed within their bounds.
@main
struct SpaceRig: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "space-rig",
    abstract:
      "Change stores on the real disk at full size, and say whether file and memory stayed within their bounds."
  )

  @OptionGroup var arguments: Arguments

  func run() throws {
    if !(try Self.run(arguments)) { throw ExitCode.failure }
  }

  /// True if every bound was kept.
  private static func run(_ arguments: Arguments) throws -> Bool {
    print(
      "space-rig: --seed \(arguments.seed), \(arguments.entryCount) entries, \(arguments.updateCount) updates"
    )
    var boundCount = 0
    var exceededCount = 0
    for trial in Trial.allCases where arguments.only == nil || arguments.only == trial {
      let start = ContinuousClock.now
      let figures = try trial.run(arguments)
      print("\(trial.rawValue) (\((ContinuousClock.now - start).components.seconds) s)")
      for figure in figures {
        print("  \(figure)")
        boundCount += figure.bound == nil ? 0 : 1
        exceededCount += figure.isExceeded ? 1 : 0
      }
    }
    print("space: \(boundCount) bounds, \(exceededCount) exceeded")
    return exceededCount == 0
  }
}

/// The kinds of changes of a store.
enum Trial: String, CaseIterable {
  case oneRow = "one-row"
  case oneReader = "one-reader"
  case staggeredReaders = "staggered-readers"
  case oneTransaction = "one-transaction"
  case randomDeletion = "random-deletion"
  case rangeDeletion = "range-deletion"

  func run(_ arguments: Arguments) throws -> [Figure] {
    switch self {
    case .oneRow: try OneRowTrial.run(arguments)
    case .oneReader: try OneReaderTrial.run(arguments)
    case .staggeredReaders: try StaggeredReadersTrial.run(arguments)
    case .oneTransaction: try OneTransactionTrial.run(arguments)
    case .randomDeletion: try DeletionTrial.run(arguments, isRandom: true)
    case .rangeDeletion: try DeletionTrial.run(arguments, isRandom: false)
    }
  }
}
