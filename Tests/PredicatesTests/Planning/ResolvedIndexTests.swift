import Predicates
import Testing

/// Indexes after their properties were found in the schema.
struct ResolvedIndexTests {
  private static let book = EntityID(3)
  private static let stored = [
    StoredProperty(name: "title", slot: 0, kind: .string, isOptional: false),
    StoredProperty(name: "author", slot: 1, kind: .reference, isOptional: true, destination: "Author"),
    StoredProperty(name: "year", slot: 2, kind: .int16, isOptional: false),
    StoredProperty(name: "series", slot: 3, kind: .reference, isOptional: true, destination: "Series"),
  ]
  private static let schema = EntitySchema(
    id: book,
    name: "Book",
    stored: stored,
    toMany: [
      ToManyProperty(name: "readers", destination: "Person", inverse: "books"),
      ToManyProperty(name: "copies", destination: "Copy", inverse: "book"),
    ],
    indexes: [
      ResolvedIndex(
        IndexID(book, 0),
        named: "year,title[c]",
        over: [2, 0],
        of: stored,
        isUnique: true,
        folding: .caseInsensitive
      ),
      ResolvedIndex(IndexID(book, 1), named: "author", over: [1], of: stored, isUnique: false),
    ]
  )

  @Test func declaredIndexesComeBeforeThoseOfRelationships() {
    let indexes = Self.schema.indexes
    #expect(indexes.map(\.id) == (0..<4).map { IndexID(Self.book, $0) })
    #expect(indexes.map(\.name) == ["year,title[c]", "author", "author", "series"])
    #expect(indexes.map(\.origin) == [.declared, .declared, .relationship, .relationship])
    #expect(indexes.map(\.slots) == [[2, 0], [1], [1], [3]])
    #expect(indexes.map(\.slotMask) == [0b101, 0b10, 0b10, 0b1000])
    #expect(indexes.map(\.isUnique) == [true, false, false, false])
    #expect(Self.schema.declaredIndexes == Array(indexes.prefix(2)))
  }

  @Test func stringsAloneAreFolded() {
    let folded = Self.schema.indexes[0]
    #expect(folded.columns == [.init(slot: 2), .init(slot: 0, folding: .caseInsensitive)])
    #expect(Self.schema.indexes.map(\.isFolded) == [true, false, false, false])
  }

  @Test func propertiesAreFoundByName() {
    #expect(Self.stored.allSatisfy { Self.schema.storedProperty(named: $0.name) == $0 })
    #expect(Self.schema.storedProperty(named: "copies") == nil)
    #expect(Self.schema.toManyOrdinal(named: "readers") == 0)
    #expect(Self.schema.toManyOrdinal(named: "copies") == 1)
    #expect(Self.schema.toManyOrdinal(named: "title") == nil)
  }
}
