import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

struct MacroModelTests {
  let host = MemoryHost()

  @Test func aModelDescribesItself() throws {
    let schema = try Schema([Song.self, Album.self, Specimen.self])
    #expect(
      schema.description == """
        entity Album
          title: string
          year: int64
          songs: [Song] inverse album cascade
        entity Song
          isrc: string
          title: string
          track: int64
          seconds: int64
          rating: double?
          added: date
          album: Album? inverse songs nullify
          index title
          index seconds
          index album,track
          unique isrc
        entity Specimen
          flag: bool
          small: int8
          wide: uint64
          number: float
          bytes: data
          key: uuid?
          colour: string
          other: string?
          label: string?
          parent: Specimen? inverse children nullify
          children: [Specimen] inverse parent cascade
          related: [Specimen] inverse relatedBy nullify
          relatedBy: [Specimen] inverse related nullify
          unique label
          index small
        """
    )
  }

  @Test func initialValuesAreDefaultsOfTheDescription() throws {
    let schema = try Schema([Song.self, Album.self, Specimen.self])
    let specimen = try #require(schema.entity(named: "Specimen"))
    let defaults = specimen.attributes.map(\.defaultValue)
    #expect(
      defaults == [
        .bool(false), .int(0), .uint(.max), .double(0), .data(Data()), nil, .string("red"), nil, nil,
      ]
    )
  }

  @Test func defaultsHoldInNewObjectsAndNotInFaults() {
    let new = Specimen()
    #expect(new.wide == .max && new.colour == .red && new.key == nil && new.children.isEmpty)
    let stored = host.store(
      Specimen.self,
      3,
      [
        .bool(true), .int(-5), .uint(.max - 1), .double(0.5), .data(Data([1, 2])), .uuid(UUID()),
        .string("green"),
        .string("red"), .null, .reference(4),
      ]
    )
    #expect(stored.flag && stored.small == -5 && stored.wide == .max - 1 && stored.number == 0.5)
    #expect(
      stored.bytes == Data([1, 2]) && stored.key != nil && stored.colour == .green && stored.other == .red
    )
    #expect(stored.label == nil && stored.parent?._$state.number == 4)
    #expect(!stored.isRed && Specimen.kingdom == "Plantae")
    host.releaseAll()
  }

  @Test func aPrivateSetterStaysPrivateAndWorks() {
    let specimen = host.store(Specimen.self, 3, Array(repeating: .null, count: 10))
    let key = UUID()
    specimen.assignKey(key)
    #expect(specimen.key == key)
    #expect(host.events == [.willChange(3)])
    host.releaseAll()
  }

  @Test func keyPathsOfMacroModelsHaveNames() throws {
    #expect(try Song.predicatePath(of: \Song.title) == ["title"])
    #expect(try Song.predicatePath(of: \Song.album?.year) == ["album", "year"])
    #expect(try Specimen.predicatePath(of: \Specimen.colour) == ["colour"])
    #expect(try Specimen.predicatePath(of: \Specimen.parent?.parent?.other) == ["parent", "parent", "other"])
    #expect(throws: QueryError.self) { try Specimen.predicatePath(of: \Specimen.isRed) }
  }

  @Test func conditionsSpellTheProperties() throws {
    let condition = Where<Song> { $0.seconds > 180 && $0.album.year < 1980 }
    #expect(try condition.tree.description == "seconds > 180 AND album.year < 1980")
  }
}
