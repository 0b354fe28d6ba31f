import Foundation
import Predicates

/// Lists of members that objects keep, so that `album.songs.append(song)` on an array doesn't list the songs each time.
///
/// An array doesn't record its changes. So the context remembers the list that it handed out, and compares: if the new
/// list begins with the old one, all members behind that are new. The comparison reads eight bytes a member, and
/// accesses no member itself. Every other change of the same relationship makes the list invalid, and so does
/// everything that moves the context on: saving, rolling back, refreshing, deleting.
struct MemberListings {
  private struct Place: Hashable {
    let entity: Int
    let toMany: Int
    let owner: ObjectNumber
  }
  struct Listing {
    let owner: any ManagedObject
    let toMany: Int
    var members: [ObjectIdentifier]
    /// The greatest number of a member: members are listed by their numbers.
    var last: ObjectNumber
    /// The number of the last sweep of the members' identity map, when the list was handed out. The list alone holds
    /// its members.
    var sweepNumber: Int

    /// Returns the number of members behind these in a list that begins with these; nil if the list begins otherwise.
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

    /// Makes the owner forget its list.
    fileprivate func drop() {
      var dropper = RelationshipDropper()
      owner._$visit(owner._$objectModel.slotCount + toMany, &dropper)
    }
  }
  private var listings: [Place: Listing] = [:]

  /// The greatest number of lists that are kept: each holds its members in memory.
  private static let limit = 64

  var isEmpty: Bool { listings.isEmpty }

  /// Notes that the owner hands out its list. Returns false if that list is not up to date.
  mutating func handOut(_ entity: Int, _ toMany: Int, owner: ObjectNumber, sweepNumber: Int) -> Bool {
    let place = Place(entity: entity, toMany: toMany, owner: owner)
    listings[place]?.sweepNumber = sweepNumber
    return listings[place] != nil
  }

  func listing(_ entity: Int, _ toMany: Int, owner: ObjectNumber) -> Listing? {
    listings[Place(entity: entity, toMany: toMany, owner: owner)]
  }

  mutating func note(_ listing: Listing, _ entity: Int) {
    if listings.count >= Self.limit { removeAll() }
    listings[Place(entity: entity, toMany: listing.toMany, owner: listing.owner._$state.number)] = listing
  }

  /// Removes the listing, and returns it.
  mutating func take(_ entity: Int, _ toMany: Int, owner: ObjectNumber) -> Listing? {
    listings.removeValue(forKey: Place(entity: entity, toMany: toMany, owner: owner))
  }

  /// Removes the listing of an owner whose members have changed, and makes the owner forget its list.
  mutating func drop(_ entity: Int, _ toMany: Int, owner: ObjectNumber) {
    if isEmpty { return }
    take(entity, toMany, owner: owner)?.drop()
  }

  mutating func removeAll() {
    for listing in listings.values { listing.drop() }
    listings = [:]
  }
}

/// The keeper of a context's listings, which the context's objects ask.
struct ListKeeper {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  func hasListing(of object: any ManagedObject, toMany: Int) -> Bool {
    let entity = context.entity(of: object)
    return context.listings.handOut(
      entity.ordinal,
      toMany,
      owner: object._$state.number,
      sweepNumber: sweepNumber(entity, toMany)
    )
  }

  func noteListing(_ members: [some ManagedObject], of object: any ManagedObject, toMany: Int) {
    let entity = context.entity(of: object)
    let listing = MemberListings.Listing(
      owner: object,
      toMany: toMany,
      members: members.map { ObjectIdentifier($0) },
      last: members.last?._$state.number ?? .none,
      sweepNumber: sweepNumber(entity, toMany)
    )
    context.listings.note(listing, entity.ordinal)
  }

  func extendListing(
    to members: [some ManagedObject],
    of object: any ManagedObject,
    toMany: Int
  ) -> ListExtension {
    let entity = context.entity(of: object)
    let owner = object._$state.number
    guard var listing = context.listings.listing(entity.ordinal, toMany, owner: owner),
      listing.sweepNumber == sweepNumber(entity, toMany), let added = listing.added(in: members)
    else {
      context.listings.drop(entity.ordinal, toMany, owner: owner)
      return .otherList
    }
    // Adopting a member may bring in objects that become members, too, or remove some: adopting them then drops the
    // listing.
    let property = object._$objectModel.slotCount + toMany
    let adopted = members.suffix(added).filter {
      context.adopt($0) && context.accepts($0, of: object, property: property)
    }
    var isRight = context.listings.take(entity.ordinal, toMany, owner: owner) != nil && adopted.count == added
    let isOrdered = context.relationships.order(of: entity.toManys[toMany]) != nil
    for member in adopted {
      let number = member._$state.number
      // An ordered list ends with the object that was added last, unless that was a member before.
      let isLast =
        isOrdered ? !context.isElement(number, of: object, toMany: toMany) : number > listing.last
      isRight = isRight && isLast
      context.add(member, to: object, toMany: toMany)
      listing.members.append(ObjectIdentifier(member))
      listing.last = member._$state.number
    }
    if isRight { context.listings.note(listing, entity.ordinal) }
    return isRight ? .listed : .added
  }

  /// Returns the number of the last sweep of the members' identity map.
  private func sweepNumber(_ entity: StoredEntity, _ toMany: Int) -> Int {
    context.entities[entity.toManys[toMany].destination].known.sweepNumber
  }
}
