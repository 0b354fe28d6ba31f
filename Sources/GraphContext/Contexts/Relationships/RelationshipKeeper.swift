import Predicates

/// The keeper of the relationships of a context's objects. It updates the inverses of relationships that are set, and
/// merges the pending links into the to-many relationships of the source.
struct RelationshipKeeper {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  // MARK: To-one

  /// Updates the inverse of a reference that was set, and the inverse of that inverse.
  func didSetToOne(
    of object: any ManagedObject,
    slot: Int,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    let entity = context.entity(of: object)
    guard let toOne = entity.toOne(slot: slot) else { return }
    if object._$state.phase == .deleted {
      // Its deletion has taken its links away.
      if !new.isNone { context.noteReference(ofDeleted: object, entity, slot: slot, to: new) }
      return
    }
    let number = object._$state.number
    relink(number, entity, toOne, from: old, to: new)
    // After the links have changed: the object has the new reference already, and an observer may list members.
    tellOfRelinking(number, entity, toOne, from: old, to: new)
    guard case .toOne(let inverseSlot) = toOne.inverse else { return }
    let destination = context.entity(toOne.destination)
    if !old.isNone { clear(context.object(old, of: destination), slot: inverseSlot, ifLeadingTo: number) }
    guard !new.isNone else { return }
    let target = context.object(new, of: destination)
    let rival = target.reference(at: inverseSlot)
    guard rival != number else { return }
    if !rival.isNone { clear(context.object(rival, of: entity), slot: slot, ifLeadingTo: new) }
    set(target, slot: inverseSlot, to: number)
  }

  private func clear(_ object: any ManagedObject, slot: Int, ifLeadingTo number: ObjectNumber) {
    if object.reference(at: slot) == number { set(object, slot: slot, to: .none) }
  }

  /// Sets a reference; the caller updates the inverse.
  func set(_ object: any ManagedObject, slot: Int, to new: ObjectNumber) {
    let entity = context.entity(of: object)
    guard let toOne = entity.toOne(slot: slot) else { return }
    let old = object.reference(at: slot)
    if object._$state.phase == .deleted {
      if !new.isNone { context.noteReference(ofDeleted: object, entity, slot: slot, to: new) }
      return object.setReference(at: slot, to: new)
    }
    guard old != new else { return }
    context.handedOver?.noteReference(at: slot, of: object._$state.number, entity)
    tellOfRelinking(object._$state.number, entity, toOne, from: old, to: new)
    object.setReference(at: slot, to: new)
    relink(object._$state.number, entity, toOne, from: old, to: new)
  }

  /// Brings pending links up to date, if there are any yet.
  func relink(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ toOne: StoredToOne,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    if case .toMany(let inverse) = toOne.inverse {
      context.listings.drop(toOne.destination, inverse, owner: old)
      context.listings.drop(toOne.destination, inverse, owner: new)
    }
    context.children.forEach { $0.parentMembersWillChange(ofReferencesIn: entity.ordinal) }
    guard let position = entity.toOnes.firstIndex(where: { $0.slot == toOne.slot }) else { return }
    context.entities[entity.ordinal].moveReference(position, of: number, from: old, to: new)
    guard let list = toOne.list, let object = context.knownObject(number, of: entity) else { return }
    OrderKeeper(context, list.table).didRelink(object, from: old, to: new)
  }

  /// Tells the observers of to-many relationships that one of the members leads elsewhere.
  ///
  /// An observer may list the members, and that makes the pending links if there are none yet. So the object's
  /// reference and the links must agree: call this before either changes, or after both.
  func tellOfRelinking(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    _ toOne: StoredToOne,
    from old: ObjectNumber,
    to new: ObjectNumber
  ) {
    if context.observation == nil { return }
    let member = ObjectKey(entity: entity.ordinal, number: number)
    let slots = SlotSet(toOne.slot)
    context.tellOfMember(toOne, slots, of: member, owner: old)
    context.tellOfMember(toOne, slots, of: member, owner: new)
  }

  // MARK: To-many

  func elements(of object: any ManagedObject, toMany: Int) -> [ObjectNumber] {
    let relationship = context.entity(of: object).toManys[toMany]
    let links = relationship.links
    let pending = context.pendingLinks(in: links)
    let owner = object._$state.number
    let order = order(of: relationship)
    return context.deferringError([]) { () throws(ContextError) in
      let elements: [ObjectNumber]
      if let order {
        let list = order.list(of: owner)
        elements = try list.entries(at: 0..<list.count()).map(\.number)
      } else {
        let stored = try context.source.elements(of: owner, in: links)
        elements = pending?.elements(of: owner, stored: stored) ?? stored
      }
      context.source.counters.membersListed += elements.count
      // Values that a child reads may change in its parent at any time.
      if context.parent == nil { context.memberReading.follow(elements, of: relationship.destination) }
      return elements
    }
  }

  /// Returns the keeper of the order of a relationship's members; nil where they have no order.
  func order(of relationship: StoredToMany) -> OrderKeeper? {
    relationship.list.map { OrderKeeper(context, $0) }
  }

  func elementCount(of object: any ManagedObject, toMany: Int) -> Int {
    let links = context.entity(of: object).toManys[toMany].links
    let pending = context.pendingLinks(in: links)
    let owner = object._$state.number
    return context.deferringError(0) { () throws(ContextError) in
      try max(0, context.source.elementCount(of: owner, in: links) + (pending?.difference(of: owner) ?? 0))
    }
  }

  func isElement(_ number: ObjectNumber, of object: any ManagedObject, toMany: Int) -> Bool {
    let links = context.entity(of: object).toManys[toMany].links
    let owner = object._$state.number
    if let answer = context.pendingLinks(in: links)?.isLinked(owner, number) { return answer }
    return context.deferringError(false) { () throws(ContextError) in
      try context.source.isLinked(owner, number, in: links)
    }
  }

  func add(_ element: any ManagedObject, to object: any ManagedObject, toMany: Int) {
    let relationship = context.entity(of: object).toManys[toMany]
    switch relationship.storage {
    case .references(let slot, _): set(element, slot: slot, to: object._$state.number)
    case .pairs:
      context.notePairIfDeleted(object, element, context.entity(of: object), toMany: toMany)
      guard !isElement(element._$state.number, of: object, toMany: toMany) else { return }
      forEachEnd(of: relationship, object, element) { change($0, isLinked: true) }
      makeLast(element, of: object, in: relationship)
    }
  }

  /// Restores a link that the source has. At both ends the link gets the place that it has in the source.
  func restorePair(_ element: any ManagedObject, of object: any ManagedObject, in relationship: StoredToMany)
  {
    forEachEnd(of: relationship, object, element) { change($0, isLinked: true) }
  }

  func remove(_ element: any ManagedObject, from object: any ManagedObject, toMany: Int) {
    let relationship = context.entity(of: object).toManys[toMany]
    switch relationship.storage {
    case .references(let slot, _):
      if element.reference(at: slot) == object._$state.number { set(element, slot: slot, to: .none) }
    case .pairs:
      guard isElement(element._$state.number, of: object, toMany: toMany) else { return }
      forEachEnd(of: relationship, object, element) { change($0, isLinked: false) }
    }
  }

  /// Makes the objects of a new link the last ones in each other's lists, where they have an order.
  private func makeLast(
    _ element: any ManagedObject,
    of object: any ManagedObject,
    in relationship: StoredToMany
  ) {
    order(of: relationship)?.makeLast(element, of: object._$state.number)
    guard case .pairs(let trees) = relationship.storage, trees.backwardOrder != nil,
      let inverse = trees.inverse
    else { return }
    let back = context.entity(relationship.destination).toManys[inverse]
    order(of: back)?.makeLast(object, of: element._$state.number)
  }

  /// Links or unlinks a pair at one of its ends. In an order it has the place of the element's number.
  func change(_ pair: PairEnd, isLinked: Bool) {
    let (entity, position, owner, element) = (pair.entity, pair.position, pair.owner, pair.element)
    context.tellOfPair(pair)
    context.notePair(pair, isLinked: isLinked)
    if !isLinked { context.changeLists(with: pair, isThere: false) }
    context.entities[entity].pairs[position].note(owner, element, isLinked: isLinked)
    if isLinked { context.changeLists(with: pair, isThere: true) }
    let table = context.entity(entity).toManys[position].links
    context.children.forEach { $0.parentDidChangePair(owner, element, table, isLinked: isLinked) }
  }

  /// Calls `body` for a pair that changes, seen from its one end and from the other.
  private func forEachEnd(
    of relationship: StoredToMany,
    _ object: any ManagedObject,
    _ element: any ManagedObject,
    _ body: (PairEnd) -> Void
  ) {
    guard case .pairs(let trees) = relationship.storage else { return }
    let entity = context.entity(of: object).ordinal
    let (owner, number) = (object._$state.number, element._$state.number)
    context.listings.drop(entity, relationship.ordinal, owner: owner)
    body(PairEnd(entity: entity, position: relationship.ordinal, owner: owner, element: number))
    guard let inverse = trees.inverse else { return }
    let isOwnInverse = relationship.destination == entity && relationship.ordinal == inverse
    if isOwnInverse, owner == number { return }
    context.listings.drop(relationship.destination, inverse, owner: number)
    body(PairEnd(entity: relationship.destination, position: inverse, owner: number, element: owner))
  }
}

// MARK: - Order

extension RelationshipKeeper {
  func elements(of object: any ManagedObject, toMany: Int, at range: Range<Int>) -> [ObjectNumber]? {
    let relationship = context.entity(of: object).toManys[toMany]
    guard let order = order(of: relationship) else { return nil }
    return context.deferringError([]) { () throws(ContextError) in
      let list = order.list(of: object._$state.number)
      let elements = try list.entries(at: range.clamped(to: 0..<list.count())).map(\.number)
      if elements.count < range.count {
        // Members are counted by their links, which a damaged store may have without their places.
        let expected = range.clamped(to: 0..<elementCount(of: object, toMany: toMany)).count
        if elements.count < expected { throw damagedList(of: object, relationship) }
      }
      context.source.counters.membersListed += elements.count
      if context.parent == nil { context.memberReading.follow(elements, of: relationship.destination) }
      return elements
    }
  }

  private func damagedList(of object: any ManagedObject, _ relationship: StoredToMany) -> ContextError {
    let entity = context.entity(of: object)
    return ContextError(
      .corrupt,
      "\(entity.name).\(relationship.name) of object \(object._$state.number) has members without a place",
      context: .init(
        entity: entity.name,
        objectID: context.id(object._$state.number, entity),
        properties: [relationship.name]
      )
    )
  }

  func position(of number: ObjectNumber, in object: any ManagedObject, toMany: Int) -> Int? {
    let relationship = context.entity(of: object).toManys[toMany]
    guard isElement(number, of: object, toMany: toMany), let order = order(of: relationship) else {
      return nil
    }
    let owner = object._$state.number
    let element = context.object(number, of: context.entity(relationship.destination))
    let entry = order.entry(of: element, in: owner)
    return context.deferringError(nil) { () throws(ContextError) in
      try order.list(of: owner).count(before: entry)
    }
  }

  func move(
    _ elements: [any ManagedObject],
    to position: Int,
    of object: any ManagedObject,
    toMany: Int
  ) {
    let order = order(of: context.entity(of: object).toManys[toMany])
    order?.move(elements, to: position, of: object._$state.number)
  }

  func arrange(_ numbers: [ObjectNumber], of object: any ManagedObject, toMany: Int) {
    let order = order(of: context.entity(of: object).toManys[toMany])
    order?.arrange(numbers, of: object._$state.number)
  }
}

// MARK: - Pending links

extension ManagedObjectContext {
  /// Returns the unsaved changes of a table of links; nil for none. Those of a to-one relationship are worked out from
  /// the changed objects when they are first asked for, and kept up to date from then on. So an import that asks no
  /// to-many relationship pays nothing.
  func pendingLinks(in table: LinkTable) -> PendingLinks? {
    switch table.origin {
    case .pairs(let entity, let position): return entities[entity].pairs[position].links
    case .reference(let ordinal, let slot):
      let entity = entities[ordinal].entity
      guard !entities[ordinal].changes.isEmpty,
        let position = entity.toOnes.firstIndex(where: { $0.slot == slot })
      else { return nil }
      workOutReferences(at: position, of: entity)
      return entities[ordinal].references[position]?.links
    }
  }

  /// Works out the unsaved changes of a to-one relationship, if they aren't known: the links, and with them the lists
  /// of an ordered relationship. So the number of members and their list belong to one state.
  func workOutReferences(at position: Int, of entity: StoredEntity) {
    if entities[entity.ordinal].references[position] != nil { return }
    let toOne = entity.toOnes[position]
    // Reading an object may access the context, so nothing accesses `entities` meanwhile.
    let links = entities[entity.ordinal].changes.links(ofReference: toOne.slot) { object in
      deferringError(.none) { () throws(ContextError) in
        try source.reference(at: toOne.slot, of: object._$state.number, entity)
      }
    }
    let lists = toOne.list.map { makeLists(in: $0) }
    entities[entity.ordinal].keep(PendingReferences(links, lists), at: position)
  }
}

/// A link of a many-to-many relationship, seen from one of its ends.
struct PairEnd: Hashable {
  /// The ordinal of the owner's entity, and the position of the relationship there.
  let entity: Int
  let position: Int
  let owner: ObjectNumber
  let element: ObjectNumber
}
