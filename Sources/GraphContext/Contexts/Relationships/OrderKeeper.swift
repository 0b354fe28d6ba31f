import Predicates

/// Keeps the order of a context's ordered relationships: gives objects their places, and keeps the unsaved changes of each list up to date.
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

  /// The members of an owner in their order, unsaved changes included.
  func list(of owner: ObjectNumber) -> MergedList {
    MergedList(
      source: context.source,
      table: table,
      owner: owner,
      pending: context.pendingList(of: owner, in: table)
    )
  }

  /// The entry of an object in the list of what it leads to now.
  func entry(of object: any ManagedObject) -> ListEntry { object.listEntry(in: table) }

  private func count(of owner: ObjectNumber) -> Int {
    context.deferringError(0) { () throws(ContextError) in try list(of: owner).count() }
  }

  private func entries(of owner: ObjectNumber, at range: Range<Int>) -> [ListEntry] {
    context.deferringError([]) { () throws(ContextError) in
      try list(of: owner).entries(at: range.clamped(to: 0..<Int.max))
    }
  }

  // MARK: Changing

  /// An object leads elsewhere. Its place in the list of the new owner is the last.
  func didRelink(_ object: any ManagedObject, from old: ObjectNumber, to new: ObjectNumber) {
    let entry = entry(of: object)
    change {
      $0.remove(entry, of: old)
      $0.insert(entry, of: new)
    }
    guard !new.isNone, object._$state.phase != .deleted else { return }
    let count = count(of: new)
    // The list has the object, so it can't be read; the context has noted the error.
    if count == 0 { return }
    // If the object's current place, perhaps from another list, already is the last one, it stays.
    if entries(of: new, at: count - 1..<count).first == entry { return }
    move([object], to: count - 1, of: new)
  }

  /// Makes these objects, members of an owner, come one after the other, so that the first has this position among the others.
  func move(_ objects: [any ManagedObject], to position: Int, of owner: ObjectNumber) {
    // A deleted object is in no list, though one may have been told to take it.
    let objects = objects.filter { $0._$state.phase != .deleted }
    if objects.isEmpty { return }
    _ = context.pendingLists(in: table)
    tellOfMoves(objects, of: owner)
    for object in objects {
      let entry = entry(of: object)
      change { $0.remove(entry, of: owner) }
    }
    let neighbours = place(objects, at: position, of: owner)
    tellOfMoves(objects + neighbours, of: owner)
  }

  /// Gives all members of an owner this order. Those that are in ascending order among themselves as it is, as many as can be, keep their places.
  func arrange(_ numbers: [ObjectNumber], of owner: ObjectNumber) {
    let current = entries(of: owner, at: 0..<count(of: owner)).map(\.number)
    var positions = Dictionary(current.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let named = numbers.filter { positions[$0] != nil }
    let others = Set(named)
    let wanted = named.count == current.count ? named : named + current.filter { !others.contains($0) }
    if wanted == current { return }
    let kept = LongestAscent.indices(of: wanted.map { positions[$0] ?? 0 })
    positions = [:]
    let objects = wanted.map { context.object($0, of: entity) }
    _ = context.pendingLists(in: table)
    tellOfMoves(objects, of: owner)
    for (index, object) in objects.enumerated() where !kept[index] {
      let entry = entry(of: object)
      change { $0.remove(entry, of: owner) }
    }
    var start = 0
    while start < objects.count {
      let end = kept[start...].firstIndex(of: !kept[start]) ?? objects.count
      if !kept[start] { _ = place(Array(objects[start..<end]), at: start, of: owner) }
      start = end
    }
    tellOfMoves(objects, of: owner)
  }

  /// Gives objects that the list of their owner lacks for the moment places in it.
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
    if upper == nil, hasNaturalOrder(objects, after: lower) { return placeByNumbers(objects) }
    let places = ListPlace.places(
      objects.count,
      after: lower?.place,
      before: upper?.place,
      limit: ListPlace.greatestByteCount
    )
    guard let places else { return spread(objects, at: position, of: owner) }
    for (object, place) in zip(objects, places) { put(object, place, isListed: false) }
    return []
  }

  /// Gives objects that their lists lack the places of their numbers.
  ///
  /// - Returns: no object, because no other gets a new place.
  private func placeByNumbers(_ objects: [any ManagedObject]) -> [any ManagedObject] {
    for object in objects { put(object, nil, isListed: false) }
    return []
  }

  /// Whether the objects come behind an entry, and one behind the other, by their numbers alone.
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

  /// Makes room for objects that find none: gives their neighbours other places, ever more of them until there is room.
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
    if position > count { return placeByNumbers(objects) }
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
        for (object, place) in zip(others.prefix(before), places) { put(object, place, isListed: true) }
        for (object, place) in zip(objects, places[before...]) { put(object, place, isListed: false) }
        for (object, place) in zip(others.dropFirst(before), places[(before + objects.count)...]) {
          put(object, place, isListed: true)
        }
        return others
      }
      // A whole list has room for all.
      if range == 0..<count { return placeByNumbers(objects) }
      reach *= 4
    }
  }

  /// How many members on either side get other places at first, where there is no room between two.
  private static let neighbourCount = 32

  /// Gives an object, whose list has it, a place; nil is that of its number.
  func setPlace(of object: any ManagedObject, _ place: ListPlace?) {
    let owner = object.reference(at: table.slot)
    if (place ?? ListPlace(of: object._$state.number)) != entry(of: object).place {
      tellOfMoves([object], of: owner)
    }
    put(object, place, isListed: true)
  }

  /// - Parameter isListed: whether the list of its owner has the object at the place that it had.
  private func put(_ object: any ManagedObject, _ place: ListPlace?, isListed: Bool) {
    let old = entry(of: object)
    let natural = ListPlace(of: old.number)
    let new = ListEntry(place: place ?? natural, number: old.number)
    let owner = object.reference(at: table.slot)
    if new.place != old.place {
      context.children.forEach { $0.parentMembersWillChange(ofReferencesIn: entity.ordinal) }
      if let toOne = entity.toOne(slot: table.slot), case .toMany(let inverse) = toOne.inverse {
        context.listings.drop(toOne.destination, inverse, owner: owner)
      }
      object._$willSet(table.placeSlot)
      var writer = SlotWriter(value: new.place == natural ? .null : new.place._attributeValue)
      object._$visit(table.placeSlot, &writer)
    } else if isListed {
      return
    }
    change {
      if isListed { $0.remove(old, of: owner) }
      $0.insert(new, of: owner)
    }
  }

  /// Tells the observers of a list that objects in it move. An observer may read the list, so callers tell it before they take the first object out, and
  /// again after they have put the last one in.
  private func tellOfMoves(_ objects: [any ManagedObject], of owner: ObjectNumber) {
    guard context.observation != nil, let toOne = entity.toOne(slot: table.slot) else { return }
    for object in objects {
      let member = ObjectKey(entity: entity.ordinal, number: object._$state.number)
      context.tellOfMember(toOne, table.referenceBit | table.placeBit, of: member, owner: owner)
    }
  }

  /// Changes the unsaved lists, if they have been asked for yet.
  private func change(_ body: (inout PendingLists) -> Void) {
    guard let position = entity.toOnes.firstIndex(where: { $0.slot == table.slot }) else { return }
    context.entities[entity.ordinal].changeLists(position, body)
  }
}

extension ManagedObject {
  /// The place of an object and its number: where it is in the list of what it leads to.
  fileprivate func listEntry(in table: ListTable) -> ListEntry {
    let number = _$state.number
    let place = ListPlace(_attributeValue: attributeValue(at: table.placeSlot))
    return ListEntry(place: place ?? ListPlace(of: number), number: number)
  }
}

// MARK: - Unsaved lists

extension ManagedObjectContext {
  /// The unsaved changes of an owner's list; nil for none.
  func pendingList(of owner: ObjectNumber, in table: ListTable) -> PendingList? {
    pendingLists(in: table)?[owner]
  }

  /// The unsaved changes of all lists of a relationship, kept up to date from now on.
  fileprivate func pendingLists(in table: ListTable) -> PendingLists? {
    let entity = entity(table.entity)
    guard let position = entity.toOnes.firstIndex(where: { $0.slot == table.slot }) else { return nil }
    workOutReferences(at: position, of: entity)
    return entities[table.entity].lists[position]
  }

  /// Works out the unsaved changes of all lists of a relationship.
  func makeLists(in table: ListTable) -> PendingLists {
    let entity = entity(table.entity)
    return entities[table.entity].changes.lists(in: table) { number in
      deferringError(nil) { () throws(ContextError) in
        guard let bytes = try source.record(number, of: entity) else { return nil }
        let record = RecordView(validated: bytes, layout: entity.layout)
        return (record.reference(table.slot), record.listEntry(number, in: table))
      }
    }
  }
}

extension RecordView {
  /// The place in a record and the number of its object.
  func listEntry(_ number: ObjectNumber, in table: ListTable) -> ListEntry {
    let place = isNull(table.placeSlot) ? nil : ListPlace(Array(variable(table.placeSlot)))
    return ListEntry(place: place ?? ListPlace(of: number), number: number)
  }
}

extension ChangedObjects {
  /// The unsaved changes of the lists of a to-one relationship.
  ///
  /// - Parameter stored: what the source has of an object: its owner, and its entry.
  fileprivate func lists(
    in table: ListTable,
    _ stored: (ObjectNumber) -> (owner: ObjectNumber, ListEntry)?
  ) -> PendingLists {
    var result = PendingLists()
    for object in inserted {
      result.insert(object.listEntry(in: table), of: object.reference(at: table.slot))
    }
    for object in updated where object._$state.changed & (table.referenceBit | table.placeBit) != 0 {
      if let (owner, entry) = stored(object._$state.number) { result.remove(entry, of: owner) }
      result.insert(object.listEntry(in: table), of: object.reference(at: table.slot))
    }
    for object in deleted {
      if let (owner, entry) = stored(object._$state.number) { result.remove(entry, of: owner) }
    }
    return result
  }
}
