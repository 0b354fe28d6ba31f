import Predicates

// The entities of objects and of model classes.

extension ManagedObjectContext {
  /// Returns the entity of an object in this context.
  func entity(of object: any ManagedObject) -> StoredEntity {
    guard let entity = knownEntity(object.entityKey) else { fatalError(Self.unknown(object).message) }
    return entity
  }

  /// Returns the entity of the class of an object in this context.
  func entity(of type: any ManagedObject.Type) -> StoredEntity {
    guard let entity = knownEntity(ObjectIdentifier(type)) else { fatalError(Self.unknown(type).message) }
    return entity
  }

  /// Returns the entity of an object that is to enter the context.
  ///
  /// - Throws: `unknownEntity` when the container has no objects of this kind.
  func modelEntity(of object: any ManagedObject) throws(ContextError) -> StoredEntity {
    guard let entity = knownEntity(object.entityKey) else { throw Self.unknown(object) }
    return entity
  }

  /// Returns the entity of a model class that a caller gives as an argument.
  ///
  /// - Throws: `unknownEntity` when the container was made without the model.
  func modelEntity(of type: any ManagedObject.Type) throws(ContextError) -> StoredEntity {
    guard let entity = knownEntity(ObjectIdentifier(type)) else { throw Self.unknown(type) }
    return entity
  }

  private func knownEntity(_ key: ObjectIdentifier) -> StoredEntity? {
    knownOrdinal(key).map(entity)
  }

  func knownOrdinal(_ key: ObjectIdentifier) -> Int? {
    if let lastEntity, lastEntity.key == key { return lastEntity.ordinal }
    guard let entity = coordinator.models.entity(withKey: key) else { return nil }
    lastEntity = (key, entity.ordinal, entity.classes.isEmpty ? entity.label : nil)
    return entity.ordinal
  }

  static func unknown(_ object: any ManagedObject) -> ContextError {
    guard object is ManagedRecord else { return unknown(type(of: object)) }
    let name = object._$objectModel.entity.name
    return ContextError(
      .unknownEntity,
      "a record of \(name) can only be used in contexts of the container that made it",
      context: .init(entity: name)
    )
  }

  static func unknown(_ type: any ManagedObject.Type) -> ContextError { .unknownModel(type) }

  func entity(_ ordinal: Int) -> StoredEntity { coordinator.schema.entities[ordinal] }
}
