import Predicates

/// The keeper of the order of a context's ordered relationships. It gives objects their places, and keeps the unsaved
/// changes of each list up to date.
struct OrderKeeper {
  private let context: ManagedObjectContext
  private let table: ListTable
  private let entity: StoredEntity

  init(_ context: ManagedObjectContext, _ table: ListTable) {
    self.context = context
    self.table = table
    entity = context.entity(table.entity)
  }

  // MARK: Reading

  /// Returns the members of an owner in their order, unsaved changes included.
  func list(of owner: ObjectNumber) -> MergedList {
    MergedList(
      source: context.source,
      table: table,
      owner: owner,
      pending: context.pendingList(of: owner, in: table)
    )
  }

  /// Returns the entry of a member of an owner's list.
  func entry(of object: any ManagedObject, in owner: ObjectNumber) -> ListEntry {
    switch table.origin {
    case .members(let slots): object.listEntry(in: slots)
    case .pairs(let places): context.listEntry(of: object._$state.number, in: owner, places)
    }
  }

  private func count(of owner: ObjectNumber) -> Int {
    context.deferringError(0) { () throws(ContextError) in try list(of: owner).count() }
  }

  private func entries(of owner: ObjectNumber, at range: Range<Int>) -> [ListEntry] {
    context.deferringError([]) { () throws(ContextError) in
      try list(of: owner).entries(at: range.clamped(to: 0..<Int.max))
    }
  }

  // MARK: Changing

  /// Notes that an object has a new owner, and makes it the last one in the owner's list.
  func didRelink(_ object: any ManagedObject, from old: ObjectNumber, to new: ObjectNumber) {
    let entry = entry(of: object, in: new)
    context.changeLists(in: table) {
      $0.remove(entry, of: old)
      $0.insert(entry, of: new)
    }
    if new.isNone { return }
    holdPlace(of: object)
    makeLast(object, of: new)
  }

  /// Makes the place that the context shows for an object an unsaved change, like the reference to the new owner.
  /// Otherwise a place that another context gives the object in its old list would count in the new one. A new object
  /// is stored with all of its values.
  private func holdPlace(of object: any ManagedObject) {
    guard case .members(let slots) = table.origin, object._$state.phase == .persistent else { return }
    var writer = SlotWriter(value: object.attributeValue(at: slots.place))
    object._$visit(slots.place, &writer)
    object._$state.didSet(slots.place)
  }

  /// Makes a new member of an owner's list its last one.
  func makeLast(_ object: any ManagedObject, of owner: ObjectNumber) {
    if object._$state.phase == .deleted { return }
    let count = count(of: owner)
    // The list has the object, so a count of 0 means that it can't be read; the context has noted the error.
    if count == 0 { return }
    // If the object's current place, perhaps from another list, already is the last one, it stays.
    if entries(of: owner, at: count - 1..<count).first == entry(of: object, in: owner) { return }
    move([object], to: count - 1, of: owner)
  }

  /// Moves members of an owner together, one after the other, so that the first has this position among the other
  /// members.
  func move(_ objects: [any ManagedObject], to position: Int, of owner: ObjectNumber) {
    // A deleted object is in no list, even if the program has put it into one.
    let objects = objects.filter { $0._$state.phase != .deleted }
    if objects.isEmpty { return }
    _ = context.pendingLists(in: table)
    tellOfMoves(objects, of: owner)
    for object in objects {
      let entry = entry(of: object, in: owner)
      context.changeLists(in: table) { $0.remove(entry, of: owner) }
    }
    let neighbours = place(objects, at: position, of: owner)
    tellOfMoves(objects + neighbours, of: owner)
  }

  /// Gives all members of an owner this order. As many members as possible that are already in this order keep their
  /// places.
  func arrange(_ numbers: [ObjectNumber], of owner: ObjectNumber) {
    let current = entries(of: owner, at: 0..<count(of: owner)).map(\.number)
    var positions = Dictionary(current.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    // An array may contain a member twice: its first position counts.
    var seen: Set<ObjectNumber> = []
    let named = numbers.filter { positions[$0] != nil && seen.insert($0).inserted }
    let wanted = named.count == current.count ? named : named + current.filter { !seen.contains($0) }
    if wanted == current { return }
    let kept = LongestAscent.indices(of: wanted.map { positions[$0] ?? 0 })
    positions = [:]
    let objects = wanted.map { context.object($0, of: entity) }
    _ = context.pendingLists(in: table)
    tellOfMoves(objects, of: owner)
    for (index, object) in objects.enumerated() where !kept[index] {
      let entry = entry(of: object, in: owner)
      context.changeLists(in: table) { $0.remove(entry, of: owner) }
    }
    var start = 0
    while start < objects.count {
      let end = kept[start...].firstIndex(of: !kept[start]) ?? objects.count
      if !kept[start] { _ = place(Array(objects[start..<end]), at: start, of: owner) }
      start = end
    }
    tellOfMoves(objects, of: owner)
  }

  /// Gives places in the list of their owner to objects that the list lacks for the moment.
  ///
  /// - Returns: the other objects that got new places.
  private func place(
    _ objects: [any ManagedObject],
    at position: Int,
    of owner: ObjectNumber
  ) -> [any ManagedObject] {
    let first = max(0, position - 1)
    let neighbours = entries(of: owner, at: first..<position + 1)
    let lower = position > 0 ? neighbours.first : nil
    let upper = neighbours.dropFirst(position - first).first
    if upper == nil, hasNaturalOrder(objects, after: lower) { return placeByNumbers(objects, in: owner) }
    let places = ListPlace.places(
      objects.count,
      after: lower?.place,
      before: upper?.place,
      limit: ListPlace.greatestByteCount
    )
    guard let places else { return spread(objects, at: position, of: owner) }
    for (object, place) in zip(objects, places) { put(object, place, in: owner, isListed: false) }
    return []
  }

  /// Gives the places of their numbers to objects that their lists lack.
  ///
  /// - Returns: no object, because no other gets a new place.
  private func placeByNumbers(_ objects: [any ManagedObject], in owner: ObjectNumber) -> [any ManagedObject] {
    for object in objects { put(object, nil, in: owner, isListed: false) }
    return []
  }

  /// Returns whether the objects come behind an entry, and one behind the other, by their numbers alone.
  private func hasNaturalOrder(_ objects: [any ManagedObject], after entry: ListEntry?) -> Bool {
    var last = entry
    for object in objects {
      let number = object._$state.number
      let next = ListEntry(place: ListPlace(of: number), number: number)
      if let last, next < last { return false }
      last = next
    }
    return true
  }

  /// Makes room for objects where there is none: gives other places to their neighbours, to more of them until there is
  /// room.
  ///
  /// - Returns: the neighbours.
  private func spread(
    _ objects: [any ManagedObject],
    at position: Int,
    of owner: ObjectNumber
  ) -> [any ManagedObject] {
    let count = count(of: owner)
    var reach = Self.neighbourCount
    // Here and below: the list can't be read, and the context has noted the error.
    if position > count { return placeByNumbers(objects, in: owner) }
    while true {
      let range = max(0, position - reach)..<min(count, position + reach)
      let window = entries(of: owner, at: max(0, range.lowerBound - 1)..<range.upperBound + 1)
      let lower = range.lowerBound > 0 ? window.first : nil
      let upper = range.upperBound < count ? window.last : nil
      let places = ListPlace.places(
        range.count + objects.count,
        after: lower?.place,
        before: upper?.place,
        limit: ListPlace.spreadByteCount
      )
      if let places {
        let inner = window.dropFirst(lower == nil ? 0 : 1).dropLast(upper == nil ? 0 : 1)
        let others = inner.map { context.object($0.number, of: entity) }
        let before = position - range.lowerBound
        for (object, place) in zip(others.prefix(before), places) {
          put(object, place, in: owner, isListed: true)
        }
        for (object, place) in zip(objects, places[before...]) {
          put(object, place, in: owner, isListed: false)
        }
        for (object, place) in zip(others.dropFirst(before), places[(before + objects.count)...]) {
          put(object, place, in: owner, isListed: true)
        }
        return others
      }
      // A whole list has room for all.
      if range == 0..<count { return placeByNumbers(objects, in: owner) }
      reach *= 4
    }
  }

  /// The number of members on either side that get other places at first, where there is no room between two.
  private static let neighbourCount = 32

  // MARK: Places

  /// Gives a place to an object that its list has; nil stands for the place of its number.
  func setPlace(of object: any ManagedObject, in owner: ObjectNumber, _ place: ListPlace?) {
    if ListEntry(place: place, number: object._$state.number) != entry(of: object, in: owner) {
      tellOfMoves([object], of: owner)
    }
    put(object, place, in: owner, isListed: true)
  }

  /// - Parameter isListed: whether the list of its owner has the object at the place that it had.
  private func put(
    _ object: any ManagedObject,
    _ place: ListPlace?,
    in owner: ObjectNumber,
    isListed: Bool
  ) {
    let old = entry(of: object, in: owner)
    let new = ListEntry(place: place, number: old.number)
    if new != old {
      keep(new, of: object, in: owner)
    } else if isListed {
      return
    }
    context.changeLists(in: table) {
      if isListed { $0.remove(old, of: owner) }
      $0.insert(new, of: owner)
    }
  }

  /// Stores a place where the list's places are stored.
  private func keep(_ entry: ListEntry, of object: any ManagedObject, in owner: ObjectNumber) {
    switch table.origin {
    case .members(let slots):
      context.children.forEach { $0.parentMembersWillChange(ofReferencesIn: entity.ordinal) }
      if let toOne = entity.toOne(slot: slots.reference), case .toMany(let inverse) = toOne.inverse {
        context.listings.drop(toOne.destination, inverse, owner: owner)
      }
      object._$willSet(slots.place)
      let isNatural = entry == ListEntry(place: nil, number: entry.number)
      var writer = SlotWriter(value: isNatural ? .null : entry.place._attributeValue)
      object._$visit(slots.place, &writer)
    case .pairs(let places): context.setPlace(entry.place, of: entry.number, in: owner, places)
    }
  }

  /// Tells the observers of a list that objects in it move. An observer may read the list, so callers tell it before
  /// they take the first object out, and again after they have put the last one in.
  private func tellOfMoves(_ objects: [any ManagedObject], of owner: ObjectNumber) {
    if context.observation == nil { return }
    switch table.origin {
    case .members(let slots):
      guard let toOne = entity.toOne(slot: slots.reference) else { return }
      for object in objects {
        let member = ObjectKey(entity: entity.ordinal, number: object._$state.number)
        context.tellOfMember(toOne, slots.both, of: member, owner: owner)
      }
    case .pairs(let places):
      for object in objects {
        context.tellOfPair(PairEnd(owner, object._$state.number, in: places), isMoved: true)
      }
    }
  }
}

extension ManagedObject {
  /// Returns the place of an object and its number: its entry in the list of its owner.
  func listEntry(in slots: PlaceSlots) -> ListEntry {
    let place = ListPlace(_attributeValue: attributeValue(at: slots.place))
    return ListEntry(place: place, number: _$state.number)
  }
}

extension RecordView {
  /// Returns the place in a record and the number of its object.
  func listEntry(_ number: ObjectNumber, in slots: PlaceSlots) -> ListEntry {
    let place = isNull(slots.place) ? nil : ListPlace(Array(variable(slots.place)))
    return ListEntry(place: place, number: number)
  }
}
