import Predicates

// Objects of the new graph that continue objects of the old graph.

/// The numbers of objects that are made anew.
///
/// A sequence names one object of an entity, whatever its class. So the objects of a dropped entity get sequences above
/// those of all kept entities, and no two dropped entities share a sequence. The old graph doesn't change while a stage
/// runs, so an interrupted stage computes the same numbers when it is resumed.
struct SuccessorNumbers {
  /// Entities and classes of the new schema whose objects the passes make.
  private let madeAnew: Set<String>
  /// The number to add to the sequences of a dropped entity, by the entity's name.
  private let offsets: [String: UInt64]
  /// The greatest sequence that a successor can have; 0 if no entity is dropped.
  let greatest: UInt64

  /// - Parameters:
  ///   - old: the entities of the old schema, each with the greatest sequence of its objects.
  ///   - ended: the dropped entities: no entity of the new schema continues them.
  ///   - madeAnew: entities and classes of the new schema.
  init(_ old: [EntityNumber: UInt64], ending ended: [CataloguedEntity], madeAnew: Set<String>) {
    self.madeAnew = madeAnew
    let numbers = Set(ended.map(\.number))
    var greatest = old.filter { !numbers.contains($0.key) }.values.max() ?? 0
    var offsets: [String: UInt64] = [:]
    for entity in ended.sorted(by: { $0.number < $1.number }) {
      offsets[entity.name] = greatest
      greatest += old[entity.number, default: 0]
    }
    self.offsets = offsets
    self.greatest = ended.isEmpty ? 0 : greatest
  }

  /// Returns the number to add to the sequence of an old object to get the sequence of its successor. Returns nil
  /// if the old entity isn't dropped, or if the stage doesn't make the class anew.
  func offset(of oldEntity: String, in className: String, of entity: String) -> UInt64? {
    madeAnew.contains(className) || madeAnew.contains(entity) ? offsets[oldEntity] : nil
  }
}

extension MigrationBatch {
  /// Returns the object of the new graph that continues an object of the old graph.
  ///
  /// If the new schema continues the entity, the stage has made the object: it has the number of the old object,
  /// and all of its values that could be inferred. If a pass has deleted this object and made a successor of
  /// another class, the method returns that successor. If the new schema doesn't continue the entity, the method
  /// returns the successor that ``makeSuccessor(of:as:)`` has made, in any batch.
  ///
  /// - Parameters:
  ///   - object: an object of the old graph.
  ///   - className: the entity or the class of the new schema, as given to ``makeSuccessor(of:as:)``.
  /// - Returns: nil if there is none: no pass has made the object, or a pass has deleted it; also for a class of
  ///   which ``makeSuccessor(of:as:)`` makes no objects.
  /// - Throws: `otherContext` for an object that is not of the old graph; `unknownEntity` or `abstractClass` for a
  ///   wrong name; `store` or `corrupt` if the new graph can't be read.
  /// - Complexity: O(log *n*) for each class that the object may have.
  public func successor(
    of object: ManagedRecord,
    as className: String? = nil
  ) throws(ContextError) -> ManagedRecord? {
    try checkIsOld(object)
    if className == nil, let name = entityNames[object.entity.name],
      let entity = new.coordinator.schema.entity(named: name)
    {
      return try self.object(of: object._$state.number, entity)
    }
    guard className != nil || new.coordinator.schema.entity(named: object.className) != nil,
      let place = try place(of: object, in: className ?? object.className)
    else { return nil }
    return try existing(place.number, place.entity)
  }

  /// Makes an object of the new graph that continues an object of the old graph. It belongs to an entity or a class
  /// that the stage makes anew, if the new schema doesn't continue the old entity, or to another class of the same
  /// entity.
  ///
  /// Its number follows from the old one's, so ``successor(of:as:)`` finds it from any batch. The objects of one
  /// old entity keep their order. An ID of the old object doesn't name it. It has the values of the attributes of
  /// the same name whose kind is the same or wider; a nil that the new attribute can't have isn't copied. The pass
  /// sets the other attributes, and the relationships. If a required attribute or relationship has no value when
  /// the pass's body returns, the stage fails.
  ///
  /// If the new schema continues the entity, the stage has copied the object. After the pass has deleted the copy,
  /// this method makes the object in another class.
  ///
  /// - Parameters:
  ///   - object: an object of the old graph.
  ///   - className: the entity or the class of the new schema; nil for the one with the name of the old object's
  ///     entity or class.
  /// - Throws: `otherContext` for an object that is not of the old graph; `unknownEntity` or `abstractClass` for a
  ///   wrong name; `saveNotAllowed` for a class that isn't made anew, or an object whose entity is continued by
  ///   another entity; `notUnique` if the object has a successor in the entity already, or had it in this batch;
  ///   `tooManyObjects`; the errors of reading the old object.
  @discardableResult
  public func makeSuccessor(
    of object: ManagedRecord,
    as className: String? = nil
  ) throws(ContextError) -> ManagedRecord {
    try checkIsOld(object)
    let name = className ?? object.className
    guard let (number, entity) = try place(of: object, in: name) else {
      throw ContextError(
        .saveNotAllowed,
        "a \(object.entity.name) can't have a \(name) as its successor: the stage doesn't make \(name) anew,"
          + " or another entity continues \(object.entity.name); insert an object instead",
        context: .init(entity: name)
      )
    }
    // A deleted successor is still known by this number.
    guard new.entities[entity.ordinal].known[number] == nil, try self.object(of: number, entity) == nil else {
      throw ContextError(
        .notUnique,
        "this \(object.className) has a successor among the objects of \(entity.name) already, or had it in this batch",
        context: .init(entity: name)
      )
    }
    let successor = ManagedRecord(newOf: new.coordinator.models.descriptions[entity.ordinal], named: name)
    // Values that can't be read are found before there is an object without them.
    try successor.set(SuccessorValues(of: object, for: successor).values)
    // This leases numbers behind those of all successors, so that no later object gets this number.
    _ = try new.coordinator.engine.takeNumber(of: entity, timeout: nil)
    new.adopt(successor, numbered: number)
    try new.checkUsable()
    return successor
  }

  /// Returns the number of an object's successor; nil if the object can have no successor of this class.
  private func place(
    of object: ManagedRecord,
    in className: String
  ) throws(ContextError) -> (number: ObjectNumber, entity: StoredEntity)? {
    let entity = try new.recordEntity(named: className)
    let tag = try new.coordinator.models.classTag(named: className, entity)
    let (known, name) = (object._$state.number, object.entity.name)
    if entityNames[name] == entity.name { return (known.tagged(tag), entity) }
    guard let offset = successors.offset(of: name, in: className, of: entity.name) else { return nil }
    guard let number = ObjectNumber(sequence: known.sequence + offset, classTag: tag) else {
      throw ContextError(.tooManyObjects, "no number is left for another \(className)")
    }
    return (number, entity)
  }

  /// Returns the object of an entity with the sequence of a number, whatever its class.
  private func object(
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> ManagedRecord? {
    if let same = try existing(number, entity) { return same }
    for member in entity.classes where !member.isAbstract && member.tag != number.classTag {
      if let other = try existing(number.tagged(member.tag), entity) { return other }
    }
    return nil
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
        "only an object of the old graph can have a successor",
        context: .init(entity: object.entity.name)
      )
    }
  }
}

/// The values that a successor takes from the old object.
private struct SuccessorValues {
  private(set) var values: [String: AttributeValue] = [:]

  init(of object: ManagedRecord, for successor: ManagedRecord) throws(ContextError) {
    let known = object.entity.attributes.dictionary(by: \.name)
    let entity = successor.entity
    for attribute in entity.attributes where attribute.derivation == nil {
      guard successor.hasProperty(attribute.name), object.hasProperty(attribute.name),
        let former = known[attribute.name], former.canContinue(as: attribute),
        entity.isFlag(attribute) == object.entity.isFlag(former)
      else { continue }
      let value = try object[attribute.name]
      let isRequired = !attribute.isOptional || entity.isRequiredOfSomeClass(attribute.name)
      if value.isNull, isRequired || attribute.isRequiredPart == true { continue }
      values[attribute.name] = attribute.kind == former.kind ? value : value.widened(to: attribute.kind)
    }
    // An embedded value that could not be nil exists.
    for flag in entity.attributes where entity.isFlag(flag) && known[flag.name] == nil {
      if values.keys.contains(where: { PropertyDescription.isPart($0, of: flag.name) }) {
        values[flag.name] = .bool(true)
      }
    }
  }
}

extension EntityDescription {
  /// Returns true for the attribute that says whether an embedded value is there.
  fileprivate func isFlag(_ attribute: AttributeDescription) -> Bool {
    attribute.kind == .bool
      && attributes.contains { PropertyDescription.isPart($0.name, of: attribute.name) }
  }
}
