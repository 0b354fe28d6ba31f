import PageStore
import Predicates

// Relationships in memory: inverses, and to-many relationships as what the store has plus what is pending.

// MARK: - To-one

extension ManagedObjectContext {
  /// A reference was set: its inverse, and the inverse of its inverse, follow.
  func follow(_ object: any ManagedObject, slot: Int, from old: ObjectNumber, to new: ObjectNumber) {
    let entity = entity(of: object)
    guard let toOne = entity.toOne(slot: slot) else { return }
    if object._$state.phase == .deleted {
      // Its deletion has taken its links away.
      if !new.isNone { noteReference(ofDeleted: object, entity, slot: slot, to: new) }
      return
    }
    relink(object._$state.number, entity, toOne, from: old, to: new)
    guard case .toOne(let inverseSlot) = toOne.inverse else { return }
    let number = object._$state.number
    let destination = self.entity(toOne.destination)
    if !old.isNone { clear(self.object(old, of: destination), slot: inverseSlot, ifLeadingTo: number) }
    guard !new.isNone else { return }
    let target = self.object(new, of: destination)
    let rival = target.reference(at: inverseSlot)
    guard rival != number else { return }
    if !rival.isNone { clear(self.object(rival, of: entity), slot: slot, ifLeadingTo: new) }
    set(target, slot: inverseSlot, to: number)
  }

  private func clear(_ object: any ManagedObject, slot: Int, ifLeadingTo number: ObjectNumber) {
    if object.reference(at: slot) == number { set(object, slot: slot, to: .none) }
  }

  /// Sets a reference whose inverse is looked after by the caller.
  func set(_ object: any ManagedObject, slot: Int, to new: ObjectNumber) {
    let entity = entity(of: object)
    guard let toOne = entity.toOne(slot: slot) else { return }
    let old = object.reference(at: slot)
    if object._$state.phase == .deleted {
      if !new.isNone { noteReference(ofDeleted: object, entity, slot: slot, to: new) }
      return object.setReference(at: slot, to: new)
    }
    guard old != new else { return }
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
      listings.drop(toOne.destination, inverse, owner: old)
      listings.drop(toOne.destination, inverse, owner: new)
    }
    guard let place = entity.toOnes.firstIndex(where: { $0.slot == toOne.slot }),
      pendingReferences[entity.ordinal][place] != nil
    else { return }
    if !old.isNone { pendingReferences[entity.ordinal][place]?.unlink(old, number) }
    if !new.isNone { pendingReferences[entity.ordinal][place]?.link(new, number) }
  }
}

// MARK: - To-many

extension ManagedObjectContext {
  func listElements(of object: any ManagedObject, toMany: Int) -> [ObjectNumber] {
    let entity = entity(of: object)
    let relationship = entity.toManys[toMany]
    let pending = pendingLinks(relationship, of: entity)
    let owner = object._$state.number
    return noting([]) { () throws(ContextError) in
      let stored = try view.elements(of: owner, in: relationship.treeName)
      let elements = pending?.elements(of: owner, stored: stored) ?? stored
      view.counters.membersListed += elements.count
      return elements
    }
  }

  func countElements(of object: any ManagedObject, toMany: Int) -> Int {
    let entity = entity(of: object)
    let relationship = entity.toManys[toMany]
    let pending = pendingLinks(relationship, of: entity)
    let owner = object._$state.number
    return noting(0) { () throws(ContextError) in
      try view.elementCount(of: owner, in: relationship.treeName) + (pending?.difference(of: owner) ?? 0)
    }
  }

  func hasElement(_ number: ObjectNumber, of object: any ManagedObject, toMany: Int) -> Bool {
    let entity = entity(of: object)
    let relationship = entity.toManys[toMany]
    let owner = object._$state.number
    if let answer = pendingLinks(relationship, of: entity)?.isLinked(owner, number) { return answer }
    return noting(false) { () throws(ContextError) in
      try isStored(owner, number, in: relationship.treeName)
    }
  }

  func link(_ element: any ManagedObject, to object: any ManagedObject, toMany: Int) {
    let entity = entity(of: object)
    let relationship = entity.toManys[toMany]
    switch relationship.storage {
    case .references(let slot, _): set(element, slot: slot, to: object._$state.number)
    case .pairs(let trees):
      let (owner, number) = (object._$state.number, element._$state.number)
      notePairIfDeleted(object, element, entity, toMany: toMany)
      guard !hasElement(number, of: object, toMany: toMany) else { return }
      listings.drop(entity.ordinal, toMany, owner: owner)
      pendingPairs[entity.ordinal][toMany].link(owner, number)
      guard let inverse = trees.inverse, !isOwnInverse(entity, relationship, inverse) || owner != number
      else {
        return
      }
      listings.drop(relationship.destination, inverse, owner: number)
      pendingPairs[relationship.destination][inverse].link(number, owner)
    }
  }

  func unlink(_ element: any ManagedObject, from object: any ManagedObject, toMany: Int) {
    let entity = entity(of: object)
    let relationship = entity.toManys[toMany]
    switch relationship.storage {
    case .references(let slot, _):
      if element.reference(at: slot) == object._$state.number { set(element, slot: slot, to: .none) }
    case .pairs(let trees):
      let (owner, number) = (object._$state.number, element._$state.number)
      guard hasElement(number, of: object, toMany: toMany) else { return }
      listings.drop(entity.ordinal, toMany, owner: owner)
      pendingPairs[entity.ordinal][toMany].unlink(owner, number)
      guard let inverse = trees.inverse, !isOwnInverse(entity, relationship, inverse) || owner != number
      else {
        return
      }
      listings.drop(relationship.destination, inverse, owner: number)
      pendingPairs[relationship.destination][inverse].unlink(number, owner)
    }
  }

  private func isOwnInverse(_ entity: StoredEntity, _ relationship: StoredToMany, _ inverse: Int) -> Bool {
    relationship.destination == entity.ordinal && relationship.ordinal == inverse
  }
}

// MARK: - Pending links

extension ManagedObjectContext {
  /// The unsaved changes of a to-many relationship; nil when there are none.
  func pendingLinks(_ relationship: StoredToMany, of entity: StoredEntity) -> PendingLinks? {
    switch relationship.storage {
    case .pairs:
      return pendingPairs[entity.ordinal][relationship.ordinal]
    case .references(let slot, _):
      let source = self.entity(relationship.destination)
      guard let place = source.toOnes.firstIndex(where: { $0.slot == slot }) else { return nil }
      return pendingReferences(source, place)
    }
  }

  /// The unsaved changes of a to-one relationship, seen from its destinations: worked out from the changed objects when
  /// they are first asked for, kept up to date from then on. An import that asks no to-many relationship pays nothing.
  func pendingReferences(_ source: StoredEntity, _ place: Int) -> PendingLinks? {
    if changes[source.ordinal].isEmpty { return nil }
    if let links = pendingReferences[source.ordinal][place] { return links }
    let slot = source.toOnes[place].slot
    var links = PendingLinks()
    for object in changes[source.ordinal].inserted {
      let number = object.reference(at: slot)
      if !number.isNone { links.link(number, object._$state.number) }
    }
    for object in changes[source.ordinal].updated where object._$state.changed & 1 << UInt64(slot) != 0 {
      let (old, new) = (storedReference(of: object, source, slot), object.reference(at: slot))
      guard old != new else { continue }
      if !old.isNone { links.unlink(old, object._$state.number) }
      if !new.isNone { links.link(new, object._$state.number) }
    }
    for object in changes[source.ordinal].deleted {
      let old = storedReference(of: object, source, slot)
      if !old.isNone { links.unlink(old, object._$state.number) }
    }
    pendingReferences[source.ordinal][place] = links
    return links
  }

  /// What the snapshot has in a slot; none for nil.
  private func storedReference(
    of object: any ManagedObject,
    _ entity: StoredEntity,
    _ slot: Int
  ) -> ObjectNumber {
    noting(.none) { () throws(ContextError) in
      try view.withRecord(object._$state.number, of: entity) { record in
        record.reference(slot)
      } ?? .none
    }
  }
}

// MARK: - What the store has

extension ManagedObjectContext {
  func isStored(
    _ owner: ObjectNumber,
    _ element: ObjectNumber,
    in treeName: String
  ) throws(ContextError) -> Bool {
    do throws(StoreError) {
      return try view.tree(named: treeName)?.contains(KeyCoder.pair(owner, element)) ?? false
    } catch {
      throw ContextError(error)
    }
  }
}
