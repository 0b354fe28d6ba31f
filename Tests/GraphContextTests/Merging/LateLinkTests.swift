import Cambium
import Testing

@testable import GraphContext

@Model final class Novelist {
  var name: String = ""
  @Relationship(inverse: \Novel.novelist) var novels: [Novel] = []
  @Relationship(deleteRule: .cascade, inverse: \Novel.cascadingNovelist) var owned: [Novel] = []

  init() {}
}

@Model final class Novel {
  var title: String
  var isPublished: Bool = false
  @Relationship var novelist: Novelist?
  @Relationship var cascadingNovelist: Novelist?
  @Relationship var prizes: [Prize] = []

  init(_ title: String) { self.title = title }

  func validateForUpdate() throws {
    if isPublished, novelist == nil {
      throw ValidationError("nobody has written it", properties: ["novelist"])
    }
  }
}

@Model final class Prize {
  var isGiven: Bool = false
  @Relationship(inverse: \Novel.prizes) var novels: [Novel] = []

  init() {}

  func validateForUpdate() throws {
    if isGiven, novels.isEmpty { throw ValidationError("for nothing", properties: ["novels"]) }
  }
}

@Model final class Fan {
  var name: String = ""
  @Relationship var favourite: Novelist?

  init() {}
}

/// Another context links objects to one that is deleted here: the deletion takes links away that neither context has shown without.
struct LateLinkTests {
  private let mine: ManagedObjectContext
  private let theirs: ManagedObjectContext
  private let novelist = Novelist()
  private let prize = Prize()
  private let novel = Novel("n")

  init() async throws {
    let store = try await PersistentContainer(
      "Books",
      models: Novelist.self,
      Novel.self,
      Prize.self,
      Fan.self,
      at: .inMemory
    )
    (mine, theirs) = (try store.context(), try store.context())
    for object in [novelist, prize, novel] as [any ManagedObject] { mine.insert(object) }
    try mine.save()
    try theirs.refresh()
  }

  private func expectRefused(_ id: ManagedObjectID) {
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed && error?.context.objectID == id)
  }

  /// Few and many changes of others are searched in two ways.
  @Test(arguments: [false, true], [0, 20]) func anObjectThatLosesItsReferenceIsValidated(
    isNew: Bool,
    others: Int
  ) throws {
    let other = isNew ? Novel("new") : try theirs.existingObject(Novel.self, with: novel.objectID)
    if isNew { theirs.insert(other) }
    for number in 0..<others { theirs.insert(Novel("\(number)")) }
    other.novelist = try theirs.existingObject(Novelist.self, with: novelist.objectID)
    other.isPublished = true
    try theirs.save()
    mine.delete(novelist)
    expectRefused(other.objectID)
    other.isPublished = false
    try theirs.save()
    try mine.save()
    try theirs.refresh()
    #expect(other.novelist == nil)
  }

  /// The link of an object that is deleted here, or by a rule because of another link.
  @Test(arguments: [false, true]) func anObjectThatLosesALinkIsValidated(cascades: Bool) throws {
    let (theirPrize, theirNovel) = (
      try theirs.existingObject(Prize.self, with: prize.objectID),
      try theirs.existingObject(Novel.self, with: novel.objectID)
    )
    theirPrize.isGiven = true
    theirPrize.novels = [theirNovel]
    if cascades {
      theirNovel.cascadingNovelist = try theirs.existingObject(Novelist.self, with: novelist.objectID)
    }
    try theirs.save()
    if cascades { mine.delete(novelist) } else { mine.delete(novel) }
    expectRefused(prize.objectID)
    theirPrize.isGiven = false
    try theirs.save()
    try mine.save()
    try theirs.refresh()
    #expect(try theirPrize.novels.isEmpty && theirs.count(From<Novel>()) == 0)
  }

  /// Whatever others do to objects without rules, the save takes a second turn once.
  @Test func objectsWithoutRulesAreFoundOnce() throws {
    let theirs = theirs
    let same = try theirs.existingObject(Novelist.self, with: novelist.objectID)
    let fan = Fan()
    theirs.insert(fan)
    fan.favourite = same
    try theirs.save()
    mine.delete(novelist)
    var request = try ChangeEncoder(mine, SaveFailures()).encode()
    request.baseCommit = theirs.source.commit
    let owners = try request.owners(
      request.entities.map { $0.entity.name == "Fan" ? [fan._$state.number] : [] },
      in: theirs.source
    )
    var validations = SettledValidations()
    #expect(owners.count == 1 && validations.noteFailures(of: owners, in: &request).count == 1)
    try validations.validate(owners, savedBy: request, mine.coordinator)
    fan.name = "other"
    try theirs.save()
    let later = try request.owners(
      request.entities.map { $0.entity.name == "Fan" ? [fan._$state.number] : [] },
      in: theirs.source
    )
    #expect(validations.noteFailures(of: later, in: &request).isEmpty)
    try mine.save()
    try theirs.refresh()
    #expect(fan.favourite == nil)
  }

  /// What this save leads elsewhere keeps its link.
  @Test func aReferenceThatIsSetHereIsNotLost() throws {
    let other = Novelist()
    mine.insert(other)
    novel.novelist = novelist
    novel.isPublished = true
    try mine.save()
    try theirs.refresh()
    let same = try theirs.existingObject(Novel.self, with: novel.objectID)
    same.title = "renamed"
    try theirs.save()
    novel.novelist = other
    mine.delete(novelist)
    try mine.save()
    #expect(novel.novelist === other && novel.title == "renamed")
  }
}
