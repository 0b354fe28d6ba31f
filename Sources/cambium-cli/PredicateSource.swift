import ArgumentParser
import Foundation
import Predicates

/// The source of a query's predicate: the command line, a file, or standard input.
struct PredicateSource: ParsableArguments {
  @Argument(help: "The condition that the objects meet; all objects, if it is left out.")
  var predicate: String?

  @Option(
    name: .customLong("predicate-file"),
    help: ArgumentHelp("Reads the predicate from a file, or with - from standard input.", valueName: "path")
  )
  var file: String?

  func validate() throws {
    if predicate != nil, file != nil {
      throw ValidationError("the predicate is given twice: as an argument and by --predicate-file")
    }
  }

  /// The predicate; everything if there is none.
  ///
  /// - Throws: `QueryError` with the column, or a failure when the file can't be read.
  func tree() throws -> PredicateTree {
    guard let text = try predicate ?? text() else { return .constant(true) }
    return try PredicateTree(format: text)
  }

  private func text() throws -> String? {
    guard let file else { return nil }
    let data: Data?
    if file == "-" {
      data = try FileHandle.standardInput.readToEnd() ?? Data()
    } else {
      data = FileManager.default.contents(atPath: file)
    }
    guard let data else { throw Failure(.use, "error: \(file) can't be read") }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw Failure(.use, "error: \(file) is no text in UTF-8")
    }
    return text
  }
}
