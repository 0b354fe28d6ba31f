import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

@Embeddable struct Stall: Hashable {
  var row: Int
  var name: String = "north"
}

@Embeddable struct LongStall: Hashable {
  var row: Int
  var name: String = "north"
  var width: Int = 3
  var note: String?
}

/// A hierarchy without links and embedded values.
private enum Bare {
  @Model(subclasses: ["Cow", "Hen"])
  class Beast {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Beast")
  final class Cow: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Hen: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Farmer {
    init() {}
  }
}

/// A subclass has a link that may be nil, and a value that may be nil; a new one needs both.
private enum Looser {
  @Model(subclasses: ["Cow", "Hen", "Goat"])
  class Beast {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Beast")
  final class Cow: Beast {
    #Index<Cow>([\.stall?.row])
    @Relationship var farmer: Farmer?
    @Embedded var stall: Stall?
    @Attribute(.perInsert { "new" }) var state: String?
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Hen: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Goat: Beast {
    @Relationship var owner: Farmer
    @Embedded var place: Stall
    @Attribute(.perInsert { 7 }) var mark: Int
    init(_ name: String, _ owner: Farmer, _ place: Stall) {
      self.owner = owner
      self.place = place
      super.init(name)
    }
  }
  @Model final class Farmer {
    init() {}
  }
}

/// The embedded value has more parts, and properties that a subclass required are optional or have values of their own.
private enum Longer {
  @Model(subclasses: ["Cow", "Hen", "Goat"])
  class Beast {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Beast")
  final class Cow: Beast {
    #Index<Cow>([\.stall?.width])
    @Relationship var farmer: Farmer?
    @Embedded var stall: LongStall?
    @Attribute(.perInsert { "new" }) var state: String?
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Hen: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Goat: Beast {
    @Relationship var owner: Farmer?
    @Embedded var place: Stall
    var mark: Int?
    override init(_ name: String) {
      place = Stall(row: 0)
      super.init(name)
    }
  }
  @Model final class Farmer {
    init() {}
  }
}

/// A subclass requires a link that was optional or didn't exist.
private enum NeedyLink {
  @Model(subclasses: ["Cow", "Hen"])
  class Beast {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Beast")
  final class Cow: Beast {
    @Relationship var farmer: Farmer
    init(_ name: String, _ farmer: Farmer) {
      self.farmer = farmer
      super.init(name)
    }
  }
  @Model(superclass: "Beast")
  final class Hen: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Farmer {
    init() {}
  }
}

/// A subclass requires an embedded value that didn't exist.
private enum NeedyValue {
  @Model(subclasses: ["Cow", "Hen"])
  class Beast {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Beast")
  final class Cow: Beast {
    @Embedded var stall: Stall = Stall(row: 1)
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Hen: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Farmer {
    init() {}
  }
}

/// The embedded value may be nil.
private enum EasyValue {
  @Model(subclasses: ["Cow", "Hen"])
  class Beast {
    @Attribute(.unique) var name: String
    init(_ name: String) { self.name = name }
  }
  @Model(superclass: "Beast")
  final class Cow: Beast {
    @Embedded var stall: Stall?
    override init(_ name: String) { super.init(name) }
  }
  @Model(superclass: "Beast")
  final class Hen: Beast {
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Farmer {
    init() {}
  }
}

/// Links, embedded values and values of insertions that subclasses get, need and lose, in a store with objects.
struct HierarchyKindsMigrationTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("farm")) }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ models: [any ManagedObject.Type],
    _ body: @Sendable (ManagedObjectContext) throws -> Void
  ) async throws {
    let container = try await PersistentContainer("Farm", models: models, at: .file(url))
    try container.inContext { (context: ManagedObjectContext) throws -> Void in
      try body(context)
      try context.save()
    }
    let problems = try await container.verify().map(\.description)
    #expect(problems == [])
    try await container.close()
  }

  private func refusal(of models: [any ManagedObject.Type]) async -> ContextError? {
    await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Farm", models: models, at: .file(url))
    }
  }

  private static let bare: [any ManagedObject.Type] = [Bare.Beast.self, Bare.Farmer.self]
  private static let looser: [any ManagedObject.Type] = [Looser.Beast.self, Looser.Farmer.self]
  private static let longer: [any ManagedObject.Type] = [Longer.Beast.self, Longer.Farmer.self]

  @Test func aSubclassGetsWhatMayBeNil() async throws {
    try await open(Self.bare) { context in
      context.insert(Bare.Cow("old"))
      context.insert(Bare.Hen("hen"))
      context.insert(Bare.Beast("beast"))
    }
    try await open(Self.looser) { context in
      let old = try #require(try context.fetchOne(From<Looser.Cow>()))
      #expect(old.stall == nil && old.farmer == nil && old.state == nil)
      let new = Looser.Cow("new")
      new.stall = Stall(row: 4, name: "south")
      context.insert(new)
      #expect(new.state == "new")
      let goat = Looser.Goat("goat", Looser.Farmer(), Stall(row: 9))
      context.insert(goat)
      #expect(goat.mark == 7)
    }
    try await open(Self.longer) { context in
      let cows = try context.fetch(From<Longer.Cow>().orderBy(\.name))
      // A cow without a stall has no width.
      #expect(cows.map(\.stall) == [LongStall(row: 4, name: "south"), nil])
      let wide = From<Longer.Cow>().where { $0.stall.width == 3 }
      #expect(try context.fetch(wide).map(\.name) == ["new"])
      let all = try context.fetch(From<Longer.Beast>().where(format: "stall.width == nil"))
      #expect(Set(all.map(\.name)) == ["old", "hen", "beast", "goat"])
      cows[1].stall = LongStall(row: 1, width: 5)
      context.insert(Longer.Goat("second"))
    }
    let records = try await PersistentContainer("Farm", at: url)
    try records.inContext { (context: ManagedObjectContext) throws -> Void in
      for record in try context.fetch(DynamicQuery("Beast")) {
        let isCow = record.objectID.entityName == "Cow"
        #expect(try (record["stall.width"] != .null) == isCow)
        #expect(try (record["stall"] != .null) == isCow)
      }
    }
    #expect(try await records.verify().map(\.description) == [])
    try await records.close()
    // A goat has no owner.
    #expect(await refusal(of: Self.looser)?.refusal?.description.contains("Goat.owner is required") == true)
  }

  @Test func aSubclassWithObjectsGetsNothingThatIsRequired() async throws {
    try await open(Self.bare) { context in context.insert(Bare.Cow("old")) }
    let link = await refusal(of: [NeedyLink.Beast.self, NeedyLink.Farmer.self])
    #expect(link?.refusal?.description.contains("Cow.farmer is required") == true)
    let value = await refusal(of: [NeedyValue.Beast.self, NeedyValue.Farmer.self])
    #expect(value?.refusal?.description.contains("Cow.stall.row is required") == true)
  }

  @Test func withoutObjectsEverythingCanChange() async throws {
    try await open(Self.bare) { _ in }
    try await open([NeedyLink.Beast.self, NeedyLink.Farmer.self]) { _ in }
    try await open([NeedyValue.Beast.self, NeedyValue.Farmer.self]) { _ in }
    try await open([EasyValue.Beast.self, EasyValue.Farmer.self]) { _ in }
    try await open([NeedyLink.Beast.self, NeedyLink.Farmer.self]) { context in
      context.insert(NeedyLink.Cow("cow", NeedyLink.Farmer()))
      context.insert(NeedyLink.Hen("hen"))
    }
    // A link that becomes optional stays, and may be set to nil from now on.
    try await open(Self.looser) { context in
      let cow = try #require(try context.fetchOne(From<Looser.Cow>()))
      #expect(cow.farmer != nil)
      cow.farmer = nil
    }
  }

  /// The class alone says which objects have the embedded value: the store has no flag property for it yet.
  @Test func aValueOfASubclassStaysRequired() async throws {
    try await open([NeedyValue.Beast.self, NeedyValue.Farmer.self]) { context in
      context.insert(NeedyValue.Cow("cow"))
      context.insert(NeedyValue.Hen("hen"))
    }
    let error = await refusal(of: [EasyValue.Beast.self, EasyValue.Farmer.self])
    #expect(error?.context.properties == ["stall"])
    #expect(error?.refusal?.description.contains("can't become optional: it is an embedded value") == true)
    try await open([NeedyValue.Beast.self, NeedyValue.Farmer.self]) { context in
      let cow = try #require(try context.fetchOne(From<NeedyValue.Cow>()))
      #expect(cow.stall == Stall(row: 1))
    }
    // An embedded value that may be nil doesn't become required.
    let other = URL(fileURLWithPath: folder.file("other"))
    let easy = try await PersistentContainer(
      "Farm",
      models: EasyValue.Beast.self,
      EasyValue.Farmer.self,
      at: other
    )
    try easy.inContext { (context: ManagedObjectContext) throws -> Void in
      let cow = EasyValue.Cow("cow")
      cow.stall = Stall(row: 2)
      context.insert(cow)
      try context.save()
    }
    try await easy.close()
    let refused = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer(
        "Farm",
        models: NeedyValue.Beast.self,
        NeedyValue.Farmer.self,
        at: other
      )
    }
    #expect(refused?.refusal?.description.contains("Cow.stall.row is required") == true)
  }
}
