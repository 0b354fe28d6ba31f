import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Properties that stand for the objects behind links.
struct LinkedObjectsTests {
  @Test func addingMakesALinkAndRemovingDeletesIt() async throws {
    let container = try await PersistentContainer.bands()
    let context = try container.context()
    let band = Band("x")
    context.insert(band)
    let ada = Musician("ada")
    band.members = [ada, Musician("bob"), ada]
    band.members.append(Musician("cy"))
    try context.save()
    #expect(band.members.map(\.name).sorted() == ["ada", "bob", "cy"])
    #expect(band.memberships.map(\.since) == [1990, 1990, 1990])
    #expect(band.memberships.map(\.mark) == ["m", "m", "m"])
    #expect(ada.bands.map(\.name) == ["x"] && ada.memberships.count == 1)

    let link = try #require(ada.memberships.first { _ in true })
    link.since = 1970
    ada.bands.append(Band("y"))
    band.members.removeAll { $0.name == "bob" }
    #expect(band.memberships.count == 2 && link.since == 1970)
    try context.save()
    #expect(try context.count(From<Membership>()) == 3 && context.count(From<Musician>()) == 3)

    context.delete(ada)
    #expect(band.members.map(\.name) == ["cy"])
    context.delete(band)
    try context.save()
    #expect(try context.count(From<Membership>()) == 0)
    #expect(try await container.verify().map(\.description) == [])
  }

  @Test func itWorksOutsideOfContexts() async throws {
    let context = try await PersistentContainer.bands().context()
    let band = Band("x")
    band.members = [Musician("ada"), Musician("bob")]
    band.members.removeFirst()
    band.setlist = [Anthem("a"), Anthem("b")]
    #expect(band.members.map(\.name) == ["bob"] && band.setlist.map(\.title) == ["a", "b"])
    context.insert(band)
    try context.save()
    #expect(band.members.map(\.name) == ["bob"] && band.setlist.map(\.title) == ["a", "b"])
    #expect(try context.count(From<Musician>()) == 1)
  }

  @Test func aNewLinkHasAllItsAttributes() async throws {
    let context = try await PersistentContainer.bands().context()
    let troupe = Troupe()
    context.insert(troupe)
    troupe.mimes = [Mime()]
    let casting = try #require(troupe.castings.first)
    #expect(casting.understudy == nil && casting.role == "any")
    try context.save()
    #expect(casting.understudy == nil && casting.role == "any" && casting.values.role == "any")
  }

  /// An initialiser of the link's class isn't called.
  @Test func linksCanBeMadeWithoutAnInitialiser() throws {
    let error = #expect(throws: SchemaError.self) {
      try Schema(entities: [
        EntityDescription(
          name: "Troupe",
          properties: [.toMany("castings", to: "Casting", inverse: "troupe")],
          shorthands: [LinkShorthand("mimes", through: "castings", to: "mime")]
        ),
        EntityDescription(
          name: "Casting",
          properties: [
            .attribute(AttributeDescription(name: "role", kind: .string)), .toOne("troupe", to: "Troupe"),
            .toOne("mime", to: "Mime"),
          ]
        ),
        EntityDescription(name: "Mime", properties: []),
      ])
    }
    #expect("\(error as Any)".contains("whose role has no value to begin with"))
  }

  /// A set has no order. Assigning one keeps the order of the links, and keeps links that lead nowhere.
  @Test func aSetKeepsTheOrderOfTheLinks() async throws {
    let context = try await PersistentContainer.bands().context()
    let troupe = Troupe()
    context.insert(troupe)
    let mimes = (0..<20).map { _ in Mime() }
    troupe.castings = mimes.map { Casting($0, as: "a") } + [Casting(nil, as: "b")]
    let castings = troupe.castings
    troupe.mimes.remove(mimes[3])
    #expect(troupe.castings == castings.filter { $0 !== castings[3] })
    let new = Mime()
    troupe.mimes.insert(new)
    #expect(troupe.castings.dropLast() == castings.filter { $0 !== castings[3] }[...])
    #expect(troupe.castings.last?.mime === new)
  }

  /// Removing an object from one owner would delete links of other owners.
  @Test func linksHaveOneOwner() throws {
    let problems = #expect(throws: SchemaError.self) {
      try Schema(entities: [
        EntityDescription(
          name: "Playlist",
          properties: [.toMany("entries", to: "Entry")],
          shorthands: [LinkShorthand("songs", through: "entries", to: "song")]
        ),
        EntityDescription(name: "Entry", properties: [.toOne("song", to: "Song")]),
        EntityDescription(name: "Song", properties: []),
      ])
    }
    #expect("\(problems as Any)".contains("whose links can have several owners"))
  }

  @Test func aPairOfEndsIsUniqueIfItsLinksAre() async throws {
    let context = try await PersistentContainer.bands().context()
    let (band, ada) = (Band("x"), Musician("ada"))
    context.insert(band)
    context.insert(ada)
    context.insert(Membership(ada, in: band, since: 1980))
    band.members.append(ada)
    try context.save()
    #expect(band.memberships.map(\.since) == [1980])
    context.insert(Membership(ada, in: band, since: 1990))
    #expect(#expect(throws: ContextError.self) { try context.save() }?.code == .notUnique)
  }

  @Test func twoContextsAddToIt() async throws {
    let container = try await PersistentContainer.bands()
    let context = try container.context()
    context.undoManager = ContextUndoManager()
    let band = Band("x")
    context.insert(band)
    band.members = [Musician("ada"), Musician("bob")]
    try context.save()
    let other = try container.context()
    try other.object(Band.self, with: band.objectID).members.append(Musician("cy"))
    band.members.removeAll { $0.name == "bob" }
    band.members.append(Musician("dan"))
    try other.save()
    try context.save()
    #expect(band.members.map(\.name).sorted() == ["ada", "cy", "dan"])
    #expect(context.undo())
    #expect(band.members.map(\.name).sorted() == ["ada", "bob", "cy"])
    try context.save()
    #expect(try context.count(From<Membership>()) == 3)
    #expect(try await container.verify().map(\.description) == [])
  }

  // MARK: Conditions

  private func names(_ query: From<Band>, _ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(query.orderBy(.ascending(\.name)).prefetching(\.members)).map(\.name)
  }

  @Test func conditionsKnowItByItsName() async throws {
    let context = try await PersistentContainer.bands().context()
    let musicians = ["a", "b", "c"].map(Musician.init)
    for (musician, age) in zip(musicians, [20, 30, 40]) {
      context.insert(musician)
      musician.age = age
    }
    for (name, members) in [("x", [0, 1]), ("y", [1, 2]), ("z", [])] {
      let band = Band(name)
      context.insert(band)
      band.members = members.map { musicians[$0] }
    }
    let (first, third) = (musicians[0], musicians[2])
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      func names(_ query: From<Band>) throws -> [String] { try self.names(query, context) }
      #expect(try names(From<Band>().where(format: "ANY members.name == 'b'")) == ["x", "y"])
      #expect(try names(From<Band>().where(format: "ALL members.age < 35")) == ["x", "z"])
      #expect(try names(From<Band>().where(format: "NONE members.name == 'c'")) == ["x", "z"])
      #expect(try names(From<Band>().where(format: "members.@count == 2")) == ["x", "y"])
      #expect(try names(From<Band>().where(format: "members.@max.age > 35")) == ["y"])
      #expect(try names(From<Band>().where(format: "ANY members == %@", third)) == ["y"])
      #expect(
        try names(
          From<Band>().where(format: "SUBQUERY(members, $m, $m.age > 25 AND $m.name < 'c').@count > 0")
        )
          == ["x", "y"]
      )
      #expect(
        try names(From<Band>().where(format: "SUBQUERY(members, $m, $m.bands.@count == 1).@count > 0")) == [
          "x", "y",
        ]
      )
      // There and back again.
      #expect(try names(From<Band>().where(format: "ANY members.bands.name == 'y'")) == ["x", "y"])
      #expect(try names(From<Band>().where { $0.members.any { $0.name == "a" && $0.age == 20 } }) == ["x"])
      #expect(try names(From<Band>().where { $0.members.contains(first) }) == ["x"])
      #expect(try names(From<Band>().where { $0.members.count == 0 }) == ["z"])
      #expect(try names(From<Band>().where { $0.members.max(\.age) > 35 }) == ["y"])
      #expect(try names(From<Band>().where(#Predicate { $0.members.contains { $0.name == "a" } })) == ["x"])
      let links = From<Membership>().where { $0.band.members.count == 2 && $0.musician.name == "b" }
      #expect(try context.count(links) == 2)
    }
    let bands = try context.fetch(From<Band>())
    #expect(try bands.filter(matching: Where { $0.members.any { $0.age > 35 } }).map(\.name) == ["y"])
  }

  @Test func mistakesAreShownWhereTheyStand() async throws {
    let context = try await PersistentContainer.bands().context()
    let error = #expect(throws: ContextError.self) {
      try context.fetch(From<Band>().where(format: "name == 'x' AND ANY members.nam == 'b'"))
    }
    let known = try #require(error?.queryError)
    #expect(known.code == .unknownName && known.message.contains("Musician has no property named “nam”"))
    #expect(known.column == 28)
  }

  // MARK: Order

  @Test func anOrderedListOfLinksOrdersWhatIsBehindThem() async throws {
    let container = try await PersistentContainer.bands()
    let context = try container.context()
    let pieces = ["a", "b", "c", "d"].map(Anthem.init)
    let bands = ["x", "y"].map(Band.init)
    for band in bands { context.insert(band) }
    for piece in pieces { context.insert(piece) }
    bands[0].setlist = [pieces[2], pieces[0], pieces[1]]
    bands[1].setlist = [pieces[0], pieces[3], pieces[2]]
    try context.save()
    #expect(bands.map { $0.setlist.map(\.title).joined() } == ["cab", "adc"])
    bands[0].setlist.insert(pieces[3], at: 1)
    bands[0].setlist.swapAt(0, 3)
    bands[1].entries.move(from: 2, to: 0)
    try context.save()
    try context.refresh()
    #expect(bands.map { $0.setlist.map(\.title).joined() } == ["bdac", "cad"])
    context.delete(pieces[0])
    #expect(bands.map { $0.setlist.map(\.title).joined() } == ["bdc", "cd"])
    bands[0].setlist.reverse()
    try context.save()
    // An entry whose piece was deleted stays, until the program deletes it.
    #expect(bands.map(\.entries.count) == [4, 3])
    #expect(bands.map { $0.setlist.map(\.title).joined() } == ["cdb", "cd"])
    #expect(try await container.verify().map(\.description) == [])
  }

  // MARK: Schemas

  @Test func aSchemaChecksTheNames() {
    func problems(_ shorthand: LinkShorthand...) -> [String]? {
      let band = EntityDescription(
        name: "Band",
        properties: [.attribute("name", String.self), .toMany("links", to: "Link", inverse: "band")],
        shorthands: shorthand
      )
      let link = EntityDescription(
        name: "Link",
        properties: [.toOne("band", to: "Band"), .toOne("person", to: "Band"), .toMany("tags", to: "Link")]
      )
      do throws(SchemaError) {
        _ = try Schema(entities: [band, link])
        return nil
      } catch { return error.problems }
    }
    #expect(problems(LinkShorthand("people", through: "links", to: "person")) == nil)
    #expect(
      problems(LinkShorthand("name", through: "links", to: "person")) == [
        "Band.name is a property and a shorthand"
      ]
    )
    #expect(
      problems(LinkShorthand("people", through: "name", to: "person"))
        == ["Band.people goes through Band.name, which is no to-many relationship"]
    )
    for target in ["tags", "nothing"] {
      #expect(
        problems(LinkShorthand("people", through: "links", to: target))
          == ["Band.people leads to Link.\(target), which is no to-one relationship"]
      )
    }
    let twice = LinkShorthand("people", through: "links", to: "person")
    #expect(problems(twice, twice) == ["Band has two shorthands named people"])
  }

  @Test func recordsAreFoundThroughIt() async throws {
    let band = EntityDescription(
      name: "Band",
      properties: [.attribute("name", String.self), .toMany("links", to: "Link", inverse: "band")],
      shorthands: [LinkShorthand("people", through: "links", to: "person")]
    )
    let link = EntityDescription(
      name: "Link",
      properties: [.toOne("band", to: "Band"), .toOne("person", to: "Person")]
    )
    let person = EntityDescription(name: "Person", properties: [.attribute("name", String.self)])
    let container = try await PersistentContainer(
      "Bands",
      schema: Schema(entities: [band, link, person]),
      at: .inMemory
    )
    let context = try container.context()
    let (first, second) = (try context.insert(entity: "Band"), try context.insert(entity: "Band"))
    try first.set("name", to: "x")
    try second.set("name", to: "y")
    let ada = try context.insert(entity: "Person")
    try ada.set("name", to: "ada")
    let membership = try context.insert(entity: "Link")
    try membership.setObject("band", to: second)
    try membership.setObject("person", to: ada)
    let found = try context.fetch(
      DynamicQuery("Band", where: PredicateTree(format: "ANY people.name == 'ada'"))
    )
    #expect(found == [second])
    try context.save()
    #expect(
      try context.fetch(DynamicQuery("Band", where: PredicateTree(format: "people.@count == 0"))) == [first]
    )
  }
}
