import Cambium
import GraphTestSupport
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

@Model final class Rack {
  @Relationship(deleteRule: .cascade, inverse: \Tome.rack) var tomes: [Tome] = []

  init() {}
}

@Model final class Tome {
  var isLent: Bool = false
  @Relationship var rack: Rack?
  @Relationship(deleteRule: .cascade) var cover: Cover?

  init() {}

  func validateForDelete() throws {
    if isLent { throw ValidationError("is lent", properties: ["isLent"]) }
  }
}

@Model final class Cover {
  var name: String = ""
  @Attribute(.derived("name[cd]")) var foldedName: String
  @Relationship var printer: Printer?

  init() {}

  func validateForInsert() throws {
    if name.isEmpty != foldedName.isEmpty && context?.isReadOnly == true {
      throw ValidationError("isn't derived")
    }
    if name == "bad" { throw ValidationError("bad", properties: ["name"]) }
  }
}

@Model final class Printer {
  @Relationship(inverse: \Cover.printer) var covers: [Cover] = []

  init() {}
}

@Model final class Poster {
  var hangs: Bool = false
  @Relationship var cover: Cover?

  init() {}

  func validateForUpdate() throws {
    if hangs, cover == nil { throw ValidationError("shows nothing", properties: ["cover"]) }
  }
}

@Model final class Fan {
  var name: String = ""
  @Relationship var favourite: Novelist?

  init() {}
}

/// Another context links objects to an object that this context deletes. The deletion removes these links, so the
/// linked objects get a state that neither context has shown.
struct LateLinkTests {
  private let mine: ManagedObjectContext
  private let theirs: ManagedObjectContext
  private let novelist = Novelist()
  private let prize = Prize()
  private let novel = Novel("n")

  init() async throws {
    let store = try await PersistentContainer(
      "Books",
      models: [
        Novelist.self, Novel.self, Prize.self, Fan.self, Rack.self, Tome.self, Cover.self, Poster.self,
        Printer.self,
      ],
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

  /// The save searches few changes of other contexts in another way than many changes.
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

  /// The object at the other end of the link is deleted by this context, or by a rule because of another link.
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

  /// The novel gets its title by the merge, and loses its writer by the deletion. It is validated once for both.
  @Test func anObjectThatIsMergedAndLosesALinkFailsOnce() throws {
    let same = try theirs.existingObject(Novel.self, with: novel.objectID)
    same.isPublished = true
    same.novelist = try theirs.existingObject(Novelist.self, with: novelist.objectID)
    try theirs.save()
    novel.title = "mine"
    mine.delete(novelist)
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .validationFailed && error?.failures.count == 1)
  }

  /// A save takes a second turn only once because of objects without rules, whatever other contexts change in them.
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
    let ordinal = try #require(request.entities.firstIndex { $0.entity.name == "Fan" })
    let key = ObjectKey(entity: ordinal, number: fan._$state.number)
    var (validations, failures) = (SaveValidations(), SaveFailures())
    let owners = try request.validatedObjects([key], in: theirs.source)
    #expect(validations.unknown(among: owners, on: request.baseCommit, &failures).count == 1)
    try validations.validate(owners, savedBy: request, mine.coordinator)
    fan.name = "other"
    try theirs.save()
    let later = try request.validatedObjects([key], in: theirs.source)
    #expect(validations.unknown(among: later, on: request.baseCommit, &failures).isEmpty)
    try mine.save()
    try theirs.refresh()
    #expect(fan.favourite == nil)
  }

  /// An object that this save links to another object keeps this link.
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

  /// After the deletion, the context moves past the commit that has made the link. The view context does so by itself.
  @Test(arguments: [false, true]) func aContextThatHasMovedOnValidates(isLink: Bool) throws {
    let theirNovel = try theirs.existingObject(Novel.self, with: novel.objectID)
    if isLink {
      let theirPrize = try theirs.existingObject(Prize.self, with: prize.objectID)
      theirPrize.novels = [theirNovel]
      theirPrize.isGiven = true
      mine.delete(novel)
    } else {
      theirNovel.novelist = try theirs.existingObject(Novelist.self, with: novelist.objectID)
      theirNovel.isPublished = true
      mine.delete(novelist)
    }
    try theirs.save()
    try mine.refresh()
    expectRefused(isLink ? prize.objectID : novel.objectID)
  }

  /// A rule deletes an object to which this save itself has made a link.
  @Test func aLinkMadeHereToWhatARuleDeletesIsLost() throws {
    let same = try theirs.existingObject(Novel.self, with: novel.objectID)
    same.cascadingNovelist = try theirs.existingObject(Novelist.self, with: novelist.objectID)
    try theirs.save()
    prize.novels = [novel]
    prize.isGiven = true
    mine.delete(novelist)
    expectRefused(prize.objectID)
  }

  @Test(arguments: [0, 20]) func whatRollbackKeepsIsValidatedWithoutItsReference(others: Int) throws {
    novel.novelist = novelist
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Novel.self, with: novel.objectID).isPublished = true
    for number in 0..<others { theirs.insert(Novel("\(number)")) }
    try theirs.save()
    mine.mergePolicy = .rollback
    mine.delete(novelist)
    expectRefused(novel.objectID)
  }

  private func rackWithCoveredTome() throws -> (Rack, Tome, Cover) {
    let (rack, tome, cover) = (Rack(), Tome(), Cover())
    for object in [rack, tome, cover] as [any ManagedObject] { mine.insert(object) }
    tome.cover = cover
    try mine.save()
    try theirs.refresh()
    return (rack, tome, cover)
  }

  @Test func theToOneRulesOfWhatARuleDeletesAreFollowed() throws {
    let (rack, tome, cover) = try rackWithCoveredTome()
    let poster = Poster()
    mine.insert(poster)
    poster.cover = cover
    poster.hangs = true
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Tome.self, with: tome.objectID).rack = try theirs.existingObject(
      Rack.self,
      with: rack.objectID
    )
    try theirs.save()
    mine.delete(rack)
    expectRefused(poster.objectID)
  }

  @Test(arguments: [false, true]) func whatARuleDeletesMayRefuse(isMerged: Bool) throws {
    let (rack, tome, _) = try rackWithCoveredTome()
    let same = try theirs.existingObject(Tome.self, with: tome.objectID)
    same.isLent = true
    if !isMerged { same.rack = try theirs.existingObject(Rack.self, with: rack.objectID) }
    try theirs.save()
    mine.mergePolicy = .mergeByPropertyStoreTrump
    if isMerged { mine.delete(tome) } else { mine.delete(rack) }
    expectRefused(tome.objectID)
    same.isLent = false
    try theirs.save()
    try mine.save()
    try theirs.refresh()
    #expect(try theirs.count(From<Tome>()) == 0)
  }

  /// The first turn of the save is refused. The derived value of the new name is computed only in the store.
  @Test func whatIsDerivedIsReadInAValidation() throws {
    let (cover, printer) = (Cover(), Printer())
    cover.name = "a"
    mine.insert(cover)
    mine.insert(printer)
    try mine.save()
    try theirs.refresh()
    try theirs.existingObject(Cover.self, with: cover.objectID).printer = try theirs.existingObject(
      Printer.self,
      with: printer.objectID
    )
    try theirs.save()
    cover.name = "B"
    mine.delete(printer)
    try mine.save()
    #expect(cover.foldedName == "b" && cover.printer == nil)
  }

  /// The rule deletes an object that this save inserts. The store gets no part of it.
  @Test func aNewObjectThatARuleDeletesIsNotAsked() throws {
    let (rack, tome, _) = try rackWithCoveredTome()
    try theirs.existingObject(Tome.self, with: tome.objectID).rack = try theirs.existingObject(
      Rack.self,
      with: rack.objectID
    )
    try theirs.save()
    let new = Cover()
    new.name = "new"
    mine.insert(new)
    tome.cover = new
    mine.delete(rack)
    try mine.save()
    #expect(try mine.count(From<Tome>()) == 0 && mine.count(From<Cover>().where { $0.name == "new" }) == 0)
  }
}
