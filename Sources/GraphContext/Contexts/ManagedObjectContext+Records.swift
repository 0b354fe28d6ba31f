import Predicates

// Objects of entities whose classes the program doesn't have.

extension ManagedObjectContext {
  /// Makes an object of an entity without a class, and inserts it. Its attributes have the defaults of the entity's
  /// description, or are nil.
  ///
  /// - Parameter name: the name of the entity; in a hierarchy, the name of the object's class.
  /// - Throws: `unknownEntity` when the store has no such entity, or the container has a class for it; `abstractClass`
  ///   for an abstract class.
  @discardableResult
  public func insert(entity name: String) throws(ContextError) -> ManagedRecord {
    let entity = try recordEntity(named: name)
    _ = try coordinator.models.classTag(named: name, entity)
    let record = ManagedRecord(newOf: coordinator.models.descriptions[entity.ordinal], named: name)
    insert(record)
    return record
  }

  /// Returns a record of an entity that has these values, or inserts one if there is none. Unsaved records count. If
  /// several records have the values, any of them is returned.
  ///
  /// ```swift
  /// let author = try context.findOrInsert(entity: "Author", with: ["name": .string("Austen")])
  /// ```
  ///
  /// O(log n) where an index has the attributes, else O(records).
  ///
  /// - Parameters:
  ///   - name: the name of an entity without a class.
  ///   - values: by attribute; `null` for nil.
  /// - Throws: What ``insert(entity:)`` (also `abstractClass`) and a query for records throw; `unknownProperty` or
  ///   `wrongValue` for a value that the entity can't have.
  public func findOrInsert(
    entity name: String,
    with values: [String: AttributeValue]
  ) throws(ContextError) -> ManagedRecord {
    let conditions = values.sorted { $0.key < $1.key }
      .map { PredicateTree.comparison(.path([$0.key]), .equal, .value($0.value), []) }
    if let known = try fetch(DynamicQuery(name, where: .all(conditions), limit: 1)).first { return known }
    let record = try insert(entity: name)
    do throws(ContextError) {
      for (attribute, value) in values { try record.set(attribute, to: value) }
    } catch {
      delete(record)
      throw error
    }
    return record
  }

  /// - Throws: for an ID of another store or of an entity that the store doesn't have, or one that names no object.
  func recordEntity(of id: ManagedObjectID) throws(ContextError) -> StoredEntity {
    try checkStore(of: id)
    guard id.entity.number != nil else {
      let entity = try recordEntity(named: id.entityName)
      try check(id, entity)
      return entity
    }
    guard let entity = coordinator.schema.entity(id.entity) else {
      throw ContextError(
        .unknownEntity,
        "the store no longer has the entity of \(id)",
        context: .init(entity: id.entityName, objectID: id)
      )
    }
    try check(id, entity)
    try checkHasRecords(entity)
    return entity
  }

  /// - Throws: `unknownEntity` for an entity that the store doesn't have, or that has a class.
  func recordEntity(named name: String) throws(ContextError) -> StoredEntity {
    let entity = try entity(named: name)
    try checkHasRecords(entity)
    return entity
  }

  /// - Throws: `unknownEntity` for an entity that the store doesn't have.
  func entity(named name: String) throws(ContextError) -> StoredEntity {
    guard let entity = coordinator.schema.entity(named: name) else {
      let names = coordinator.schema.schema.namesOfClasses.joined(separator: ", ")
      throw ContextError(
        .unknownEntity,
        "the store has no entity named “\(name)”; it has \(names)",
        context: .init(entity: name)
      )
    }
    return entity
  }

  private func checkHasRecords(_ entity: StoredEntity) throws(ContextError) {
    let type = coordinator.models.types[entity.ordinal]
    guard type == ManagedRecord.self else {
      throw ContextError(
        .unknownEntity,
        "the objects of \(entity.name) are of the class \(type) in this container, not records",
        context: .init(entity: entity.name)
      )
    }
  }
}
