import ArgumentParser
import GraphContext

/// `cambium schema history STORE`: every layout that records of the store have or had.
struct SchemaHistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Shows the numbers of entities and properties, and every layout that records have or had.",
    discussion: """
      A record keeps the layout that it was stored with. A line for each field has the property's number, its present name, and its kind in \
      that layout; a property without a name was removed.

      With --count every record of an entity with several layouts is read.
      """
  )

  @OptionGroup var store: StoreArgument

  @Flag(help: "Counts the records of each layout. Takes time in proportion to the records.")
  var count = false

  @Flag(help: "Prints JSON.")
  var json = false

  func run() throws {
    let catalogue = try Catalogue(path: store.path())
    let history = try SchemaHistory(catalogue.catalogued, in: catalogue.snapshot, countsRecords: count)
    if json { return try JSONText.print(history) }
    for entity in history.entities { Self.print(entity) }
  }

  private static func print(_ entity: SchemaHistory.Entity) {
    StandardOutput.print("\(entity.name), number \(entity.number)")
    for layout in entity.layouts {
      let count = layout.recordCount.map { ": \($0) \($0 == 1 ? "record" : "records")" } ?? ""
      StandardOutput.print("  layout \(layout.number)\(count)")
      for field in layout.fields {
        let nilText = field.nilValue.map { ", nil is read as \(ValueText.table($0))" } ?? ""
        StandardOutput.print("    \(field.property) \(field.name ?? "(removed)"): \(field.kind)\(nilText)")
      }
    }
  }
}
