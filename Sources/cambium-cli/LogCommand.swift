import ArgumentParser
import Foundation
import PageStore
import Predicates

/// `cambium log STORE`: the records of the log.
struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Lists the records of the log.",
    discussion: """
      Shows every whole record in the file, without recovering the store: also those that are no longer \
      needed after a checkpoint and that nothing has overwritten yet.
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(help: "Shows only this many records, the last ones.")
  var last: Int?

  @Flag(help: "Shows what each transaction changed, key by key.")
  var operations = false

  @Flag(help: "Prints JSON.")
  var json = false

  func validate() throws {
    guard last ?? 0 >= 0 else { throw ValidationError("--last must not be negative") }
  }

  func run() throws {
    var records = try FileInspector(path: store.path()).logRecords()
    if let last { records = records.suffix(last) }
    if json { return try JSONText.print(records) }
    if operations {
      records.forEach(printOperations)
    } else {
      printTable(records)
    }
  }

  private func printTable(_ records: [LogRecordSummary]) {
    var table = Table(["record", "kind", "commit", "time", "durability", "bytes", "durable", "content"])
    for record in records {
      table.add([
        .number(record.sequence), .init(record.kind), .number(record.commit == 0 ? nil : record.commit),
        .init(time(record)), .init(record.durability), .number(record.byteCount),
        .number(record.durableSequence),
        .init(content(record)),
      ])
    }
    table.finish()
  }

  private func printOperations(_ record: LogRecordSummary) {
    StandardOutput.print(
      "\(record.sequence) \(record.kind)" + (record.commit == 0 ? "" : ", commit \(record.commit)")
    )
    for operation in record.operations {
      var words = ["  \(operation.kind)"]
      if let tree = operation.treeID { words.append("[\(tree)]") }
      if let key = operation.key { words.append(KeyText.text(key)) }
      if let count = operation.valueByteCount { words.append("\(count) bytes") }
      StandardOutput.print(words.joined(separator: " "))
    }
  }

  private func time(_ record: LogRecordSummary) -> String {
    guard record.timestamp != 0 else { return "" }
    return ValueText.table(.date(Date(timeIntervalSince1970: Double(record.timestamp) / 1_000)))
  }

  private func content(_ record: LogRecordSummary) -> String {
    if let replay = record.replaySequence { return "replay from \(replay)" }
    let counts = Dictionary(grouping: record.operations, by: \.kind).mapValues(\.count)
    return counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}
