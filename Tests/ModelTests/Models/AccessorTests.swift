import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Testing

@testable import GraphContext

/// Every accessor of every kind of property, over objects in every state that a program can meet. Nothing traps, and
/// values that can't be read are nil or empty.
struct AccessorTests {
  enum Colour: String, AttributeType, CaseIterable { case red, green }

  @Model final class Badge {
    #Unique<Badge>([\.code])
    var code: Int
    var flag: Bool = false
    var tiny: Int8 = 0
    var wide: UInt64 = 0
    var single: Float = 0
    var double: Double = 0
    var exact: Decimal = 0
    var text: String = ""
    var bytes: Data = Data()
    var moment: Date = Date(timeIntervalSince1970: 0)
    var key: UUID = UUID()
    var colour: Colour = Colour.red
    var optionalNumber: Int?
    var optionalText: String?
    var optionalColour: Colour?
    var optionalExact: Decimal?
    @Relationship var owner: Owner
    @Relationship var deputy: Owner?
    @Relationship(inverse: \Owner.lent) var borrowers: [Owner] = []
    @Relationship(inverse: \Owner.seen) var witnesses: Set<Owner> = []
    @Relationship(deleteRule: .cascade, inverse: \Mark.badge) var marks: ToMany<Mark> = []

    init(_ code: Int, owner: Owner) {
      self.code = code
      self.owner = owner
    }
  }

  @Model final class Owner {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Badge.owner) var badges: [Badge] = []
    @Relationship var lent: ToMany<Badge> = []
    @Relationship var seen: [Badge] = []
    @Relationship var boss: Owner?
    init(_ name: String) { self.name = name }
  }

  @Model final class Mark {
    var number: Int
    @Relationship var badge: Badge
    init(_ number: Int, badge: Badge) {
      self.number = number
      self.badge = badge
    }
  }

  /// Returns the ID of an object that is not new. Asking a new object for its ID is the only mistake that traps.
  private static func id(_ object: some ManagedObject) -> ManagedObjectID? {
    object._$state.phase == .new ? nil : object.id
  }

  /// Calls of the getters.
  private static let readers: [@Sendable (Badge) -> Any] = [
    { $0.code }, { $0.flag }, { $0.tiny }, { $0.wide }, { $0.single }, { $0.double }, { $0.exact },
    { $0.text }, { $0.bytes },
    { $0.moment }, { $0.key }, { $0.colour }, { $0.optionalNumber as Any }, { $0.optionalText as Any },
    { $0.optionalColour as Any }, { $0.optionalExact as Any }, { $0.owner }, { id($0.owner) as Any },
    { id($0.owner)?.description as Any },
    { $0.owner.name }, { $0.owner.boss?.name as Any }, { $0.owner.badges.map(\.code) },
    { $0.owner.lent.count },
    { $0.owner.isDeleted }, { $0.owner.hasChanges }, { $0.owner.isFault }, { $0.owner.hashValue },
    { $0.owner == $0.owner },
    { $0.deputy as Any }, { $0.deputy.flatMap { id($0) } as Any }, { $0.deputy?.name as Any },
    { $0.borrowers.map(\.name) },
    { $0.witnesses.map(\.name) }, { $0.witnesses.map { id($0) } }, { $0.marks.count }, { $0.marks.isEmpty },
    { $0.marks.map { ($0.number, $0.badge.code, id($0.badge.owner), id($0)) } }, { $0.isDeleted },
    { $0.isInserted },
    { $0.hasChanges }, { $0.isFault }, { $0.hashValue }, { $0.objectReference as Any },
    { (try? (\Badge.code > 1).evaluate($0)) as Any },
  ]

  /// Calls of the setters, and of mutating methods of collections.
  private static let writers: [@Sendable (Badge, Owner, Mark) -> Void] = [
    { badge, _, _ in badge.code = 77 }, { badge, _, _ in badge.text += "x" },
    { badge, _, _ in badge.colour = .green },
    { badge, _, _ in badge.optionalNumber = nil }, { badge, _, _ in badge.exact += 1 },
    { badge, _, _ in badge.bytes.append(1) },
    { badge, owner, _ in badge.owner = owner }, { badge, _, _ in badge.owner = badge.owner },
    { badge, owner, _ in badge.deputy = owner },
    { badge, _, _ in badge.deputy = nil }, { badge, owner, _ in badge.borrowers.append(owner) },
    { badge, owner, _ in badge.borrowers = [owner] }, { badge, _, _ in badge.borrowers = [] },
    { badge, owner, _ in badge.witnesses.insert(owner) }, { badge, _, _ in badge.witnesses.removeAll() },
    { badge, _, mark in badge.marks.append(mark) }, { badge, _, mark in badge.marks.remove(mark) },
    { badge, _, _ in badge.marks = [] }, { badge, owner, _ in owner.badges.append(badge) },
    { badge, owner, _ in owner.lent.append(badge) }, { badge, _, mark in mark.badge = badge },
    { badge, _, _ in badge.owner.name = "?" }, { badge, _, _ in badge.owner.lent.append(badge) },
  ]

  private static let states: [(String, Setting.Make)] = [
    ("in no context", { setting in setting.badge(saved: false) }),
    (
      "inserted",
      { setting in
        let badge = setting.badge(saved: false)
        setting.context.insert(badge)
        return badge
      }
    ),
    (
      "rolled back",
      { setting in
        let badge = setting.badge(saved: false)
        setting.context.insert(badge)
        setting.context.rollback()
        return badge
      }
    ),
    ("a fault", { setting in try setting.fault() }),
    (
      "changed",
      { setting in
        let badge = try setting.fault()
        badge.code = 5
        return badge
      }
    ),
    (
      "deleted here, unread",
      { setting in
        let badge = try setting.fault()
        setting.context.delete(badge)
        return badge
      }
    ),
    (
      "deletion saved",
      { setting in
        let badge = try setting.fault()
        setting.context.delete(badge)
        try setting.context.save()
        return badge
      }
    ),
    (
      "deleted elsewhere",
      { setting in
        let badge = try setting.fault()
        try setting.elsewhere { context in try context.fetch(From<Badge>()).forEach { context.delete($0) } }
        return badge
      }
    ),
    (
      "deleted elsewhere, seen",
      { setting in
        let badge = try setting.fault()
        try setting.elsewhere { context in try context.fetch(From<Badge>()).forEach { context.delete($0) } }
        try setting.context.refresh()
        return badge
      }
    ),
    (
      "owner deleted elsewhere by force",
      { setting in
        let badge = try setting.fault()
        try setting.store.write { transaction in try transaction.dropTree(setting.container.tree("e/Owner")) }
        try setting.context.refresh()
        return badge
      }
    ),
    (
      "of no record",
      { setting in
        let id = ManagedObjectID(entityName: "Badge", number: 9_999, storeID: setting.context.storeID)
        return try setting.context.object(Badge.self, with: id)
      }
    ),
    (
      "reset",
      { setting in
        let badge = try setting.fault()
        setting.context.reset()
        return badge
      }
    ),
    (
      "context over",
      { setting in
        let badge = try setting.fault()
        setting.context.end()
        return badge
      }
    ),
    (
      "store closed",
      { setting in
        let badge = try setting.fault()
        try setting.container.close()
        return badge
      }
    ),
    (
      "damaged record",
      { setting in
        let badge = try setting.fault()
        try setting.store.write { transaction in
          try transaction.tree(setting.container.tree("e/Badge")).put(setting.key(of: badge), [1, 2, 3])
        }
        // The refresh throws an error, and moves the context on.
        try? setting.context.refresh()
        return badge
      }
    ),
    (
      "an object for what could not be read",
      { setting in
        let badge = try setting.fault()
        try setting.elsewhere { context in try context.fetch(From<Mark>()).forEach { context.delete($0) } }
        let mark = try setting.context.object(Mark.self, with: setting.markID)
        try setting.context.refresh()
        return mark.badge === badge ? badge : mark.badge
      }
    ),
  ]

  /// A store with a badge, and a context that has read nothing of it.
  private final class Setting {
    typealias Make = @Sendable (Setting) throws -> Badge
    let container: PersistentContainer
    let context: ManagedObjectContext
    let badgeID: ManagedObjectID
    let markID: ManagedObjectID
    var store: Store { container.store }

    init(_ container: PersistentContainer) throws {
      self.container = container
      let first = try ManagedObjectContext(coordinator: container.coordinator)
      let badge = Badge(1, owner: Owner("A"))
      first.insert(badge)
      badge.deputy = Owner("B")
      badge.borrowers = [Owner("C")]
      badge.witnesses = [badge.owner]
      let mark = Mark(1, badge: badge)
      first.insert(mark)
      try first.save()
      (badgeID, markID) = (badge.objectID, mark.objectID)
      first.end()
      context = try ManagedObjectContext(coordinator: container.coordinator)
    }

    /// Another context of the same store.
    init(sharing other: Setting) throws {
      container = other.container
      (badgeID, markID) = (other.badgeID, other.markID)
      context = try ManagedObjectContext(coordinator: container.coordinator)
    }

    func badge(saved: Bool) -> Badge { Badge(2, owner: Owner("N")) }
    func fault() throws -> Badge { try context.object(Badge.self, with: badgeID) }
    func key(of badge: Badge) -> [UInt8] {
      withUnsafeBytes(of: badge.objectID.number.rawValue.bigEndian) { Array($0) }
    }

    func elsewhere(_ body: (ManagedObjectContext) throws -> Void) throws {
      let other = try ManagedObjectContext(coordinator: container.coordinator)
      try body(other)
      try other.save()
      other.end()
    }
  }

  private func setting() async throws -> Setting {
    try Setting(
      await PersistentContainer("Badges", models: Badge.self, Owner.self, Mark.self, at: .inMemory)
    )
  }

  /// States that are made without changing the store.
  private static let statesOfAContextAlone: Set = [
    "in no context", "inserted", "rolled back", "a fault", "changed", "deleted here, unread", "of no record",
    "reset", "context over",
  ]

  @Test(arguments: states.indices) func nothingTraps(_ place: Int) async throws {
    let (name, make) = Self.states[place]
    // Reading doesn't change the store, so the next reader only needs a context that has read nothing of the store.
    let shared: Setting? = Self.statesOfAContextAlone.contains(name) ? try await setting() : nil
    for reader in Self.readers {
      let setting = if let shared { try Setting(sharing: shared) } else { try await setting() }
      let badge = try make(setting)
      // Twice: the first may have loaded something.
      _ = (reader(badge), reader(badge))
      setting.context.rollback()
      _ = reader(badge)
    }
    for writer in Self.writers {
      let setting = try await setting()
      let badge = try make(setting)
      let owner = Owner("X")
      writer(badge, owner, Mark(9, badge: badge))
      for reader in Self.readers { _ = reader(badge) }
      // Saved, or refused with an error.
      try? setting.context.save()
      setting.context.delete(badge)
      setting.context.insert(badge)
      setting.context.refresh(badge)
      // Refused, unless the badge was never saved.
      try? setting.context.save()
      for reader in Self.readers { _ = reader(badge) }
      setting.context.rollback()
      setting.context.delete(badge)
      try? setting.context.save()
      for reader in Self.readers { _ = reader(badge) }
    }
    #expect(!name.isEmpty)
  }

  @Test func whatStandsForAnUnreadableObjectNamesNone() async throws {
    let setting = try await setting()
    let badge = try setting.fault()
    try setting.elsewhere { context in try context.fetch(From<Badge>()).forEach { context.delete($0) } }
    try setting.context.refresh()
    let owner = badge.owner
    #expect(
      owner.isDeleted && owner.objectID.number == 0 && owner.objectID.storeID == setting.context.storeID
    )
    #expect(owner.objectReference == nil)
    let error = #expect(throws: ContextError.self) {
      try setting.context.existingObject(Owner.self, with: owner.objectID)
    }
    #expect(error?.code == .objectNotFound)
    #expect(throws: ContextError.self) { try setting.context.object(Owner.self, with: owner.objectID) }
    #expect(setting.context.registeredObject(Owner.self, with: owner.objectID) == nil)
    expectMistake { try setting.context.fetch(From<Badge>().where { $0.owner == owner }) }
    expectMistake {
      try setting.context.fetch(From<Badge>().where { $0.owner == owner.objectID })
    }
  }
}
