import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// The times at which hooks are called, and the effects of the changes that hooks make.
struct HookTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let calls = HookCalls()

  init() async throws {
    container = try await PersistentContainer("Trips", models: [Trip.self, TripStop.self], at: .inMemory)
    context = try container.context()
  }

  private func recording(_ body: () throws -> Void) rethrows {
    try HookCalls.$current.withValue(calls, operation: body)
  }

  @Test func aHookThatSavesWhileOthersWaitLeavesNoneOut() throws {
    let whole = try saved("W")[0]
    try recording {
      calls.on("awakeFromInsert A") { [context] _ in try context.save() }
      calls.on("awakeFromInsert B") { $0.changeCount = 1 }
      whole.parts = [Trip("A"), Trip("B")]
      try context.save()
    }
    #expect(whole.parts.map(\.changeCount) == [0, 1])
  }

  @Test func aChildPreparesItsDeletionsOnce() throws {
    let trip = try saved("A")[0]
    try recording {
      let child = context.makeChild()
      child.delete(try child.existingObject(Trip.self, with: trip.objectID))
      try child.save()
      try context.save()
      #expect(calls.take().filter { $0.hasPrefix("prepare") } == ["prepareForDeletion A"])
    }
  }

  @Test func aChildThatAPreparationMakesFollowsTheDeletion() throws {
    let trip = try saved("A")[0]
    var child: ManagedObjectContext?
    var copy: Trip?
    recording {
      calls.on("prepareForDeletion A") { [context] trip in
        child = context.makeChild()
        copy = try child?.existingObject(Trip.self, with: trip.objectID)
      }
      context.delete(trip)
    }
    #expect(copy?.isDeleted == true)
    #expect(try child?.count(From<Trip>()) == 0)
  }

  private func saved(_ titles: String...) throws -> [Trip] {
    let trips = titles.map { Trip($0) }
    for trip in trips { context.insert(trip) }
    try context.save()
    return trips
  }

  @Test func anInsertedObjectAwakesOnceAndIsSaved() throws {
    try recording {
      let trip = Trip("A")
      #expect(calls.take() == [])
      calls.on("awakeFromInsert A") { $0.changeCount = 7 }
      context.insert(trip)
      context.insert(trip)
      #expect(calls.take() == ["awakeFromInsert A"] && trip.changeCount == 7)
      try context.save()
      #expect(calls.take() == ["willSave A", "validateForInsert A", "didSave A"])
      try context.save()
      #expect(calls.take() == [] && !trip.hasChanges)
      let other = try container.context()
      defer { other.end() }
      #expect(try other.fetchOne(From<Trip>())?.changeCount == 7)
      #expect(calls.take() == ["awakeFromFetch A"])
    }
  }

  @Test func objectsThatARelationshipBringsAlongAwakeWhenItIsSet() throws {
    let whole = try saved("W")[0]
    recording {
      for title in ["A", "B", "C", "D"] {
        calls.on("awakeFromInsert \(title)") { trip in
          // The relationship is complete, from both of its ends.
          #expect(trip.whole === whole && trip.whole?.parts.contains(trip) == true, "\(title)")
          trip.stops.append(TripStop("first"))
        }
      }
      let (a, b, c, d) = (Trip("A"), Trip("B"), Trip("C"), Trip("D"))
      whole.parts.append(a)
      b.whole = whole
      c.whole = whole
      context.insert(c)
      whole.parts = [a, b, c, d]
      #expect(calls.take() == ["A", "B", "C", "D"].map { "awakeFromInsert \($0)" })
      #expect(([a, b, c, d] as [Trip]).allSatisfy { $0.stops.count == 1 && $0.stops[0].trip === $0 })
      let chain = (0..<1_000).map { Trip("\($0)") }
      for (part, trip) in zip(chain.dropFirst(), chain) { part.whole = trip }
      context.insert(chain[999])
      #expect(calls.take().count == 1_000)
    }
  }

  @Test func aHookMayChangeTheListThatBringsItsObjectIn() throws {
    let trip = try saved("W")[0]
    let stop = TripStop("second")
    recording {
      calls.on("awakeFromInsert P") { part in
        part.whole?.parts.append(Trip("Q"))
        #expect(part.whole?.parts.count == 2)
      }
      trip.parts.append(Trip("P"))
    }
    trip.stops.append(stop)
    #expect(trip.parts.map(\.title) == ["P", "Q"] && trip.stops == [stop])
    try context.save()
    #expect(try container.verify() == [])
  }

  @Test func aFaultAwakesBeforeItsFirstValueIsReadAndAfterARefresh() throws {
    _ = try saved("A", "B")
    let other = try container.context()
    defer { other.end() }
    try recording {
      let trips = try other.fetch(From<Trip>().orderBy(.ascending(\.title)))
      #expect(calls.take() == [])
      var titles: [String] = []
      calls.on("awakeFromFetch A") { titles.append($0.title) }
      #expect(trips[0].stars == nil && trips[0].title == "A" && trips[1].whole == nil)
      #expect(calls.take() == ["awakeFromFetch A", "awakeFromFetch B"] && titles == ["A"])
      other.refresh(trips[0])
      _ = trips[0].title
      #expect(calls.take() == ["awakeFromFetch A"])
      let mine = try context.existingObject(Trip.self, with: trips[0].objectID)
      mine.changeCount = 1
      try context.save()
      _ = calls.take()
      try other.refresh()
      #expect(trips[0].changeCount == 1)
      #expect(calls.take() == ["awakeFromFetch A"])
    }
  }

  @Test func whatWillSaveChangesIsSavedAndChecked() throws {
    let trips = try saved("A", "B")
    try recording {
      calls.on("willSave A") { trip in
        trip.changeCount += 1
        trips[1].changeCount = 10
        if trip.stops.isEmpty { trip.stops.append(TripStop("s")) }
      }
      trips[0].stars = 3
      try context.save()
      let made = calls.take()
      #expect(made.filter { $0 == "willSave A" }.count == 1 && made.filter { $0 == "willSave B" }.count == 1)
      #expect(trips[0].changeCount == 1 && trips[1].changeCount == 10 && !context.hasChanges)
      calls.on("willSave A") { $0.stars = 6 }
      trips[0].changeCount = 5
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .validationFailed && error?.context.properties == ["stars"])
      trips[0].stars = 1
      calls.on("willSave A") { $0.stops.append(TripStop("")) }
      #expect(#expect(throws: ContextError.self) { try context.save() }?.context.properties == ["name"])
      context.rollback()
    }
    #expect(try container.verify() == [])
  }

  @Test func hooksThatGoOnChangingFailTheSave() throws {
    try recording {
      var count = 0
      let trip = Trip("A")
      context.insert(trip)
      func chain(_ title: String) {
        calls.on("willSave \(title)") { _ in
          count += 1
          let next = Trip("A\(count)")
          chain(next.title)
          context.insert(next)
        }
      }
      chain("A")
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .endlessChanges && count == SaveHooks.roundLimit)
      context.rollback()
      calls.on("willSave B") { [context] _ in
        #expect(throws: ContextError.self) { try context.save() }
      }
      let other = Trip("B")
      context.insert(other)
      try context.save()
      #expect(try context.count(From<Trip>()) == 1)
    }
  }

  @Test func everyRefusalIsListedAndTheNextSaveSucceeds() throws {
    let trips = try saved("A", "B")
    try recording {
      struct Refusal: Error {}
      calls.on("validateForDelete A") { _ in throw Refusal() }
      calls.on("validateForUpdate B") { _ in throw ValidationError("no", properties: ["title"]) }
      context.delete(trips[0])
      trips[1].changeCount = 1
      let new = Trip("C")
      new.stops = [TripStop("")]
      context.insert(new)
      let failures = try #require(#expect(throws: ContextError.self) { try context.save() }).failures
      #expect(failures.map(\.code) == Array(repeating: .validationFailed, count: 3))
      #expect(failures.contains { $0.underlyingError is Refusal && $0.context.objectID == trips[0].objectID })
      #expect(failures.contains { $0.context.properties == ["title"] && $0.message.hasSuffix(": no") })
      #expect(trips[0].isDeleted && new.isInserted && trips[1].changeCount == 1)
      #expect(!calls.take().contains { $0.hasPrefix("didSave") })
      new.stops[0].name = "s"
      calls.on("validateForDelete A") { _ in }
      calls.on("validateForUpdate B") { _ in }
      try context.save()
      #expect(calls.take().filter { $0.hasPrefix("didSave") } == ["didSave C", "didSave B", "didSave A"])
    }
  }

  @Test func anObjectIsPreparedWhileItsRelationshipsAreThere() throws {
    let whole = try saved("W")[0]
    let part = Trip("P")
    whole.parts.append(part)
    part.stops = [TripStop("s")]
    try context.save()
    try recording {
      calls.on("prepareForDeletion W") { trip in
        #expect(trip.parts.count == 1)
        context.delete(trip)
      }
      calls.on("prepareForDeletion P") { #expect($0.stops.count == 1) }
      context.delete(whole)
      #expect(calls.take() == ["prepareForDeletion W", "prepareForDeletion P"])
      #expect(part.isDeleted && whole.isDeleted)
      try context.save()
      #expect(calls.take().filter { $0.hasPrefix("didSave") }.count == 2)
      #expect(try context.count(From<TripStop>()) == 0)
    }
  }

  @Test func didSaveMayChangeAndSave() throws {
    let trip = Trip("A")
    try recording {
      calls.on("didSave A") { [context] trip in
        guard trip.changeCount < 3 else { return }
        trip.changeCount += 1
        try context.save()
      }
      context.insert(trip)
      try context.save()
    }
    #expect(trip.changeCount == 3 && !context.hasChanges)
  }

  @Test func aSaveThatDoesNotBlockCallsHooksToo() async throws {
    let trip = Trip("A")
    context.insert(trip)
    try await HookCalls.$current.withValue(calls) {
      calls.on("didSave A") { [context] _ in try context.save() }
      try await context.saveWithoutBlocking()
    }
    #expect(calls.take() == ["willSave A", "validateForInsert A", "didSave A"])
  }

  @Test func childrenCallHooksOfTheirOwnObjects() throws {
    try recording {
      let child = context.makeChild()
      child.insert(Trip("A"))
      try child.save()
      #expect(calls.take() == ["awakeFromInsert A", "willSave A", "validateForInsert A", "didSave A"])
      try context.save()
      #expect(calls.take() == ["willSave A", "validateForInsert A", "didSave A"])
    }
  }

  // MARK: Declared rules

  @Test func rulesHoldForNewAndChangedValues() throws {
    let trip = try saved("Alps")[0]
    let number = trip.objectID.number
    for (change, message) in [
      ({ trip.stars = -0.5 }, "Trip.stars of object \(number) is -0.5 and must be at least 0.0"),
      ({ trip.stars = 5.5 }, "Trip.stars of object \(number) is 5.5 and must be at most 5.0"),
      ({ trip.stars = .nan }, "Trip.stars of object \(number) is nan and must be at least 0.0"),
      ({ trip.title = "A" + String(repeating: "é", count: 20) }, "must have a length from 1 to 20"),
      (
        { trip.title = "alps" },
        "Trip.title of object \(number) is \"alps\" and must fit the pattern “[A-Z].*”"
      ),
    ] as [(() -> Void, String)] {
      change()
      let error = try #require(#expect(throws: ContextError.self) { try context.save() })
      #expect(error.code == .validationFailed && error.message.contains(message), "\(error)")
      context.rollback()
    }
    trip.title = ""
    let error = try #require(#expect(throws: ContextError.self) { try context.save() })
    #expect(error.failures.count == 2)
    (trip.title, trip.stars) = ("A" + String(repeating: "é", count: 19), 0)
    try context.save()
    trip.stars = nil
    try context.save()
  }

  @Test func rulesThatDoNotFitTheirAttributeAreRefused() throws {
    func problems<Value: AttributeType>(_ rules: [AttributeRule], _ type: Value.Type) -> [String] {
      let entity = EntityDescription(name: "E", properties: [.attribute("a", type, rules: rules)])
      do throws(SchemaError) { _ = try Schema(entities: [entity]) } catch { return error.problems }
      return []
    }
    #expect(problems([.min(1), .max(2)], Int.self) == [])
    #expect(problems([.min("x")], Int.self) == ["E.a has a limit that is no int64"])
    #expect(
      problems([.length(1...)], Int.self)
        == ["E.a has a rule for its length, and is neither a string nor data"]
    )
    #expect(problems([.length(0..<0)], String.self) == ["E.a has a rule with an empty range of lengths"])
    #expect(problems([.length(1...Int.max)], String.self) == [])
    #expect("\(AttributeRule.length(1...Int.max))" == "\(AttributeRule.length(1...))")
    #expect("\(AttributeRule.length(...Int.max))" == "\(AttributeRule.length(0...))")
    #expect(problems([.pattern("(")], String.self).count == 1)
    #expect(problems([.pattern("x")], Int.self) == ["E.a has a pattern, and is not a string"])
  }
}
