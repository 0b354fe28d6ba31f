import Predicates

// The unsaved changes of the order of members.

extension ManagedObjectContext {
  /// Returns the unsaved changes of an owner's list; nil for none.
  func pendingList(of owner: ObjectNumber, in table: ListTable) -> PendingList? {
    pendingLists(in: table)?[owner]
  }

  /// Returns the unsaved changes of all lists of a relationship, kept up to date from now on.
  func pendingLists(in table: ListTable) -> PendingLists? {
    switch table.origin {
    case .members(let slots):
      let entity = entity(table.entity)
      guard let position = entity.toOnes.firstIndex(where: { $0.slot == slots.reference }) else { return nil }
      workOutReferences(at: position, of: entity)
      return entities[table.entity].references[position]?.lists
    case .pairs(let places):
      if entities[places.entity].pairs[places.position].lists == nil {
        let lists = makeLists(in: places)
        entities[places.entity].pairs[places.position].keep(lists)
      }
      return entities[places.entity].pairs[places.position].lists
    }
  }

  /// Changes the unsaved lists of a relationship, if they have been asked for yet.
  func changeLists(in table: ListTable, _ body: (inout PendingLists) -> Void) {
    switch table.origin {
    case .members(let slots):
      let toOnes = entity(table.entity).toOnes
      guard let position = toOnes.firstIndex(where: { $0.slot == slots.reference }) else { return }
      entities[table.entity].changeLists(ofReference: position, body)
    case .pairs(let places): entities[places.entity].pairs[places.position].changeLists(body)
    }
  }

  /// Works out the unsaved changes of all lists of a to-one relationship.
  func makeLists(in list: ReferenceList) -> PendingLists {
    let entity = entity(list.entity)
    return entities[list.entity].changes.lists(in: list.slots) { number in
      deferringError(nil) { () throws(ContextError) in
        guard let bytes = try source.record(number, of: entity) else { return nil }
        let record = RecordView(validated: bytes, layout: entity.layout)
        return (record.reference(list.slots.reference), record.listEntry(number, in: list.slots))
      }
    }
  }

  // MARK: Lists of links

  /// Works out the unsaved changes of all lists of a many-to-many relationship. O(k log k) for k links with unsaved
  /// changes.
  private func makeLists(in places: PairPlaces) -> PendingLists {
    var lists = PendingLists()
    let links = entities[places.entity].pairs[places.position].links
    let moved = entities[places.entity].pairs[places.position].places.byOwner
    for owner in Set(links.added.keys).union(links.removed.keys).union(moved.keys) {
      var added = links.added[owner, default: []].map { listEntry(of: $0, in: owner, places) }
      var removed = links.removed[owner, default: []].map { storedEntry(of: $0, in: owner, places) }
      for (element, place) in moved[owner, default: [:]]
      where shows(element, in: owner, places, besides: links) {
        let (old, new) = (
          storedEntry(of: element, in: owner, places), ListEntry(place: place, number: element)
        )
        if old == new { continue }
        removed.append(old)
        added.append(new)
      }
      lists.set(PendingList(added: added.sorted(), removed: removed.sorted()), of: owner)
    }
    return lists
  }

  /// Returns whether the source shows a link that has no unsaved changes but its place. Another context may have
  /// removed it.
  private func shows(
    _ element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces,
    besides links: PendingLinks
  ) -> Bool {
    if links.isLinked(owner, element) != nil { return false }
    let table = entity(places.entity).toManys[places.position].links
    return deferringError(false) { () throws(ContextError) in try source.isLinked(owner, element, in: table) }
  }

  /// Returns the entry of an element in the list of its owner, unsaved changes included.
  func listEntry(of element: ObjectNumber, in owner: ObjectNumber, _ places: PairPlaces) -> ListEntry {
    entities[places.entity].pairs[places.position].listEntry(of: element, in: owner)
      ?? storedEntry(of: element, in: owner, places)
  }

  private func storedEntry(
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces
  ) -> ListEntry {
    let place = deferringError(nil) { () throws(ContextError) in
      try source.place(of: element, in: owner, places)
    }
    return ListEntry(place: place, number: element)
  }

  /// Gives a link a place. The lists follow separately.
  func setPlace(
    _ place: ListPlace,
    of element: ObjectNumber,
    in owner: ObjectNumber,
    _ places: PairPlaces
  ) {
    let (entity, position) = (places.entity, places.position)
    notePlace(of: PairEnd(owner, element, in: places))
    listings.drop(entity, position, owner: owner)
    // If the source has the link, setting the place that it has there is no change.
    let isStored =
      entities[entity].pairs[position].links.isLinked(owner, element) == nil
      && storedEntry(of: element, in: owner, places).place == place
    entities[entity].pairs[position].setPlace(isStored ? nil : place, of: element, in: owner)
    children.forEach { $0.parentOrderDidChange(ofPairs: position, entity) }
  }

  /// Updates the unsaved lists when a link of an ordered relationship is added or removed. Called twice, before the
  /// link changes and after.
  func changeLists(with pair: PairEnd, isThere: Bool) {
    let hasLists = entities[pair.entity].pairs[pair.position].lists != nil
    // A relationship without an order has neither lists nor places, and each of its links takes this path.
    if !hasLists, entities[pair.entity].pairs[pair.position].places.isEmpty { return }
    guard let table = entity(pair.entity).toManys[pair.position].list, case .pairs(let places) = table.origin
    else { return }
    if hasLists {
      let entry = listEntry(of: pair.element, in: pair.owner, places)
      changeLists(in: table) {
        if isThere { $0.insert(entry, of: pair.owner) } else { $0.remove(entry, of: pair.owner) }
      }
    }
    if !isThere { entities[pair.entity].pairs[pair.position].setPlace(nil, of: pair.element, in: pair.owner) }
  }
}

extension PairEnd {
  init(_ owner: ObjectNumber, _ element: ObjectNumber, in places: PairPlaces) {
    self.init(entity: places.entity, position: places.position, owner: owner, element: element)
  }
}

extension ChangedObjects {
  /// Returns the unsaved changes of the lists of a to-one relationship.
  ///
  /// - Parameter stored: returns the owner and the entry that an object has in the source.
  fileprivate func lists(
    in slots: PlaceSlots,
    _ stored: (ObjectNumber) -> (owner: ObjectNumber, ListEntry)?
  ) -> PendingLists {
    var result = PendingLists()
    func insert(_ object: any ManagedObject) {
      result.insert(object.listEntry(in: slots), of: object.reference(at: slots.reference))
    }
    for object in inserted { insert(object) }
    for object in updated where !object._$state.changed.isDisjoint(with: slots.both) {
      if let (owner, entry) = stored(object._$state.number) { result.remove(entry, of: owner) }
      insert(object)
    }
    for object in deleted {
      if let (owner, entry) = stored(object._$state.number) { result.remove(entry, of: owner) }
    }
    return result
  }
}
