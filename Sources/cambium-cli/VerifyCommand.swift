import ArgumentParser
import Foundation
import GraphContext
import PageStore

/// `cambium verify STORE`: reads everything and recounts it.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Reads everything in the store, checks it and recounts it.",
    discussion: """
      Prints every problem on standard error, one a line, and ends with status 1 if there is any. Damage of \
      one of two copies is a warning, which doesn't change the status.
      """
  )

  @OptionGroup var store: StoreArgument

  func run() throws {
    let path = try store.path()
    let store = try Store.open(at: path, options: .readOnly)
    let snapshot = try store.snapshot()
    let found = try store.verifyObjects(includingWarnings: true)
    for warning in found where warning.isWarning {
      StandardOutput.printError("warning: \(warning)")
    }
    let problems = found.filter { !$0.isWarning }
    guard problems.isEmpty else {
      let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
      throw Failure(
        .store,
        problems.map { EscapedText.line("\($0)") + "\n" }.joined() + "error: \(path) has \(count)"
      )
    }
    let treeNames = try snapshot.treeNames
    let entryCount = try treeNames.reduce(0) { try $0 + snapshot.tree($1).count }
    StandardOutput.print("\(path): \(treeNames.count) trees, \(entryCount) entries, everything is in order")
  }
}
