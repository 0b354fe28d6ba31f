import ArgumentParser
import Foundation
import GraphContext
import PageStore
import Predicates

/// A failure of the tool: a message and an exit status.
struct Failure: Error {
  /// The exit status, which a shell script sees.
  enum Status: Int32 {
    case success = 0
    /// The store or the system is at fault.
    case store = 1
    /// The command line is at fault.
    case use = 2
  }

  var status: Status
  /// Nothing is printed when it is empty.
  var message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  /// Classifies any error.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as QueryError: self.init(.use, "error: \(error)")
    case let error as StoreError:
      self.init(Self.wrongArguments.contains(error.code) ? .use : .store, EscapedText.line("error: \(error)"))
    case let error as ContextError: self.init(error)
    default: self.init(parsing: error)
    }
  }

  private init(_ error: ContextError) {
    if let cause = error.storeError {
      self.init(cause)
    } else if let mistake = error.queryError {
      self.init(mistake)
    } else {
      self.init(.store, EscapedText.line("error: \(error)"))
    }
  }

  /// A request for help is a success; all other errors of ArgumentParser are wrong use.
  private init(parsing error: any Error) {
    let isHelp = ToolCommand.exitCode(for: error) == .success
    self.init(isHelp ? .success : .use, ToolCommand.fullMessage(for: error))
  }

  /// A file that was never a store, or an invalid page size, is a wrong argument, not a damaged store.
  private static let wrongArguments: Set<StoreError.Code> = [.notAStore, .invalidOptions]

  /// Ends the process. Help goes to standard output, everything else to standard error.
  func exit() -> Never {
    if !message.isEmpty {
      let handle = status == .success ? FileHandle.standardOutput : FileHandle.standardError
      // If the output is closed, the message is lost, and the exit status still tells the outcome.
      try? handle.write(contentsOf: Data((EscapedText.lines(message) + "\n").utf8))
    }
    Foundation.exit(status.rawValue)
  }
}
