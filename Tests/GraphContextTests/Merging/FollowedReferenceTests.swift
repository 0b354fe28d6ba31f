import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class Jury {
  @Relationship(deleteRule: .cascade, inverse: \Medal.jury) var medals: [Medal] = []

  init() {}
}

@Model final class Medal {
  @Relationship var jury: Jury?
  @Relationship(inverse: \Winner.medals) var winners: [Winner] = []

  init() {}
}

@Model final class Winner {
  var name: String = ""
  @Relationship var medals: [Medal] = []

  init() {}
}

@Model final class Carton {
  @Relationship(deleteRule: .cascade, inverse: \Parcel.carton) var parcels: [Parcel] = []

  init() {}
}

@Model final class Parcel {
  @Relationship var carton: Carton?
  @Relationship(deleteRule: .cascade) var gift: Gift?
  @Relationship(deleteRule: .deny) var customs: Customs?

  init() {}
}

@Model final class Gift {
  init() {}
}

@Model final class Customs {
  init() {}
}

@Model final class Padlock {
  @Relationship(deleteRule: .cascade, inverse: \PadlockKey.lock) var key: PadlockKey?

  init() {}
}

@Model final class PadlockKey {
  @Relationship var lock: Padlock?

  init() {}
}

@Model final class Strongroom {
  @Relationship(deleteRule: .deny, inverse: \StrongroomCode.vault) var code: StrongroomCode?

  init() {}
}

@Model final class StrongroomCode {
  @Relationship var vault: Strongroom?

  init() {}
}

@Model final class Mount {
  @Relationship(deleteRule: .cascade, inverse: \MountedPhoto.mount) var photo: MountedPhoto?

  init() {}
}

@Model final class MountedPhoto {
  @Relationship var mount: Mount

  init(_ mount: Mount) { self.mount = mount }
}

@Model final class GiftTag {
  var note: String = ""
  var hangs: Bool = false
  @Relationship var gift: Gift?

  init() {}

  func validateForUpdate() throws {
    if hangs, gift == nil { throw ValidationError("hangs on nothing", properties: ["gift"]) }
  }
}

extension Parcel {
  /// An empty store in memory with the models of this file.
  static func store() async throws -> PersistentContainer {
    try await PersistentContainer(
      "Parcels",
      models: [
        Carton.self, Parcel.self, Gift.self, Customs.self, GiftTag.self, Jury.self, Medal.self, Winner.self,
        Padlock.self, PadlockKey.self, Strongroom.self, StrongroomCode.self, Mount.self, MountedPhoto.self,
      ],
      at: .inMemory
    )
  }
}

/// The references that a deletion follows. References that a context has set before it deletes an object lead to the
/// objects that the context has chosen.
struct FollowedReferenceTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext
  private let parcel = Parcel()
  private let gift = Gift()
  private let customs = Customs()

  init() async throws {
    store = try await Parcel.store()
    context = try store.context()
    for object in [parcel, gift, customs] as [any ManagedObject] { context.insert(object) }
    parcel.gift = gift
    try context.save()
  }

  /// The ways in which a program may delete a parcel without its gift.
  enum Rescue: CaseIterable, Sendable { case takesOut, replaces, deletesCarton, discardsDeletion }

  @Test(arguments: Rescue.allCases, [0, 1, 2]) func whatWasTakenOutStays(_ rescue: Rescue, depth: Int) throws
  {
    if rescue == .deletesCarton {
      let carton = Carton()
      context.insert(carton)
      parcel.carton = carton
      try context.save()
    }
    var lowest = context
    var children: [ManagedObjectContext] = []
    for _ in 0..<depth {
      lowest = lowest.makeChild()
      children.append(lowest)
    }
    let same = try lowest.existingObject(Parcel.self, with: parcel.objectID)
    let sameGift = try lowest.existingObject(Gift.self, with: gift.objectID)
    var expected = 1
    switch rescue {
    case .takesOut:
      same.gift = nil
      lowest.delete(same)
    case .replaces:
      let other = Gift()
      lowest.insert(other)
      same.gift = other
      lowest.delete(same)
    case .deletesCarton:
      same.gift = nil
      lowest.delete(try #require(same.carton))
    case .discardsDeletion:
      lowest.delete(same)
      lowest.discardChanges(of: sameGift)
      if sameGift.isDeleted { expected = 0 }
    }
    #expect(try lowest.count(From<Gift>()) == expected)
    for child in children.reversed() { try child.save() }
    #expect(try context.count(From<Gift>()) == expected)
    try context.save()
    #expect(try context.count(From<Gift>()) == expected)
    #expect(try context.count(From<Parcel>()) == 0)
    #expect(try store.verify().map(\.description) == [])
  }

  /// The parent assigns another gift to the parcel after its child has deleted the parcel. The deletion also deletes
  /// the gift that the parcel leads to now.
  @Test func whatTheParentHasSetSinceIsTakenAlong() throws {
    let child = context.makeChild()
    child.delete(try child.existingObject(Parcel.self, with: parcel.objectID))
    let other = Gift()
    context.insert(other)
    parcel.gift = other
    try context.save()
    try child.save()
    try context.save()
    #expect(try context.fetch(From<Gift>()).filter { $0 === other }.isEmpty)
    #expect(try store.verify().map(\.description) == [])
  }

  @Test(arguments: [false, true]) func whatDeniesMayBeTakenOutBefore(usesChild: Bool) throws {
    parcel.customs = customs
    try context.save()
    let lowest = usesChild ? context.makeChild() : context
    let same = try lowest.existingObject(Parcel.self, with: parcel.objectID)
    same.customs = nil
    lowest.delete(same)
    if usesChild { try lowest.save() }
    try context.save()
    #expect(try context.count(From<Parcel>()) == 0)
    #expect(try context.count(From<Customs>()) == 1)
  }

  /// Another context has set the reference, too. The deletion follows the reference of the store.
  @Test func whatOthersHaveSetIsTakenAlong() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    let other = try store.context()
    defer { other.end() }
    let theirs = Gift()
    other.insert(theirs)
    try other.existingObject(Parcel.self, with: parcel.objectID).gift = theirs
    try other.save()
    parcel.gift = nil
    context.delete(parcel)
    try context.save()
    #expect(try context.fetch(From<Gift>()) == [gift])
  }

  /// Both ends of a one-to-one relationship are deleted in the child, while the parent gives one of them another partner.
  @Test(arguments: [false, true]) func aPartnerThatTheParentHasGivenLeadsNowhere(clears: Bool) throws {
    let (padlock, key, other) = (Padlock(), PadlockKey(), PadlockKey())
    for object in [padlock, key, other] as [any ManagedObject] { context.insert(object) }
    padlock.key = key
    try context.save()
    let child = context.makeChild()
    let same = try child.existingObject(Padlock.self, with: padlock.objectID)
    if clears { same.key = nil }
    child.delete(same)
    // If the reference isn't cleared, the deletion of the padlock also deletes the key.
    if clears { child.delete(try child.existingObject(PadlockKey.self, with: key.objectID)) }
    padlock.key = other
    try child.save()
    #expect(other.isDeleted || other.lock == nil)
    try context.save()
    #expect(try context.count(From<Padlock>()) == 0)
    #expect(try store.verify().map(\.description) == [])
  }

  /// Another context has given the deleted object a partner that this save gives to a second object. The second
  /// object keeps the partner.
  @Test func aPartnerThatIsGivenAwayStays() throws {
    let (first, second) = (Padlock(), Padlock())
    let (key, other) = (PadlockKey(), PadlockKey())
    for object in [first, second, key, other] as [any ManagedObject] { context.insert(object) }
    first.key = key
    try context.save()
    let theirs = try store.context()
    defer { theirs.end() }
    try theirs.existingObject(Padlock.self, with: first.objectID).key = theirs.existingObject(
      PadlockKey.self,
      with: other.objectID
    )
    try theirs.save()
    context.mergePolicy = .mergeByPropertyObjectTrump
    second.key = other
    first.key = nil
    context.delete(first)
    try context.save()
    #expect(second.key === other && !key.isDeleted)
    #expect(try context.count(From<PadlockKey>()) == 2)
    #expect(try store.verify().map(\.description) == [])
  }

  @Test func whatAChildHasDecidedMayBeDenied() throws {
    let (vault, code, other) = (Strongroom(), StrongroomCode(), StrongroomCode())
    for object in [vault, code, other] as [any ManagedObject] { context.insert(object) }
    vault.code = code
    try context.save()
    let child = context.makeChild()
    let same = try child.existingObject(Strongroom.self, with: vault.objectID)
    same.code = nil
    child.delete(same)
    vault.code = other
    try child.save()
    #expect(other.vault == nil)
    try context.save()
    #expect(try context.count(From<Strongroom>()) == 0 && context.count(From<StrongroomCode>()) == 2)
  }

  /// The parent has mounted a photo that requires its mount.
  @Test func whatCannotBeWithoutTheDeletedObjectIsTakenAlong() throws {
    let (mount, second) = (Mount(), Mount())
    let (photo, other) = (MountedPhoto(mount), MountedPhoto(second))
    for object in [mount, second, photo, other] as [any ManagedObject] { context.insert(object) }
    try context.save()
    let child = context.makeChild()
    let third = Mount()
    child.insert(third)
    try child.existingObject(MountedPhoto.self, with: photo.objectID).mount = third
    child.delete(try child.existingObject(Mount.self, with: mount.objectID))
    other.mount = mount
    try child.save()
    try context.save()
    #expect(!photo.isDeleted && photo.mount.objectID == third.objectID)
    #expect(try context.count(From<MountedPhoto>()) == 1)
    #expect(try store.verify().map(\.description) == [])
  }

  /// The context in which a merged object is validated shows the state that will be stored, without further deletions.
  @Test func validationsSeeWhatWasTakenOut() throws {
    let tag = GiftTag()
    context.insert(tag)
    tag.gift = gift
    try context.save()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let other = try store.context()
    defer { other.end() }
    try other.existingObject(GiftTag.self, with: tag.objectID).note = "theirs"
    try other.save()
    tag.hangs = true
    parcel.gift = nil
    context.delete(parcel)
    try context.save()
    #expect(tag.gift === gift && tag.note == "theirs" && tag.hangs)
  }

  /// A save adds a link, and a delete rule deletes the object at one end. The link never was in the store, whichever
  /// end the rule has come from.
  @Test func passingLinksAreNoChange() async throws {
    let (jury, medal, winner) = (Jury(), Medal(), Winner())
    for object in [jury, medal, winner] as [any ManagedObject] { context.insert(object) }
    try context.save()
    let (other, third) = (try store.context(), try store.context())
    defer { [other, third].forEach { $0.end() } }
    try other.existingObject(Medal.self, with: medal.objectID).jury = other.existingObject(
      with: jury.objectID
    )
    try other.save()
    var updated: [ManagedObjectID] = []
    try third.refresh()
    let subscription = third.onObjectsDidChange { updated += $0.updated }
    context.mergePolicy = .mergeByPropertyObjectTrump
    winner.medals = [medal]
    context.delete(jury)
    try context.save()
    try third.refresh()
    #expect(try third.count(From<Medal>()) == 0)
    #expect(updated == [])
    withExtendedLifetime(subscription) {}
  }
}
