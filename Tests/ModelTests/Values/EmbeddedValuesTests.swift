import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Values have embedded values as properties, and treat their parts as the store does.
struct EmbeddedValuesTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let concert: Concert

  init() async throws {
    container = try await PersistentContainer("Concerts", models: Concert.self, Composer.self, at: .inMemory)
    context = try container.context()
    concert = Concert("Spring", in: Hall(name: "Large", seats: 900))
    context.insert(concert)
    try context.save()
  }

  private static let cellar = Hall(name: "Cellar", seats: nil, mood: .calm, doors: [])

  @Test func valuesHaveThem() throws {
    defer { context.end() }
    concert.second = Self.cellar
    let values = concert.values
    #expect(values.hall == Hall(name: "Large", seats: 900) && values.second == Self.cellar)
    #expect(values.third == Hall(name: "Attic"))
    let fetched = try context.fetch(From<Concert>().values())
    #expect(fetched == [values])
    concert.second = nil
    #expect(concert.values.second == nil)
    try context.save()
    let saved = try context.fetch(From<Concert>().values())
    #expect(saved.map(\.second) == [nil] && saved.map(\.hall) == [concert.hall])
  }

  @Test func differencesNameParts() {
    defer { context.end() }
    var values = concert.values
    values.hall.name = "Small"
    values.hall.doors = [3]
    #expect(values.differences(from: concert.values) == ["hall.name", "hall.doors"])
    #expect(values != concert.values && values.hashValue != concert.values.hashValue)
    values = concert.values
    values.second = Hall(name: "Cellar")
    let names = ["second", "second.name", "second.mood", "second.doors"]
    #expect(values.differences(from: concert.values) == names)
  }

  @Test func jsonHasThemAsObjects() throws {
    defer { context.end() }
    concert.hall.seats = nil
    concert.second = Self.cellar
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var values = concert.values
    values.objectID = nil
    let json = String(decoding: try encoder.encode(values), as: UTF8.self)
    #expect(
      json
        == #"{"hall":{"doors":[1],"mood":"loud","name":"Large"},"second":{"doors":[],"mood":"calm","name":"Cellar"},"third":{"doors":[1],"mood":"loud","name":"Attic"},"title":"Spring"}"#
    )
    for second in [Self.cellar, nil] {
      values.second = second
      let read = try JSONDecoder().decode(Concert.Values.self, from: try encoder.encode(values))
      #expect(read == values)
    }
  }

  @Test func whatIsMissingInJSONIsSaid() {
    defer { context.end() }
    func error(_ json: String) -> DecodingError? {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(Concert.Values.self, from: Data(json.utf8))
      }
    }
    func key(_ json: String) -> String? {
      guard case .keyNotFound(let key, _)? = error(json) else { return nil }
      return key.stringValue
    }
    #expect(key(#"{"title":"A"}"#) == "hall")
    #expect(key(#"{"title":"A","hall":{"seats":1,"mood":"calm","doors":[]}}"#) == "name")
    let hall = #"{"name":"B","mood":"calm","doors":[]}"#
    #expect(key(#"{"title":"A","hall":\#(hall),"second":{"name":"C","mood":"calm"}}"#) == "doors")
    #expect(error(#"{"title":"A","hall":\#(hall),"second":7}"#) != nil)
  }

  @Test func onlyPartsThatDifferAreSet() throws {
    defer { context.end() }
    var values = concert.values
    values.hall.seats = 800
    try concert.apply(values)
    #expect(Set(concert.changedValues.keys) == ["hall.seats"])
    values.second = Self.cellar
    try concert.apply(values)
    #expect(concert.second == Self.cellar && concert.hall.seats == 800)
    try context.save()
    values.second = nil
    try concert.apply(values)
    #expect(concert.second == nil)
    try context.save()
    #expect(try container.verify().map(\.description) == [])
  }

  @Test func whatWasNotEditedKeepsItsNewerValue() throws {
    defer { context.end() }
    concert.second = Self.cellar
    try context.save()
    let base = concert.values
    var edited = base
    edited.hall.seats = 1
    edited.second?.seats = 2
    concert.hall.name = "Larger"
    concert.second?.mood = .loud
    try concert.apply(edited, since: base)
    #expect(concert.hall.name == "Larger" && concert.hall.seats == 1)
    #expect(concert.second?.mood == .loud && concert.second?.seats == 2)
    // A part of an embedded value that is nil by now isn't set.
    concert.second = nil
    try concert.apply(edited, since: base)
    #expect(concert.second == nil)
    var removed = base
    removed.second = nil
    concert.second = Hall(name: "New")
    try concert.apply(removed, since: base)
    #expect(concert.second == nil)
    // An embedded value that was nil before is set as a whole.
    try concert.apply(base, since: removed)
    #expect(concert.second == Self.cellar)
    try context.save()
    #expect(try container.verify().map(\.description) == [])
  }

  @Test func aValueThatWasMadeReplacesAnotherWhole() throws {
    defer { context.end() }
    let base = concert.values
    var edited = base
    edited.second = Self.cellar
    concert.second = Hall(name: "New", seats: 5)
    try concert.apply(edited, since: base)
    #expect(concert.second == Self.cellar)
  }

  @Test func valuesAreInserted() async throws {
    let values = [
      Concert.Values(hall: Self.cellar, title: "A"),
      Concert.Values(hall: Hall(name: "B"), title: "B", second: Self.cellar),
    ]
    let inserted = try values.map { try context.insert($0) }
    #expect(inserted.map(\.hall) == values.map(\.hall) && inserted.map(\.second) == values.map(\.second))
    try context.save()
    let numbers = inserted.map(\.objectID)
    let ids = try await container.batchInsert(values)
    try context.refresh()
    let stored = try context.fetch(From<Concert>().where { $0.title != "Spring" }.values())
    #expect(stored.count == 4 && stored.map(\.objectID) == (numbers + ids).map(Optional.some))
    for (one, other) in zip(stored, values + values) { #expect(one.differences(from: other) == []) }
    #expect(try await container.verify().map(\.description) == [])
    context.end()
  }

  // MARK: Whole values in children and groups

  @Test(arguments: [false, true]) func aChildsPartOfNilIsNotKept(isSavedBefore: Bool) throws {
    defer { context.end() }
    concert.second = Self.cellar
    try context.save()
    let child = context.makeChild()
    let copy = try child.existingObject(Concert.self, with: concert.objectID)
    copy.second?.seats = 2
    concert.second = nil
    if isSavedBefore { try context.save() }
    try child.save()
    try context.save()
    #expect(concert.second == nil && copy.second == nil)
    #expect(try container.verify().map(\.description) == [])
  }

  @Test func undoTakesAValueBackWhole() throws {
    defer { context.end() }
    let manager = ContextUndoManager()
    context.undoManager = manager
    manager.beginUndoGrouping()
    concert.second = Hall(name: "A")
    try context.save()
    manager.endUndoGrouping()
    let other = try container.context()
    defer { other.end() }
    try other.existingObject(Concert.self, with: concert.objectID).second?.seats = 9
    try other.save()
    try context.refresh()
    #expect(context.undo() && concert.second == nil)
    try context.save()
    #expect(try container.verify().map(\.description) == [])
  }
}
