import Predicates

/// A replay, which restores the objects of a group to their state before it, by new changes.
struct UndoReplay {
  private let context: ManagedObjectContext
  private let group: UndoGroup
  private let manager: ContextUndoManager

  init(_ context: ManagedObjectContext, _ group: UndoGroup, _ manager: ContextUndoManager) {
    self.context = context
    self.group = group
    self.manager = manager
  }

  func run() {
    let images = group.images.sorted { $0.key < $1.key }
    var partners = UndonePartners(context)
    for (key, image) in images {
      guard let values = image.values else { continue }
      partners.note(key, values, in: image.isThereAfter ? image.slots : .all)
    }
    for (key, image) in images {
      guard let values = image.values, !image.isThereAfter else { continue }
      bringBack(key, image.object, values)
      manager.noteDecidedReferences(image.decidedReferences, of: key)
    }
    for (key, image) in images {
      if let values = image.values { restore(key, values, in: slots(of: image, key)) }
    }
    context.forgetDerivedLinks()
    // Where others have taken the change back already, nothing changes: a child would keep a change of its own that
    // hides a later one of its parent. A link to an object that another context has deleted can be taken back, but not
    // made.
    for pair in group.pairs.reversed()
    where isShown(pair.end) == pair.isLinked && (pair.isLinked || isWhole(pair.end)) {
      context.relationships.change(pair.end, isLinked: !pair.isLinked)
    }
    for (end, place) in group.places { if let place, isWhole(end), isShown(end) { move(end, to: place) } }
    delete(images.filter { $0.value.values == nil && context.isThere($0.key) }.map(\.key))
    partners.part()
    context.forgetDerivedLinks()
    context.normalisePairs()
    var numbers: [[ObjectNumber]] = context.entities.map { _ in [] }
    for (key, _) in images { numbers[key.entity].append(key.number) }
    context.children.forEach { $0.parentDidReplace(numbers) }
  }

  /// Deletes objects that didn't exist before the group. The objects that their deletion took along when the group was
  /// made are among them.
  private func delete(_ keys: [ObjectKey]) {
    let objects = keys.map { context.object($0.number, of: context.entity($0.entity)) }
    context.tellingChildren {
      context.deleteCascading(objects, callsHooks: false, as: .replay(group.images))
    }
  }

  /// Returns whether both objects of a pair exist. Another context may have deleted one.
  private func isWhole(_ pair: PairEnd) -> Bool {
    let destination = context.entity(pair.entity).toManys[pair.position].destination
    return context.isThere(ObjectKey(entity: pair.entity, number: pair.owner))
      && context.isThere(ObjectKey(entity: destination, number: pair.element))
  }

  /// Returns whether the context shows the link. An unsaved link, its own or its parent's, is shown although another
  /// context has deleted the object.
  private func isShown(_ pair: PairEnd) -> Bool {
    let links = context.entity(pair.entity).toManys[pair.position].links
    let own = context.pendingLinks(in: links)?.isLinked(pair.owner, pair.element)
    return context.deferringError(false) { () throws(ContextError) in
      if let own { return own }
      return try context.source.isLinked(pair.owner, pair.element, in: links)
    }
  }

  private func move(_ end: PairEnd, to place: ListPlace) {
    let toMany = context.entity(end.entity).toManys[end.position]
    guard let keeper = context.relationships.order(of: toMany) else { return }
    let element = context.object(end.element, of: context.entity(toMany.destination))
    keeper.setPlace(of: element, in: end.owner, place)
  }

  /// Brings an object back that the group has deleted, or whose insertion it has taken back.
  private func bringBack(_ key: ObjectKey, _ object: any ManagedObject, _ values: UndoGroup.Values) {
    let entity = context.entity(key.entity)
    if let known = context.knownObject(key.number, of: entity) {
      if known._$state.phase == .deleted { return context.undelete(known, entity) }
      if context.isThere(key) { return }
    }
    if isThere(key.number, entity) {
      _ = context.object(key.number, of: entity)
      return
    }
    values.record.withUnsafeBytes { context.enter($0, key.number, entity, reviving: object) }
  }

  /// Returns whether the source has an object whose deletion the context has handed over: the parent has taken it back
  /// since.
  private func isThere(_ number: ObjectNumber, _ entity: StoredEntity) -> Bool {
    context.deferringError(false) { () throws(ContextError) in
      try context.source.contains(number, of: entity)
    }
  }

  /// Returns the slots to restore. For an object that the group has deleted, these include values that were
  /// set after the deletion, which no group has.
  private func slots(of image: UndoGroup.Image, _ key: ObjectKey) -> SlotSet {
    guard !image.isThereAfter, let values = image.values,
      let object = context.knownObject(key.number, of: context.entity(key.entity))
    else { return image.slots }
    return image.slots.union(values.slots(thatDifferFrom: object, in: context, key))
  }

  private func restore(_ key: ObjectKey, _ values: UndoGroup.Values, in slots: SlotSet) {
    guard !slots.isEmpty, context.isThere(key) else { return }
    let entity = context.entity(key.entity)
    let object = context.object(key.number, of: entity)
    context.noteChange(of: object, slots: slots)
    let isUnchanged = values.isSaved && !manager.wasSaved(since: values)
    let isForgotten = isUnchanged && object._$state.phase == .persistent
    let forgotten = isForgotten ? slots.subtracting(values.changed) : .empty
    // Others may have made a value nil meanwhile: it has no parts.
    let set = slots.subtracting(forgotten).subtracting(entity.partsOfNil(in: object, setting: slots))
    values.record.withUnsafeBytes { bytes in
      let record = RecordView(validated: bytes, layout: entity.layout)
      var loader = RecordLoader(bytes, entity.layout)
      loader.emptiesCaches = object is StoredObject
      for slot in entity.slots(set) {
        // A value that is still external couldn't be read when the group ended: skip it.
        if record.externalReference(slot) != nil { continue }
        object._$willSet(slot)
        object._$visit(slot, &loader)
      }
    }
    if forgotten.isEmpty { return }
    context.forgetChanges(of: object, in: forgotten)
    keep(values, of: object, in: forgotten, entity)
  }

  /// Loads the values that are no longer changes, if other unsaved changes keep an object here that others have
  /// deleted: the values exist nowhere else.
  private func keep(
    _ values: UndoGroup.Values,
    of object: any ManagedObject,
    in slots: SlotSet,
    _ entity: StoredEntity
  ) {
    guard object._$state.host === context,
      context.entities[entity.ordinal].mayBeMissing(object._$state.number)
    else { return }
    values.record.withUnsafeBytes { bytes in
      var loader = RecordLoader(bytes, entity.layout)
      for slot in entity.slots(slots.subtracting(entity.referenceSlots)) {
        object._$visit(slot, &loader)
        object._$state.didLoad(slot)
      }
    }
  }
}

extension ManagedObjectContext {
  /// Takes back the last changes in the context, which are one group of its ``undoManager``. This makes edits like any
  /// other, which the next save stores. Groups that are still open end.
  ///
  /// - Returns: false if there is nothing to take back.
  @discardableResult
  public func undo() -> Bool { replaying { $0.undo(in: self) } }

  /// Makes the changes again that ``undo()`` has taken back last. Returns false if there are none, or if anything else
  /// was changed since.
  @discardableResult
  public func redo() -> Bool { replaying { $0.redo(in: self) } }

  private func replaying(_ replay: (ContextUndoManager) -> Bool) -> Bool {
    guard let undoManager, checkWritable() else { return false }
    undoManager.endGroups()
    processPendingChanges()
    return tellingChanges(from: .undo) { tellingObservers { replay(undoManager) } }
  }

  /// Brings back an object whose deletion isn't saved.
  func undelete(_ object: any ManagedObject, _ entity: StoredEntity) {
    noteChange(of: object)
    forgetConflict(of: object, entity)
    object._$state.phase = .persistent
    object._$state.announcesChange = true
    entities[entity.ordinal].changes.noteUpdated(object)
    entities[entity.ordinal].encoded?.noteStale(object._$state.number)
    leaveIfMissing(object, entity)
  }

  /// Forgets unsaved changes of slots, whose values are those of the source.
  func forgetChanges(of object: any ManagedObject, in slots: SlotSet) {
    let ordinal = entity(of: object).ordinal
    willChange(object, slots: slots)
    keepInChildren(object, ordinal)
    forgetConflict(of: object, entity(ordinal), withoutChangesIn: slots)
    object._$state.forgetChanges(in: slots)
    leaveIfMissing(object, entity(ordinal))
  }

  /// Releases an object without changes that others have deleted.
  private func leaveIfMissing(_ object: any ManagedObject, _ entity: StoredEntity) {
    guard !object._$state.hasChanges, entities[entity.ordinal].mayBeMissing(object._$state.number) else {
      return
    }
    leaveIfDeleted(object, entity.ordinal)
  }
}
