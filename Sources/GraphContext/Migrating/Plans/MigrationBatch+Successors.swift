import Predicates

// Objects of the new graph that go on as objects of the old one.

extension MigrationBatch {
  /// The object of the new graph that goes on as one of the old graph.
  ///
  /// If the entity goes on, the stage has made the object: it has the old one's number, and what could be inferred of its values. Otherwise it is what
  /// ``makeSuccessor(of:as:)`` has made, in any batch.
  ///
  /// - Parameters:
  ///   - object: an object of the old graph.
  ///   - className: the entity or the class of the new schema; nil for the one that goes on, or else for that of the old name.
  /// - Returns: nil if there is none: the entity doesn't go on, no pass has made the object, or a pass has deleted it.
  /// - Throws: `otherContext` for an object that is not of the old graph; `unknownEntity` for a name that the new schema doesn't have; `store` or `corrupt` if
  ///   the new graph can't be read.
  public func successor(
    of object: ManagedRecord,
    as className: String? = nil
  ) throws(ContextError) -> ManagedRecord? {
    try checkIsOld(object)
    if className == nil, let name = entityNames[object.entity.name],
      let entity = new.coordinator.schema.entity(named: name)
    {
      return try existing(object._$state.number, entity)
    }
    guard className != nil || new.coordinator.schema.entity(named: object.className) != nil else {
      return nil
    }
    let (number, entity) = try place(of: object, in: className ?? object.className)
    return try existing(number, entity)
  }

  /// Makes an object of the new graph that goes on as one of the old graph, in an entity or a class that the stage makes anew.
  ///
  /// Its number has the old one's place in the order of insertion, so ``successor(of:as:)`` finds it from any batch. It is of another entity, or of another class of
  /// its entity: an ID of the old object doesn't name it. It has the values of the attributes of the same name whose kind is the same or wider. The pass sets the others,
  /// and its relationships.
  ///
  /// An object that the stage has copied, because its entity goes on, changes its class in this way once the pass has deleted the copy.
  ///
  /// - Parameters:
  ///   - object: an object of the old graph.
  ///   - className: the entity or the class of the new schema; nil for that of the old object's name.
  /// - Throws: `otherContext` for an object that is not of the old graph; `unknownEntity` for a name that the new schema doesn't have; `abstractClass`;
  ///   `saveNotAllowed` for a name of another entity that the stage doesn't make anew; `notUnique` if the new graph has an object of this number, as the objects of two old entities may have equal numbers; what reading the old
  ///   object throws.
  @discardableResult
  public func makeSuccessor(
    of object: ManagedRecord,
    as className: String? = nil
  ) throws(ContextError) -> ManagedRecord {
    try checkIsOld(object)
    let name = className ?? object.className
    let (number, entity) = try place(of: object, in: name)
    guard
      entityNames[object.entity.name] == entity.name || madeAnew.contains(name)
        || madeAnew.contains(entity.name)
    else {
      throw ContextError(
        .saveNotAllowed,
        "the stage doesn't make \(name) anew: its objects have numbers of their own, so insert one",
        context: .init(entity: name)
      )
    }
    // One that was deleted is still known, by this number.
    guard new.entities[entity.ordinal].known[number] == nil, try existing(number, entity) == nil else {
      throw ContextError(
        .notUnique,
        "the new graph has a \(name) with the number of this \(object.className) already",
        context: .init(entity: name)
      )
    }
    let successor = ManagedRecord(newOf: new.coordinator.models[entity.ordinal], named: name)
    // Values that can't be read are found before there is an object without them.
    try successor.set(values(of: object, for: successor))
    // It leases numbers behind those of the old graph, so that no later object gets this one.
    _ = try new.coordinator.engine.takeNumber(of: entity, timeout: nil)
    new.adopt(successor, numbered: number)
    try new.checkUsable()
    return successor
  }

  /// What an old object has for the attributes of its successor.
  private func values(
    of object: ManagedRecord,
    for successor: ManagedRecord
  ) throws(ContextError) -> [String: AttributeValue] {
    let known = object.entity.attributes.dictionary(by: \.name)
    var values: [String: AttributeValue] = [:]
    for attribute in successor.entity.attributes where attribute.derivation == nil {
      guard successor.hasProperty(attribute.name), object.hasProperty(attribute.name),
        let former = known[attribute.name], former.canContinue(as: attribute)
      else { continue }
      let value = try object[attribute.name]
      if attribute.elementKind == former.elementKind, let widened = value.widened(to: attribute.kind) {
        values[attribute.name] = widened
      }
    }
    return values
  }

  private func place(
    of object: ManagedRecord,
    in className: String
  ) throws(ContextError) -> (number: ObjectNumber, entity: StoredEntity) {
    let entity = try new.recordEntity(named: className)
    let tag = try new.coordinator.classTag(named: className, entity)
    return (object._$state.number.tagged(tag), entity)
  }

  private func existing(
    _ number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ManagedRecord? {
    do throws(ContextError) {
      return try new.existingObject(ManagedRecord.self, number: number, entity)
    } catch  where error.code == .objectNotFound {
      return nil
    }
  }

  private func checkIsOld(_ object: ManagedRecord) throws(ContextError) {
    guard object.context === old else {
      throw ContextError(
        .otherContext,
        "only an object of the old graph has a successor",
        context: .init(entity: object.entity.name)
      )
    }
  }
}
