import ArgumentParser
import GraphContext
import PageStore
import Predicates

/// Breaks one contract of the library, which ends the program with a sentence. Scripts/check-contracts.sh runs each
/// case in a release build, and reads the sentence.
@main
struct ContractFailures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contract-failures",
    abstract:
      "Break one contract of the library; without a name, list all with the sentence that each must print."
  )

  @Argument(help: "Which contract to break.") var contract: Contract?

  func run() throws {
    guard let contract else {
      for contract in Contract.allCases { print("\(contract.rawValue)\t\(contract.sentence)") }
      return
    }
    try contract.fail()
    print("\(contract.rawValue): nothing happened")
  }
}

/// Contract violations that end the program, because the called functions don't throw.
enum Contract: String, CaseIterable, ExpressibleByArgument {
  case cacheThatIsNotLoaded = "cache-that-is-not-loaded"
  case positionBeforeTheFirstEntry = "position-before-the-first-entry"

  var sentence: String {
    switch self {
    case .cacheThatIsNotLoaded:
      "the state of an object says that a value is loaded, but the value is missing"
    case .positionBeforeTheFirstEntry: "a cursor has a position only at an entry"
    }
  }

  func fail() throws {
    switch self {
    case .cacheThatIsNotLoaded: print(Cached<Int>().value)
    case .positionBeforeTheFirstEntry:
      let store = try Store.inMemory()
      try store.write { transaction in try transaction.tree("t").put([1], [2]) }
      let cursor = try store.snapshot().tree("t").cursor()
      print(try cursor.position)
    }
  }
}
