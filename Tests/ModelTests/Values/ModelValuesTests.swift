import Cambium
import Foundation
import Testing

@MainActor struct ModelValuesTests {
  private func container() async throws -> PersistentContainer {
    try await PersistentContainer(
      "Values",
      models: Piece.self,
      Volume.self,
      Composer.self,
      Chart.self,
      Table.self,
      OpenModel.self,
      Note.self,
      at: .inMemory
    )
  }

  /// A stored piece whose properties all have values that a coder could lose.
  private func piece(in context: ManagedObjectContext) throws -> Piece {
    let piece = Piece("Blue “Room”\n", by: Composer("Evans"), seconds: .max)
    (piece.ratio, piece.loudness, piece.price) = (
      -.infinity, .nan, Decimal(string: "1234567890.12345678901234567890")!
    )
    (piece.added, piece.web) = (
      Date(timeIntervalSinceReferenceDate: 1.0 / 3), URL(string: "https://a.b/c?d=e")
    )
    (piece.hash, piece.mood) = (Data([0, 255, 7]), .loud)
    piece.opening = Opening(days: [1, 5], note: nil)
    (piece.tags, piece.marks, piece.moods) = (["a", "\u{e9}", ""], [3, -9], [.loud, .calm])
    piece.times = [Date(timeIntervalSinceReferenceDate: 0.1), .distantFuture]
    (piece.class, piece.cover) = (true, Data(repeating: 9, count: 300_000))
    piece.collection = Volume("Trio")
    context.insert(piece)
    try context.save()
    return piece
  }

  @Test func valuesAreThoseOfTheObject() async throws {
    let container = try await container()
    let context = container.viewContext
    let piece = try piece(in: context)
    let values = piece.values
    #expect(values.objectID == piece.objectID)
    #expect((values.title, values.seconds, values.class) == (piece.title, piece.seconds, true))
    #expect((values.collection, values.composer) == (piece.collection?.objectID, piece.composer.objectID))
    #expect((values.previous, values.token) == (nil, piece.token))
    #expect((values.tags, values.marks, values.opening) == (piece.tags, piece.marks, piece.opening))
    #expect(values == Piece.Values(piece) && Set([values, piece.values]).count == 1)
  }

  /// To-many relationships are no part of values: a query for the ID finds the members, also from another task.
  @Test func membersAreFoundByTheIDOfTheirValues() async throws {
    let container = try await container()
    let context = container.viewContext
    let composer = Composer("Evans")
    context.insert(composer)
    context.insert(Piece("Waltz", by: composer))
    context.insert(Piece("Other", by: Composer("Monk")))
    try context.save()
    let id = try #require(composer.values.objectID)
    let titles = try await container.query { context in
      try context.fetch(From<Piece>().where { $0.composer == id }).map(\.title)
    }
    #expect(titles == ["Waltz"])
  }

  @Test func aNewObjectsValuesLeadToWhatIsInNoContext() {
    let composer = Composer("Evans")
    let values = Piece("Waltz", by: composer).values
    #expect(values.objectID == nil && values.collection == nil)
    #expect(values.composer == composer.objectID && values.composer.isProvisional)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(values) }
  }

  @Test func valuesAreFetchedWithUnsavedChanges() async throws {
    let container = try await container()
    let context = container.viewContext
    let composer = Composer("Evans")
    context.insert(composer)
    let pieces = (0..<20).map { Piece("\($0)", by: composer, seconds: $0) }
    pieces.forEach(context.insert)
    try context.save()
    pieces[3].seconds = 30
    context.delete(pieces[4])
    let new = Piece("new", by: composer, seconds: 40)
    context.insert(new)
    let request = From<Piece>().where { $0.seconds > 2 }.orderBy(.descending(\.seconds))
    let values = try context.fetch(request.values())
    #expect(values == (try context.fetch(request).map(\.values)))
    #expect(values.first?.objectID == new.objectID && values[1].objectID == pieces[3].objectID)
    #expect(try context.fetch(request.offset(1).limit(2).values()) == Array(values[1...2]))
    var seen: [Piece.Values] = []
    try context.forEach(request.values()) { seen.append($0) }
    #expect(seen == values)
  }

  @Test func valuesAreReadBackFromJSON() async throws {
    let container = try await container()
    let context = container.viewContext
    let values = try piece(in: context).values
    let json = try JSONEncoder().encode(values)
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    #expect(object["title"] as? String == values.title && object["mood"] as? String == "loud")
    #expect(object["tags"] as? [String] == values.tags && object["ratio"] as? String == "-Infinity")
    #expect(object["previous"] == nil && object["cover"] == nil && object["isSelected"] == nil)
    #expect((object["opening"] as? [String: Any])?["days"] != nil)
    #expect(object["objectID"] as? String == values.objectID?.uriRepresentation)
    #expect(try JSONDecoder().decode(Piece.Values.self, from: json) == values)
    let list = try PropertyListEncoder().encode(values)
    #expect(try PropertyListDecoder().decode(Piece.Values.self, from: list) == values)
  }

  @Test func whatIsMissingOrWrongInJSONIsSaid() throws {
    func decode(_ json: String) throws -> Composer.Values {
      try JSONDecoder().decode(Composer.Values.self, from: Data(json.utf8))
    }
    #expect(try decode(#"{"name": "A", "works": 2, "secret": 0}"#).works == 2)
    #expect(throws: DecodingError.self) { try decode(#"{"works": 2, "secret": 0}"#) }
    #expect(throws: DecodingError.self) { try decode(#"{"name": null, "works": 2, "secret": 0}"#) }
    #expect(throws: DecodingError.self) { try decode(#"{"name": "A", "works": "2", "secret": 0}"#) }
    #expect(throws: DecodingError.self) { try decode(#"{"name": "A", "works": 2, "secret": 7}"#) }
  }

  @Test func equalityHasTheIDAndDifferencesDoNot() async throws {
    let container = try await container()
    let context = container.viewContext
    let (first, second) = (Composer("Evans"), Composer("Evans"))
    [first, second].forEach(context.insert)
    try context.save()
    #expect(first.values != second.values && first.values.differences(from: second.values).isEmpty)
    second.name = "Tyner"
    #expect(first.values.differences(from: second.values) == ["name"])
  }

  @Test func onlyWhatDiffersIsSet() async throws {
    let container = try await container()
    let context = container.viewContext
    let piece = try piece(in: context)
    var values = piece.values
    try piece.apply(values)
    #expect(!piece.hasChanges)
    (values.title, values.ratio, values.collection) = ("Green", nil, nil)
    try context.apply(values)
    #expect((piece.title, piece.ratio) == ("Green", nil) && piece.collection == nil)
    #expect(Set(piece.changedValues.keys) == ["title", "ratio", "collection"])
    try context.save()
    #expect(piece.values == values && piece.cover?.count == 300_000)
  }

  @Test func whatWasNotEditedKeepsItsNewerValue() async throws {
    let container = try await container()
    let context = container.viewContext
    let piece = try piece(in: context)
    let base = piece.values
    piece.title = "Newer"
    piece.seconds = 5
    var edited = base
    (edited.seconds, edited.mood) = (6, .calm)
    try context.apply(edited, since: base)
    #expect((piece.title, piece.seconds, piece.mood) == ("Newer", 6, .calm))
    try context.apply(edited)
    #expect(piece.title == base.title)
  }

  @Test func relationshipsFollowIDs() async throws {
    let container = try await container()
    let context = container.viewContext
    let piece = try piece(in: context)
    let other = Volume("Solo")
    context.insert(other)
    var values = piece.values
    values.collection = other.objectID
    try piece.apply(values)
    #expect(piece.collection === other && other.pieces == [piece])
    values.collection = piece.composer.objectID
    #expect(throws: ContextError.self) { try piece.apply(values) }
    values.title = "Unset"
    values.collection = Volume("none").objectID
    #expect { try piece.apply(values) } throws: { ($0 as? ContextError)?.code == .provisionalID }
    #expect(piece.collection === other && piece.title != "Unset")
    try context.save()
    context.delete(other)
    try context.save()
    values.collection = other.objectID
    #expect { try context.apply(values) } throws: { ($0 as? ContextError)?.code == .objectNotFound }
  }

  @Test func valuesAreInserted() async throws {
    let container = try await container()
    let context = container.viewContext
    let piece = try piece(in: context)
    let values = piece.values
    let copy = try context.insert(values)
    #expect(copy.objectID != piece.objectID && copy.isInserted && copy.cover == nil)
    #expect(copy.values.differences(from: values).isEmpty)
    #expect(copy.collection === piece.collection && piece.collection?.pieces == [piece, copy])
    try context.save()
    let other = try #require(
      try context.fetch(From<Piece>().where { $0.objectID == copy.objectID }.values()).first
    )
    #expect(other.differences(from: values).isEmpty)
  }

  @Test func valuesAreMadeFromTheirProperties() async throws {
    let container = try await container()
    let context = container.viewContext
    let composer = try context.insert(Composer.Values(name: "Evans"))
    let piece = try context.insert(
      Piece.Values(title: "Waltz", seconds: 5, code: UUID(), tags: ["a"], composer: composer.objectID)
    )
    #expect((piece.title, piece.small, piece.large, piece.mood) == ("Waltz", -3, .max, .calm))
    try context.save()
    #expect(composer.counted().differences(from: composer.values) == ["works"])
    composer.hide()
    #expect(Composer.Values(composer).differences(from: Composer.Values(name: "Evans")) == ["secret"])
    try composer.apply(Composer.Values(name: "Evans"))
    #expect(!composer.isHidden)
    let table = try context.insert(Table.Values(id: UUID(), values: [1]))
    #expect(table.values == [1] && Table.Values(table).values == [1])
    #expect(Chart.Values(count: 3).count == 3)
  }

  @Test func manyAreInsertedWithoutObjects() async throws {
    let container = try await container()
    let all = (0..<1000).map { Composer.Values(name: "\($0)") }
    let ids = try await container.batchInsert(all, chunkSize: 300)
    try container.waitForViewContext()
    let stored = try container.viewContext.fetch(From<Composer>().values())
    #expect(stored.compactMap(\.objectID) == ids)
    #expect(zip(stored, all).allSatisfy { $0.differences(from: $1).isEmpty })
  }

  @Test func valuesCrossActors() async throws {
    let container = try await container()
    let context = container.viewContext
    context.insert(Composer("Evans"))
    try context.save()
    let values = try context.fetch(From<Composer>().values())
    let names = await Task.detached { values.map(\.name) }.value
    #expect(names == ["Evans"])
    try await container.performBackgroundTask { context in
      var edited = values[0]
      edited.name = "Tyner"
      try context.apply(edited, since: values[0])
      try context.save()
    }
    try container.waitForViewContext()
    #expect(try context.fetch(From<Composer>().select(\.name)) == ["Tyner"])
  }

  @Test func aModelByHandHasValues() async throws {
    let container = try await container()
    let context = container.viewContext
    let note = try context.insert(Note.Values(text: "a"))
    try context.save()
    var values = try context.fetch(From<Note>().values())
    #expect(values == [note.values] && values[0].text == "a")
    values[0].text = "b"
    try context.apply(values[0])
    #expect(note.text == "b")
    #expect(try JSONDecoder().decode(Note.Values.self, from: JSONEncoder().encode(values[0])) == values[0])
  }

  /// Properties that are less visible than the initialiser begin with their declared values, and are copied nevertheless.
  @Test func whatCannotBeSeenIsKept() async throws {
    let container = try await container()
    let context = container.viewContext
    let model = try context.insert(OpenModel.Values(name: "a", internalValue: 1))
    #expect(model.hidden.rawValue == 3)
    model.hidden = Hidden(rawValue: 4)
    let copy = try context.insert(model.values)
    #expect(copy.hidden.rawValue == 4)
  }
}
