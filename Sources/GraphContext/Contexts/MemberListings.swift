import Foundation
import Predicates

/// Lists of members that objects keep, so that `album.songs.append(song)` on an array doesn't list the songs each time.
///
/// An array can't say what was done to it. So the context remembers the list that it handed out, and compares: if the new one begins
/// with it, whatever is behind is new. That reads eight bytes a member, and touches none. Every other change of the same relationship makes
/// the list invalid, and so does everything that moves the context on: saving, rolling back, refreshing, deleting.
struct MemberListings {
  private struct Place: Hashable {
    let entity: Int
    let toMany: Int
    let owner: UInt64
  }
  struct Listing {
    let owner: any ManagedObject
    let toMany: Int
    var members: [ObjectIdentifier]
    /// The greatest number of a member: members are listed by their numbers.
    var last: UInt64

    /// How many members a list has more, if it begins with these; nil if it doesn't.
    func added(in list: [some ManagedObject]) -> Int? {
      guard list.count >= members.count else { return nil }
      // Safety: an array of objects lies in memory as their addresses, and so do their identifiers.
      let isPrefix = list.withUnsafeBytes { new in
        members.withUnsafeBytes { old in
          guard let first = old.baseAddress, let second = new.baseAddress else { return old.isEmpty }
          return memcmp(first, second, old.count) == 0
        }
      }
      return isPrefix ? list.count - members.count : nil
    }

    /// Takes the list out of its owner.
    fileprivate func drop() {
      var dropper = ListingDropper()
      owner._$visit(type(of: owner)._$model.slotCount + toMany, &dropper)
    }
  }
  private var listings: [Place: Listing] = [:]

  var isEmpty: Bool { listings.isEmpty }

  func contains(_ entity: Int, _ toMany: Int, owner: UInt64) -> Bool {
    listings[Place(entity: entity, toMany: toMany, owner: owner)] != nil
  }

  mutating func note(_ listing: Listing, _ entity: Int) {
    listings[Place(entity: entity, toMany: listing.toMany, owner: listing.owner._$state.number)] = listing
  }

  /// The listing, which is noted no longer.
  mutating func take(_ entity: Int, _ toMany: Int, owner: UInt64) -> Listing? {
    listings.removeValue(forKey: Place(entity: entity, toMany: toMany, owner: owner))
  }

  /// The members of this relationship of this owner are others now.
  mutating func drop(_ entity: Int, _ toMany: Int, owner: UInt64) {
    if isEmpty { return }
    take(entity, toMany, owner: owner)?.drop()
  }

  mutating func removeAll() {
    for listing in listings.values { listing.drop() }
    listings = [:]
  }
}

private struct ListingDropper: PropertyVisitor {
  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {}
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {
    cache.unattached = nil
  }
}

// MARK: - What objects ask

extension ManagedObjectContext {
  func isListed(_ object: any ManagedObject, toMany: Int) -> Bool {
    listings.contains(entity(of: type(of: object)).ordinal, toMany, owner: object._$state.number)
  }

  func list(_ members: [some ManagedObject], of object: any ManagedObject, toMany: Int) {
    let listing = MemberListings.Listing(
      owner: object,
      toMany: toMany,
      members: members.map { ObjectIdentifier($0) },
      last: members.last?._$state.number ?? 0
    )
    listings.note(listing, entity(of: type(of: object)).ordinal)
  }

  func extendList(to members: [some ManagedObject], of object: any ManagedObject, toMany: Int) -> Bool {
    let entity = entity(of: type(of: object))
    guard var listing = listings.take(entity.ordinal, toMany, owner: object._$state.number),
      let added = listing.added(in: members)
    else { return false }
    for member in members.suffix(added) {
      guard adopt(member), member._$state.number > listing.last else { return false }
      link(member, to: object, toMany: toMany)
      listing.members.append(ObjectIdentifier(member))
      listing.last = member._$state.number
    }
    listings.note(listing, entity.ordinal)
    return true
  }
}
