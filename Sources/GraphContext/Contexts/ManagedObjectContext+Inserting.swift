import Predicates

// New objects.

extension ManagedObjectContext {
  /// Enters a new object into the context.
  ///
  /// - Parameter given: its number, which no object has; nil for a fresh one.
  @discardableResult
  func adopt(_ object: any ManagedObject, numbered given: ObjectNumber?) -> Bool {
    if let host = object._$state.host {
      if host !== self { deferred.note(Self.isOther(object, "inserted or linked")) }
      return host === self
    }
    guard object._$state.phase == .new else {
      deferred.note(Self.isGone(object))
      return false
    }
    guard checkWritable() else { return false }
    let place = deferringError(nil) { () throws(ContextError) in
      let entity = try modelEntity(of: object)
      let tag = try coordinator.models.classTag(of: object, entity)
      if let given { return (entity, number: given) }
      let number = try coordinator.engine.takeNumber(of: entity, timeout: saveTimeout)
      return (entity, number: number.tagged(tag))
    }
    guard let (entity, number) = place else { return false }
    object.makeInsertionDefaults()
    object._$state.enter(self, number: number)
    register(object, number, entity.ordinal)
    entities[entity.ordinal].changes.noteInserted(object)
    entities[entity.ordinal].encoded?.noteStale(number)
    noteEntry(of: object)
    adopted.append(object)
    asleep.append(object)
    attachAdopted()
    return true
  }

  /// Looks at the relationships of new objects one after the other, without recursion: a chain of them may be long.
  private func attachAdopted() {
    guard !isAdopting else { return }
    isAdopting = true
    defer { isAdopting = false }
    while let object = adopted.popLast() { object.attachRelationships() }
  }
}
