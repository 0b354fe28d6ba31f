import Foundation
import TestSupport
import Testing

@testable import Predicates

/// Groups of rows by values of another object.
struct ReferencedGroupsTests {
  /// Persons of cities, whose names repeat.
  private struct People: SchemaProviding {
    static let city = entity(EntityID(0), "City", [("name", .string, nil), ("size", .int64, nil)])
    static let person = entity(EntityID(1), "Person", [("city", .reference, "City"), ("isTall", .bool, nil)])

    func entitySchema(named name: String) -> EntitySchema? { name == "City" ? Self.city : Self.person }
    func entitySchema(_ id: EntityID) -> EntitySchema { [Self.city, Self.person][id.ordinal] }

    private static func entity(
      _ id: EntityID,
      _ name: String,
      _ stored: [(name: String, kind: AttributeKind, destination: String?)]
    ) -> EntitySchema {
      let properties = stored.enumerated().map { slot, property in
        StoredProperty(
          name: property.name,
          slot: slot,
          kind: property.kind,
          isOptional: true,
          destination: property.destination
        )
      }
      return EntitySchema(id: id, name: name, stored: properties, toMany: [], indexes: [])
    }
  }

  /// The records of the cities. Counts how often a record is looked up.
  private final class Cities: RecordSource {
    private let records: [[UInt8]]
    private(set) var lookupCount = 0
    /// The records that were handed out, at stable addresses.
    private var copies: [UnsafeMutableRawBufferPointer] = []

    init(_ values: [[AttributeValue]]) {
      records = values.map { PlainRecord.bytes(of: $0, layout: People.city.layout) }
    }

    deinit { releaseRecords() }

    func record(_ number: ObjectNumber, at place: Int) -> UnsafeRawBufferPointer? {
      lookupCount += 1
      guard number.sequence <= records.count else { return nil }
      let record = records[Int(number.sequence) - 1]
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: record.count, alignment: 8)
      copy.copyBytes(from: record)
      copies.append(copy)
      return UnsafeRawBufferPointer(copy)
    }

    func externalValue(_ reference: ExternalReference, at slot: Int, of place: Int) throws -> Data {
      throw DamagedRecord(entity: "", number: .none)
    }

    func elements(of owner: ObjectNumber, in relationship: Int) -> [ObjectNumber] { [] }
    func elementCount(of owner: ObjectNumber, in relationship: Int) -> Int { 0 }

    func releaseRecords() {
      for copy in copies { copy.deallocate() }
      copies = []
    }
  }

  @Test(arguments: [
    ["city.name"], ["city.name", "city.size"], ["city", "city.name"], ["city.name", "isTall"],
  ])
  func rowsAreGroupedAsADictionaryGroupsThem(_ keys: [String]) throws {
    var random = SeededGenerator()
    let cities: [[AttributeValue]] = (0..<40).map { place in
      [random.chance(1, in: 8) ? .null : .string("city \(place % 7)"), .int(Int64(place % 3))]
    }
    let source = Cities(cities)
    let paths = PathResolver(entity: People.person, schema: People())
    var rows = RowPaths(People.person, in: People())
    let columns = try keys.map { try paths.resolve($0.split(separator: ".").map(String.init)).path }
    var aggregation = Aggregation([try ResolvedAggregate(.count, of: nil)], by: columns, &rows)
    var reader = RowReader(rows, source: source)
    var expected: [[AttributeValue]: Int64] = [:]

    for number in 1...2_000 {
      // One in twenty has no city, and one in twenty a city that is not there.
      let choice = random.number(in: 0...43)
      let city: AttributeValue = choice < 2 ? .null : .reference(ObjectNumber(rawValue: UInt64(choice - 1)))
      let isTall = AttributeValue.bool(random.chance(1, in: 2))
      let record = PlainRecord.bytes(of: [city, isTall], layout: People.person.layout)
      try record.withUnsafeBytes { bytes in
        try reader.begin(ObjectNumber(rawValue: UInt64(number)), bytes)
        try aggregation.add(&reader)
      }
      let home = (2..<42).contains(choice) ? cities[choice - 2] : [.null, .null]
      let values = ["city": city, "city.name": home[0], "city.size": home[1], "isTall": isTall]
      expected[keys.map { values[$0] ?? .null }, default: 0] += 1
    }

    var found: [[AttributeValue]: Int64] = [:]
    for row in (0..<aggregation.count).map(aggregation.row) {
      guard case .int(let count) = row[keys.count] else { continue }
      #expect(found.updateValue(count, forKey: Array(row.prefix(keys.count))) == nil)
    }
    #expect(found == expected)
    // The values behind the reference are read once for each city.
    if !keys.contains("isTall") { #expect(source.lookupCount <= 42) }
  }
}
