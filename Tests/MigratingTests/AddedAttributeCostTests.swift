import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
@_spi(Testing) import TestSupport
import Testing

@testable import GraphContext

/// The cost of adding an attribute, in bytes: only the catalogue is written, whatever the number of objects.
struct AddedAttributeCostTests {
  private func schema(isLater: Bool) throws -> Schema {
    let added = [
      attribute("rating", .double, optional: true), attribute("plays", .int64, default: .int(0)),
    ]
    let properties = [attribute("title", .string), attribute("seconds", .int32)]
    return try Schema(entities: [
      entity("Song", properties + (isLater ? added : []), indexes: [IndexDescription(["seconds"])])
    ])
  }

  /// Returns the bytes that an opening with two additional attributes writes, for a store with `count` objects.
  private func cost(objects count: Int) throws -> (logged: UInt64, written: UInt64) {
    // The store writes nothing in the background some time after a commit.
    let store = try Store.open(
      file: SimulatedDisk(),
      path: "",
      options: .init(),
      environment: .simulated(seed: 1)
    )
    let before = try fill(store, count)
    try store.checkpoint()
    let start = try store.statistics
    let container = try open(store, isLater: true)
    let logged = try store.statistics.bytesLogged - start.bytesLogged
    try store.checkpoint()
    let written = try store.statistics.bytesWritten - start.bytesWritten
    let context = try container.context()
    #expect(try records(in: context) == before)
    #expect(try context.count(DynamicQuery("Song", where: PredicateTree(format: "plays == 0"))) == count)
    context.end()
    return (logged, written)
  }

  private func open(_ store: Store, isLater: Bool) throws -> PersistentContainer {
    let models = ContainerModels(classes: [], others: .schema(try schema(isLater: isLater)))
    return try PersistentContainer("Songs", models, on: store)
  }

  private func fill(_ store: Store, _ count: Int) throws -> UInt64 {
    let container = try open(store, isLater: false)
    let context = try container.context()
    defer { context.end() }
    for number in 0..<count {
      let song = try context.insert(entity: "Song")
      try song.set("title", to: "Song \(number)")
      try song.set("seconds", to: Int32(number % 600))
    }
    try context.save()
    return try records(in: context)
  }

  /// A hash of all records, byte for byte.
  private func records(in context: ManagedObjectContext) throws -> UInt64 {
    let view = try context.newestView()
    var cursor = try view.snapshot.tree("e/1").cursor()
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    while try cursor.next() {
      for byte in try cursor.value() { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
    return hash
  }

  @Test func anAttributeIsAddedForTheSameBytesToAnyNumberOfObjects() throws {
    let costs = try [1_000, 10_000, 40_000].map(cost)
    #expect(Set(costs.map(\.logged)).count == 1)
    // Includes the checkpoint, which also writes data that grows slowly with the file.
    #expect(costs.allSatisfy { $0.logged > 0 && $0.written <= 64 << 10 })
  }
}
