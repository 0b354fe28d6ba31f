/// The models of a container. Some entities have classes for their objects. The objects of the other entities are
/// records; for these entities the models state the origin.
struct ContainerModels: Sendable {
  /// The entities without classes.
  enum Others: Sendable {
    case none
    /// The entities of a schema. If an entity has a class, the class's description counts.
    case schema(Schema)
    /// The entities of descriptions, which make a schema only together with the classes.
    case described([EntityDescription])
    /// The entities that the store has.
    case stored
  }
  let classes: [any ManagedObject.Type]
  var others = Others.none
  /// The plan that brings stores of earlier versions to these models; nil if every change is inferred.
  private(set) var plan: MigrationPlan?

  /// The entities without classes that the program has described.
  var described: [EntityDescription] { if case .described(let entities) = others { entities } else { [] } }

  /// Returns the schema that these make with a store.
  ///
  /// - Parameter stored: the store's; empty if it has none yet.
  /// - Throws: `schemaMismatch` when they make none.
  func schema(in stored: CataloguedSchema) throws(ContextError) -> Schema {
    if case .stored = others, stored.entities.isEmpty {
      throw ContextError(.schemaMismatch, "the store holds no models")
    }
    do throws(SchemaError) {
      switch others {
      case .none: return try Schema(classes)
      case .schema(let schema): return try completed(schema.entities)
      case .described(let entities): return try Schema(classes, entities: entities)
      case .stored: return try completed(stored.renamed(as: classEntities).descriptions)
      }
    } catch {
      throw ContextError(.schemaMismatch, "\(error)")
    }
  }

  /// The entities of the classes; of each hierarchy one.
  private var classEntities: [EntityDescription] {
    var names: Set<String> = []
    return classes.map { $0._$model.entity }.filter { names.insert($0.name).inserted }
  }

  /// Returns the schema of the classes and of the other entities.
  private func completed(_ entities: [EntityDescription]) throws(SchemaError) -> Schema {
    let described = Set(classEntities.map(\.name))
    return try Schema(classes, entities: entities.filter { !described.contains($0.name) })
  }

  /// Returns the schemas that a store of this schema has on its way to the models.
  ///
  /// - Throws: `schemaMismatch` when the models make no schema, or the plan leads from nowhere to them.
  func steps(from stored: CataloguedSchema) throws(ContextError) -> [UpgradeStep] {
    if let plan { return try ResolvedPlan(plan).steps(from: stored) }
    return [UpgradeStep(schema: try schema(in: stored), version: nil)]
  }

  /// The classes; of each hierarchy only the root.
  private var roots: [any ManagedObject.Type] { classes.map { $0._$model.types(or: $0)[0] } }

  /// Returns the class of an entity's objects; the root class if there are several.
  func type(named name: String) -> any ManagedObject.Type {
    roots.first { $0._$model.entity.name == name } ?? ManagedRecord.self
  }

  /// Returns whether an open store serves these models. It may be open with other models, or with the same ones.
  func areServed(by known: OpenedStore) throws(ContextError) -> Bool {
    let knownClasses = known.coordinator.models.types.filter { $0 != ManagedRecord.self }
    // A coordinator serves one version, even where another one has the same schema.
    if let plan {
      let steps = try ResolvedPlan(plan).steps(from: known.engine.schema.catalogue)
      guard steps.allSatisfy({ $0.custom == nil }) else { return false }
    }
    guard Set(knownClasses.map { ObjectIdentifier($0) }) == Set(roots.map { ObjectIdentifier($0) }) else {
      return false
    }
    switch others {
    case .none: return knownClasses.count == known.coordinator.models.types.count
    case .stored: return true
    case .schema, .described:
      let catalogue = known.engine.schema.catalogue
      // The catalogue has no subclasses: where a relationship leads to one, only the coordinator knows.
      return SchemaChange(from: catalogue, to: try schema(in: catalogue)).isEmpty
        && known.coordinator.models.leads(as: described)
    }
  }
}

extension ContainerModels {
  /// Makes the models of classes and of entities without classes. If there are none of either, the models are the
  /// entities of the store: with no entity at all, the opening would remove all of the store's.
  init(classes: [any ManagedObject.Type], entities: RecordEntities) {
    let others: Others =
      switch entities {
      case .stored: .stored
      case .described(let entities) where !entities.isEmpty: .described(entities)
      case .described: classes.isEmpty ? .stored : .none
      }
    self.init(classes: classes, others: others)
  }

  /// Makes the models of a plan: the classes of the newest version, or its schema.
  ///
  /// - Throws: `schemaMismatch` for a plan with mistakes.
  init(_ plan: MigrationPlan) throws(ContextError) {
    let resolved = try ResolvedPlan(plan)
    self.init(classes: resolved.newest.models, others: .schema(resolved.newestSchema), plan: plan)
  }
}

extension CataloguedSchema {
  /// Returns the catalogue with the new names of the entities and properties that these descriptions continue.
  fileprivate func renamed(as descriptions: [EntityDescription]) -> CataloguedSchema {
    var renamed = self
    let matches = SchemaMatching.matches(
      descriptions.map { ($0.name, $0.originalName) },
      known: entities.map(\.name)
    )
    for (description, match) in zip(descriptions, matches) {
      guard let match else { continue }
      renamed.entities[match].rename(as: description)
    }
    return renamed
  }
}

extension CataloguedEntity {
  fileprivate mutating func rename(as description: EntityDescription) {
    name = description.name
    let matches = SchemaMatching.matches(
      description.properties.map { ($0.name, $0.originalName) },
      known: properties.map(\.name)
    )
    for (property, match) in zip(description.properties, matches) {
      if let match { properties[match].name = property.name }
    }
  }
}
