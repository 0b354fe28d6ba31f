import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class Crew {
  var name: String = ""
  var least: Int = 1
  @Relationship(inverse: \Sailor.crews) var sailors: [Sailor] = []

  init() {}

  func validateForUpdate() throws {
    // The sailors have no rules, so this call has no effect.
    for sailor in sailors { try sailor.validateForUpdate() }
    if sailors.count < least { throw ValidationError("too few sailors", properties: ["sailors"]) }
  }
}

@Model final class Sailor {
  var name: String
  @Relationship var crews: [Crew] = []

  init(_ name: String) { self.name = name }
}

@Model final class Pilot {
  var name: String
  var flies: Bool = false
  @Relationship(inverse: \Plane.pilot) var plane: Plane?

  init(_ name: String) { self.name = name }

  func validateForInsert() throws {
    if flies, plane == nil { throw ValidationError("no plane", properties: ["plane"]) }
  }
}

@Model final class Plane {
  var code: Int = 0
  @Relationship var pilot: Pilot?

  init() {}
}

/// Links that two contexts change, and links that a merge removes from a third object, are validated together, as
/// values are.
struct MergedLinkValidationTests {
  private let store: PersistentContainer
  private let mine: ManagedObjectContext
  private let theirs: ManagedObjectContext
  private let crew = Crew()
  private let sailors = [Sailor("a"), Sailor("b")]
  private let same: Crew

  init() async throws {
    store = try await PersistentContainer(
      "Crews",
      models: [Crew.self, Sailor.self, Pilot.self, Plane.self],
      at: .inMemory
    )
    (mine, theirs) = (try store.context(), try store.context())
    mine.insert(crew)
    crew.sailors = sailors
    try mine.save()
    try theirs.refresh()
    same = try theirs.existingObject(Crew.self, with: crew.objectID)
  }

  private func expectRefused() {
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == crew.objectID)
    mine.rollback()
  }

  @Test func linksThatDoNotFitTogetherAreRefused() throws {
    same.sailors = same.sailors.filter { $0.name == "a" }
    try theirs.save()
    crew.sailors = [sailors[1]]
    expectRefused()
  }

  /// The links are seen from the other end, too.
  @Test func linksOfTheOtherEndCountAsWell() throws {
    let other = try #require(same.sailors.first { $0.name == "b" })
    other.crews = []
    try theirs.save()
    sailors[0].crews = []
    expectRefused()
  }

  @Test func linksHereAndAnAttributeThereAreRefused() throws {
    same.least = 2
    try theirs.save()
    crew.sailors = [sailors[0]]
    expectRefused()
  }

  @Test func anAttributeHereAndLinksThereAreRefused() throws {
    same.sailors = same.sailors.filter { $0.name == "a" }
    try theirs.save()
    crew.least = 2
    expectRefused()
  }

  @Test func linksThatFitTogetherAreStored() throws {
    let new = Sailor("c")
    theirs.insert(new)
    same.sailors.append(new)
    try theirs.save()
    crew.sailors = [sailors[0]]
    try mine.save()
    let reader = try store.context()
    defer { reader.end() }
    #expect(Set(try reader.fetch(From<Crew>())[0].sailors.map(\.name)) == ["a", "c"])
  }

  /// Before the merge, this context had no reason to validate the object: only the merge changes it.
  @Test func anObjectThatLosesItsPartnerIsValidated() throws {
    let (first, second, plane) = (Pilot("1"), Pilot("2"), Plane())
    for pilot in [first, second] { mine.insert(pilot) }
    mine.insert(plane)
    try mine.save()
    try theirs.refresh()
    let rival = try theirs.existingObject(Pilot.self, with: second.objectID)
    rival.plane = try theirs.existingObject(Plane.self, with: plane.objectID)
    rival.flies = true
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyObjectTrump
    first.plane = plane
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == second.objectID)
  }

  /// The plane of a new pilot keeps the pilot that another context has given it.
  @Test func aNewObjectThatLosesItsPartnerIsValidated() throws {
    let (old, plane) = (Pilot("1"), Plane())
    mine.insert(old)
    mine.insert(plane)
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Pilot.self, with: old.objectID).plane = try theirs.existingObject(
      Plane.self,
      with: plane.objectID
    )
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyStoreTrump
    let new = Pilot("2")
    new.flies = true
    mine.insert(new)
    new.plane = plane
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == new.objectID)
    new.flies = false
    try mine.save()
    #expect(new.plane == nil && plane.pilot === old)
  }

  /// A new object is unified with an existing one. Its passport replaces the existing object's passport, which loses
  /// its bearer.
  @Test func anObjectThatLosesAUnifiedPartnerIsValidated() async throws {
    let store = try await PersistentContainer("Users", models: Bearer.self, Passport.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let (ann, old) = (Bearer("Ann"), Passport(1))
    context.insert(ann)
    ann.passport = old
    try context.save()
    let again = Bearer("Ann")
    context.insert(again)
    again.passport = Passport(2)
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == old.objectID)
  }

  /// The merge drops the value that this context has set in the object, and the unification changes the object again.
  @Test func anObjectThatIsPutBackAndUnifiedIsValidated() async throws {
    let store = try await PersistentContainer("Users", models: Bearer.self, Passport.self, at: .inMemory)
    let (mine, theirs) = (try store.context(), try store.context())
    let (ann, old) = (Bearer("Ann"), Passport(1))
    mine.insert(ann)
    ann.passport = old
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Passport.self, with: old.objectID).number = 7
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyStoreTrump
    old.number = 8
    let again = Bearer("Ann")
    mine.insert(again)
    again.passport = Passport(2)
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == old.objectID)
  }

  /// Both ends of a link that leads to an existing object instead of a new one. The validation rule is declared at
  /// one end or the other.
  @Test(arguments: [false, true], [false, true]) func aLinkToAnExistingObjectIsValidated(
    isOfDecal: Bool,
    isStored: Bool
  ) async throws {
    let store = try await PersistentContainer("Desk", models: Decal.self, Dossier.self, at: .inMemory)
    let context = try store.context()
    defer { context.end() }
    let (decal, dossier) = (Decal("x"), Dossier())
    if isOfDecal { decal.isBlocked = true } else { decal.isSecret = true }
    context.insert(decal)
    if isStored { context.insert(dossier) }
    try context.save()
    if !isStored { context.insert(dossier) }
    dossier.decals = [Decal("x")]
    let error = #expect(throws: ContextError.self) { try context.save() }
    #expect(error?.code == .validationFailed)
    #expect(error?.context.objectID == (isOfDecal ? decal.objectID : dossier.objectID))
  }
}

@Model final class Bearer {
  @Attribute(.unique(ifExists: .merge)) var name: String
  @Relationship(inverse: \Passport.bearer) var passport: Passport?

  init(_ name: String) { self.name = name }
}

@Model final class Passport {
  var number: Int
  @Relationship var bearer: Bearer?

  init(_ number: Int) { self.number = number }

  func validateForUpdate() throws {
    if bearer == nil { throw ValidationError("nobody's", properties: ["bearer"]) }
  }
}

@Model final class Decal {
  @Attribute(.unique(ifExists: .keep)) var name: String
  var isBlocked: Bool = false
  var isSecret: Bool = false
  @Relationship(inverse: \Dossier.decals) var dossiers: [Dossier] = []

  init(_ name: String) { self.name = name }

  func validateForInsert() throws {
    if isBlocked, !dossiers.isEmpty { throw ValidationError("is blocked", properties: ["dossiers"]) }
  }
}

@Model final class Dossier {
  var title: String = ""
  @Relationship var decals: [Decal] = []

  init() {}

  func validateForInsert() throws {
    if decals.contains(where: \.isSecret) { throw ValidationError("is open", properties: ["decals"]) }
  }
}
