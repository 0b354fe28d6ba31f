import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

enum PlainGuests {
  @Embeddable struct Place: Hashable {
    var street: String
    var note: String?
  }
  @Model final class Guest {
    var name: String
    @Embedded var home: Place
    init(_ name: String, home: Place) {
      self.name = name
      self.home = home
    }
  }
}

enum NilableGuests {
  @Embeddable struct Place: Hashable {
    var street: String
    var note: String?
  }
  @Model final class Guest {
    #Index<Guest>([\.home?.note])
    var name: String
    @Embedded var home: Place?
    init(_ name: String) { self.name = name }
  }
}

/// With additional parts.
enum LongerGuests {
  @Embeddable struct Place: Hashable {
    var floor: Int = 3
    var street: String
    var note: String?
    var country: String = "Japan"
    var tags: [String] = ["a"]
    var code: Int?
  }
  @Model final class Guest {
    #Index<Guest>([\.home?.country], [\.home?.floor])
    var name: String
    @Embedded var home: Place?
    init(_ name: String) { self.name = name }
  }
}

/// With an additional part that has no default.
enum LackingGuests {
  @Embeddable struct Place: Hashable {
    var street: String
    var note: String?
    var zip: String
  }
  @Model final class Guest {
    var name: String
    @Embedded var home: Place?
    init(_ name: String) { self.name = name }
  }
}

/// With a part that was optional.
enum NotedGuests {
  @Embeddable struct Place: Hashable {
    var street: String
    var note: String
  }
  @Model final class Guest {
    var name: String
    @Embedded var home: Place?
    init(_ name: String) { self.name = name }
  }
}

enum NotedByDefaultGuests {
  @Embeddable struct Place: Hashable {
    var street: String
    var note: String = "none"
  }
  @Model final class Guest {
    #Index<Guest>([\.home?.note])
    var name: String
    @Embedded var home: Place?
    init(_ name: String) { self.name = name }
  }
}

/// Embedded values that may be nil, in a schema that changes.
struct EmbeddedChangeTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("guests.cambium")) }

  init() throws { folder = try TemporaryFolder() }

  private func open<Model: ManagedObject>(
    _ model: Model.Type,
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Void
  ) async throws {
    let container = try await PersistentContainer("Guests", models: model, at: url)
    try await container.performBackgroundTask { context in
      try body(context)
      try context.save()
    }
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
  }

  private func refusal<Model: ManagedObject>(of model: Model.Type) async throws -> ContextError? {
    await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Guests", models: model, at: url)
    }
  }

  /// One guest with a home and a note, one with a home, one with none.
  private func fill() async throws {
    try await open(NilableGuests.Guest.self) { context in
      for (name, home) in [
        ("A", NilableGuests.Place(street: "a", note: "n")), ("B", NilableGuests.Place(street: "b")),
        ("C", nil),
      ] {
        let guest = NilableGuests.Guest(name)
        guest.home = home
        context.insert(guest)
      }
    }
  }

  @Test func aValueThatMayBeNilFromNowOnIsKept() async throws {
    try await open(PlainGuests.Guest.self) { context in
      context.insert(PlainGuests.Guest("A", home: .init(street: "a", note: "n")))
      context.insert(PlainGuests.Guest("B", home: .init(street: "b")))
    }
    try await open(NilableGuests.Guest.self) { context in
      let all = From<NilableGuests.Guest>()
      let (none, some) = (all.where { $0.home == nil }, all.where { $0.home != nil })
      #expect(try context.count(none) == 0 && context.count(some) == 2)
      let guests = try context.fetch(all.orderBy(.ascending(\.name)))
      #expect(guests.map(\.home) == [.init(street: "a", note: "n"), .init(street: "b")])
      guests[0].name = "AA"
      guests[1].home = nil
      try context.save()
      #expect(try context.count(none) == 1)
    }
    // A value that was always there has the new parts as well.
    try await open(LongerGuests.Guest.self) { context in
      let guests = try context.fetch(From<LongerGuests.Guest>().orderBy(.ascending(\.name)))
      #expect(guests.map(\.home) == [.init(street: "a", note: "n"), nil])
      guests[0].home = nil
    }
  }

  @Test func aPartMoreHasItsDefaultWhereTheValueIs() async throws {
    try await fill()
    for isChanged in [false, true] {
      try await open(LongerGuests.Guest.self) { context in
        let all = From<LongerGuests.Guest>()
        let guests = try context.fetch(all.orderBy(.ascending(\.name)))
        #expect(
          guests.map(\.home) == [.init(street: "a", note: "n"), .init(street: "b"), nil]
        )
        let (japan, third) = (all.where { $0.home.country == "Japan" }, all.where { $0.home.floor == 3 })
        let (nowhere, coded) = (all.where { $0.home.country == nil }, all.where { $0.home.code == nil })
        #expect(try context.fetch(japan.orderBy(.ascending(\.name))).map(\.name) == ["A", "B"])
        #expect(try context.count(third) == 2 && context.count(coded) == 3)
        #expect(try context.fetch(nowhere).map(\.name) == ["C"])
        let tagged = all.where { $0.home.tags.contains("a") }
        #expect(try context.count(tagged) == 2)
        if !isChanged { for guest in guests { guest.name += "" } }
      }
      let records = try await PersistentContainer("Guests", at: url)
      try await records.performBackgroundTask { context in
        for record in try context.fetch(DynamicQuery("Guest")) {
          let isThere = try record["home"] != .null
          #expect(try (record["home.country"] == .string("Japan")) == isThere)
          #expect(try (record["home.floor"] == .int(3)) == isThere)
        }
      }
      try await records.close()
    }
  }

  @Test func aRequiredPartMoreNeedsADefault() async throws {
    try await fill()
    let error = try await refusal(of: LackingGuests.Guest.self)
    #expect(error?.code == .schemaMismatch && error?.context.properties == ["home.zip"])
  }

  @Test func aPartThatIsRequiredFromNowOnNeedsValues() async throws {
    try await fill()
    let error = try await refusal(of: NotedGuests.Guest.self)
    #expect(error?.code == .missingValue && error?.context.properties == ["home.note"])
    #expect(error?.refusal?.offenderCount == 1)
    try await open(NotedByDefaultGuests.Guest.self) { context in
      let guests = try context.fetch(From<NotedByDefaultGuests.Guest>().orderBy(.ascending(\.name)))
      #expect(guests.map(\.home) == [.init(street: "a", note: "n"), .init(street: "b"), nil])
      let (named, unnamed) = (
        From<NotedByDefaultGuests.Guest>().where { $0.home.note == "none" },
        From<NotedByDefaultGuests.Guest>().where { $0.home.note == nil }
      )
      #expect(try context.fetch(named).map(\.name) == ["B"])
      #expect(try context.fetch(unnamed).map(\.name) == ["C"])
    }
    try await open(NotedGuests.Guest.self) { context in
      let count = try context.count(From<NotedGuests.Guest>())
      #expect(count == 3)
    }
  }
}
