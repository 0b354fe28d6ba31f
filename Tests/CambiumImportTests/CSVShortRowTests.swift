import Cambium
import CambiumCSV
import CambiumImport
import Testing

@Model final class Ferry {
  var name: String
  var port: String
  var decks: Int?

  init(_ name: String, port: String) {
    self.name = name
    self.port = port
  }
}

/// Rows with fewer fields than there are columns.
struct CSVShortRowTests {
  private let text = "name,port,decks\nStar,Rostock,3\nPeter,Kiel\nAnna\nNils,Kiel,\n"

  private func input(_ shortRows: CSVShortRows) -> ImportInput<CSVRow> {
    let rest = Locked([Data(text.utf8)])
    return .csvRows(shortRows: shortRows) { rest.withLock { $0.popLast() } }
  }

  private var description: ObjectImport<CSVRow, Ferry> {
    var description = ObjectImport<CSVRow, Ferry>()
    description.insertObject = { row, context in
      let ferry = Ferry(row["name"] ?? "", port: row["port"] ?? "")
      context.insert(ferry)
      return ferry
    }
    return description
  }

  @Test func theReportNamesPaddedRows() async throws {
    let container = try await PersistentContainer("Ferries", models: Ferry.self, at: .inMemory)
    let report = try await container.importRecords(input(.padded), with: description)
    #expect(report.recordCount == 4 && report.paddedCount == 2)
    // The third row is shorter still, and the fourth has all its fields.
    #expect(report.firstPadded?.record == 2 && report.firstPadded?.missingColumns == ["decks"])
    let ports = try await container.query { try $0.fetch(From<Ferry>().orderBy(\.name)).map(\.port) }
    #expect(ports == ["", "Kiel", "Kiel", "Rostock"])
  }

  @Test func shortRowsAreRefusedOnDemand() async throws {
    let container = try await PersistentContainer("Ferries", models: Ferry.self, at: .inMemory)
    let error = await #expect(throws: ImportError.self) {
      try await container.importRecords(input(.refused), with: description)
    }
    #expect(error?.code == .malformedRecord && error?.record == 2)
    #expect(error?.message.contains("2 of 3 fields") == true && error?.message.contains("decks") == true)
    #expect(try await container.query { try $0.count(From<Ferry>()) } == 0)
  }

  @Test func nothingIsReadAfterARefusedRow() throws {
    let next = try input(.refused).makeReader()
    #expect(try next()?.fields == ["Star", "Rostock", "3"])
    for row in ["short", "later"] {
      let error = #expect(throws: ImportError.self) { try next() }
      #expect(error?.record == 2, "\(row)")
    }
  }
}
