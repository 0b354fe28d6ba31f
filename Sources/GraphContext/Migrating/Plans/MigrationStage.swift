/// A stage of a migration: the change of a store from one version of a schema to a later one.
public struct MigrationStage: Sendable {
  /// The version that the stage starts at.
  public let from: Schema.Version
  /// The version that it leads to.
  public let to: Schema.Version
  let custom: CustomStage?

  /// Makes a stage of changes that are inferred, as Docs/SchemaChanges.md lists them.
  public static func lightweight(
    from: any VersionedSchema.Type,
    to: any VersionedSchema.Type
  ) -> MigrationStage {
    lightweight(from: from.version, to: to.version)
  }

  /// Returns a stage between versions of a plan that has no types for them.
  public static func lightweight(from: Schema.Version, to: Schema.Version) -> MigrationStage {
    MigrationStage(from: from, to: to, custom: nil)
  }

  /// Makes a stage in which code of the app takes part.
  ///
  /// The objects of the entities to be rebuilt are copied beside those of the store, with the inferred changes.
  /// Attributes and relationships that can't be inferred begin empty. Then the passes run, one after the other:
  /// they see the graph from before the stage, and change the new graph. Constraints that the new schema adds are
  /// checked after the last pass. One commit switches to the new graph; until then the store has the old schema and
  /// the old objects.
  ///
  /// A stage that is cancelled or killed continues after the last batch that was saved. If a pass throws, or an
  /// object breaks a constraint in the end, the store keeps its old schema, and everything that the stage has
  /// stored is removed.
  ///
  /// - Parameters:
  ///   - from: the version that the stage begins with.
  ///   - to: the version that it leads to.
  ///   - entities: the entities of the new schema whose objects the passes insert, change or delete, beside those
  ///     of new entities; nil for all. The store holds them twice until the stage is done. The objects of other
  ///     entities stay where they are, and a save that changes one of them throws `saveNotAllowed`.
  ///   - madeAnew: entities of the new schema, and new classes of a hierarchy. The stage copies no objects of
  ///     these, even if the old schema has an entity of the same name: passes make the objects, with
  ///     ``MigrationBatch/makeSuccessor(of:as:)`` or without. The entity of such a class is rebuilt. Entities whose
  ///     relationships lead to objects made anew must be rebuilt as well.
  ///   - passes: the passes that fill the new graph, in this order.
  public static func custom(
    from: any VersionedSchema.Type,
    to: any VersionedSchema.Type,
    rebuilding entities: Set<String>? = nil,
    makingAnew madeAnew: Set<String> = [],
    _ passes: MigrationPass...
  ) -> MigrationStage {
    let stage = CustomStage(rebuiltEntities: entities, madeAnew: madeAnew, passes: passes)
    return MigrationStage(from: from.version, to: to.version, custom: stage)
  }

  /// Returns a stage between versions of a plan that has no types for them.
  public static func custom(
    from: Schema.Version,
    to: Schema.Version,
    rebuilding entities: Set<String>? = nil,
    makingAnew madeAnew: Set<String> = [],
    _ passes: MigrationPass...
  ) -> MigrationStage {
    let stage = CustomStage(rebuiltEntities: entities, madeAnew: madeAnew, passes: passes)
    return MigrationStage(from: from, to: to, custom: stage)
  }
}

/// The settings of a custom stage.
struct CustomStage: Sendable {
  /// The entities to be rebuilt, by their names in the new schema; nil for all.
  var rebuiltEntities: Set<String>?
  /// Entities and classes of the new schema that don't continue any of the store.
  var madeAnew: Set<String> = []
  var passes: [MigrationPass]
}

/// One walk over the old graph that fills the new one: a part of a custom stage.
public struct MigrationPass: Sendable {
  enum Subject: Sendable, Hashable {
    /// The objects of an entity of the old schema, `batchCount` at a time.
    case objects(entity: String, batchCount: Int)
    /// No objects: the body is called once.
    case store
  }
  let subject: Subject
  /// The conversion that the pass runs; nil for a pass with a body of the app.
  private(set) var conversion: AttributeConversion?
  let body: @Sendable (MigrationBatch) throws -> Void

  /// Calls `body` with the objects of an entity of the old graph, in the order of their numbers, in batches. The
  /// changes of each batch are saved when `body` returns, together with the stage's progress.
  ///
  /// - Parameters:
  ///   - entity: an entity of the old schema.
  ///   - count: the number of objects in a batch; at least 1 is taken. Memory grows with it.
  ///   - body: fills the new graph from the objects of a batch.
  public static func forEach(
    _ entity: String,
    inBatchesOf count: Int = 1_000,
    _ body: @escaping @Sendable (MigrationBatch) throws -> Void
  ) -> MigrationPass {
    MigrationPass(subject: .objects(entity: entity, batchCount: max(1, count)), body: body)
  }

  /// Gives an attribute the values of an attribute of the old schema, which has another kind.
  ///
  /// ```swift
  /// .converting("seats", of: "Plane", .clamping)                 // Int64 to Int16, say
  /// .converting("year", of: "Song", to: "released", .orNil)      // String to Int
  /// ```
  ///
  /// If only a subclass has the attribute in the new schema, objects of other classes lose their values. The rule
  /// `.refusing` still checks those values.
  ///
  /// - Parameters:
  ///   - attribute: an attribute of the old schema.
  ///   - entity: its entity, by the old name.
  ///   - newName: the attribute of the new schema; nil if it has the same name.
  ///   - rule: the rule for a value that the new kind can't hold. nil stays nil.
  public static func converting(
    _ attribute: String,
    of entity: String,
    to newName: String? = nil,
    _ rule: ConversionRule
  ) -> MigrationPass {
    let conversion = AttributeConversion(
      entity: entity,
      attribute: attribute,
      newName: newName ?? attribute,
      rule: rule
    )
    var pass = forEach(entity) { try conversion.convert($0) }
    pass.conversion = conversion
    return pass
  }

  /// Calls `body` once. Its changes are one transaction.
  public static func once(_ body: @escaping @Sendable (MigrationBatch) throws -> Void) -> MigrationPass {
    MigrationPass(subject: .store, body: body)
  }
}

extension CustomStage {
  /// - Throws: `unknownEntity` for a pass through an entity that the store doesn't have.
  func check(_ old: CataloguedSchema) throws(ContextError) {
    for pass in passes {
      guard case .objects(let name, _) = pass.subject, old.entity(named: name) == nil else { continue }
      throw ContextError(
        .unknownEntity,
        "a pass goes through \(name), which the store doesn't have; it has \(old.entities.map(\.name).joined(separator: ", "))",
        context: .init(entity: name)
      )
    }
  }
}
