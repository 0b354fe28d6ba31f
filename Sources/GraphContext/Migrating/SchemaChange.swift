import Predicates

/// The change that a store needs for another schema: the new catalogue, the work on its records, the checks of its
/// values before that, and the changes that can't be inferred.
///
/// Docs/SchemaChanges.md has a table of every change that is inferred, with its cost.
struct SchemaChange {
  /// A rule for the values in the store, as the target reads them.
  enum Check: Sendable, Hashable {
    /// No object has nil in the property.
    case noNil(entity: EntityNumber, PropertyNumber)
    /// No two objects have equal values in the properties of the index, which is one of ``target``.
    case unique(entity: EntityNumber, IndexNumber)
  }

  let old: CataloguedSchema
  /// The catalogue after the change.
  var target: CataloguedSchema
  private(set) var obstacles: [SchemaRefusal.Obstacle] = []
  var checks: [Check] = []
  /// The rules for the values after the last pass of a custom stage, in the entities that the stage rebuilds.
  var lateChecks: [Check] = []
  /// Steps that build trees from stored data.
  var work: [MigrationStep] = []
  /// To-one relationships that get the links of their inverses.
  var newInverses: [NewInverse] = []
  /// Entities whose derived values are computed from stored data.
  var derivedAnew: Set<EntityNumber> = []
  /// True if the stored folded strings can't be used any more.
  let isRefolding: Bool
  /// Trees that the store has and the target lacks.
  private(set) var droppedTrees: [String] = []
  /// The new names of the entities that a custom stage rebuilds.
  let rebuilt: Set<String>
  /// The names of entities and classes whose objects a custom stage makes anew.
  let madeAnew: Set<String>
  /// The trees of the store whose links have places.
  let placedTrees: Set<String>

  /// True if the store has the schema already.
  var isEmpty: Bool { old == target }

  /// - Parameters:
  ///   - rebuilding: the part that a custom stage takes over.
  ///   - isRefolding: whether strings are folded in another way than those in the store's indexes were.
  ///   - isEmpty: whether an entity of the store has no objects: then there are no values that a change could lose.
  init(
    from old: CataloguedSchema,
    to new: Schema,
    rebuilding: SchemaRebuilding = SchemaRebuilding(),
    isRefolding: Bool = false,
    isEmpty: (CataloguedEntity) -> Bool = { _ in false }
  ) {
    self.old = old
    self.isRefolding = isRefolding
    rebuilt = rebuilding.entities
    madeAnew = rebuilding.madeAnew
    placedTrees = old.placedTrees
    target = old
    let matching = SchemaMatching(
      old,
      new,
      besides: rebuilding,
      numbering: &target,
      isEmpty: isEmpty
    )
    var entities: [CataloguedEntity] = []
    for match in matching.entities {
      entities.append(entity(match, matching, isEmpty: match.isEmpty))
    }
    noteLostClasses(matching, isEmpty: isEmpty)
    target.entities = entities
    noteDerivedAnew(isEmpty: isEmpty)
    postponeChecks()
    noteDroppedTrees()
    let trees = Set(target.entities.flatMap(\.trees))
    // A tree that is built is in the target, unless there is an obstacle.
    work.removeAll { step in step.builtLinks.map { !trees.contains($0) } ?? false }
  }

  mutating func noteDroppedTrees() {
    let trees = Set(target.entities.flatMap(\.trees))
    droppedTrees = old.entities.flatMap(\.trees).filter { !trees.contains($0) }
  }

  /// - Throws: `schemaMismatch` if trees have to be made: a store that is open for reading only can't get any.
  func checkNothingToBuild() throws(ContextError) {
    let derived = derivedAnew.sorted().compactMap(target.entity).map { "the derived values of \($0.name)" }
    let inverses = newInverses.compactMap { inverse in
      target.entity(inverse.entity).flatMap { entity in
        entity.property(inverse.property).map { "the values of \(entity.name).\($0.name)" }
      }
    }
    let names = work.compactMap(nameOfTree) + derived + inverses
    guard !names.isEmpty else { return }
    var context = ContextError.Context()
    if case .index(let number, let index) = work.first, let entity = target.entity(number) {
      context.entity = entity.name
      let properties = entity.indexes.first { $0.number == index }?.properties ?? []
      context.properties = properties.compactMap { entity.property($0)?.name }
    }
    throw ContextError(
      .schemaMismatch,
      "the store lacks \(names.joined(separator: " and ")), and is open for reading only:"
        + " opening it for writing builds what is missing",
      context: context
    )
  }

  private func nameOfTree(_ work: MigrationStep) -> String? {
    switch work {
    case .index(let entity, let index):
      guard let entity = target.entity(entity),
        let index = entity.indexes.first(where: { $0.number == index })
      else { return nil }
      return "the index \(entity.name(of: index)) of \(entity.name)"
    case .exchangedPairs(_, let tree), .barePairs(_, let tree), .placedPairs(_, let tree),
      .order(_, let tree):
      for entity in target.entities {
        guard let owner = entity.properties.first(where: { $0.trees.contains(tree) }) else { continue }
        return "the \(work.isOrder ? "order" : "links") of \(entity.name).\(owner.name)"
      }
      return nil
    case .records, .copiedPairs, .copiedValues, .inverse, .derived, .pass: return nil
    }
  }

  /// Notes that objects have no value in a required property: a custom stage that rebuilds the entity has to set it.
  mutating func noteMissingValues(
    of property: SchemaMatching.Property,
    in entity: SchemaMatching.Entity,
    _ message: String
  ) {
    let names = (entity: entity.description.name, property: property.description.name)
    if rebuilt.contains(names.entity) {
      checks.append(.noNil(entity: entity.number, property.number))
    } else {
      note(names.entity, names.property, "\(names.entity).\(names.property) \(message)")
    }
  }

  mutating func note(_ entity: String, _ property: String?, _ message: String) {
    obstacles.append(SchemaRefusal.Obstacle(entity: entity, property: property, message: message))
  }

  // MARK: Entities

  private mutating func entity(
    _ match: SchemaMatching.Entity,
    _ matching: SchemaMatching,
    isEmpty: Bool
  ) -> CataloguedEntity {
    var result = CataloguedEntity(
      number: match.number,
      name: match.description.name,
      tree: match.old?.tree ?? TreeKind.records.treeName(match.number.rawValue),
      properties: [],
      indexes: [],
      layouts: match.old?.layouts ?? []
    )
    result.keepFirstName(of: match.old)
    var rekeyed: Set<PropertyNumber> = []
    for property in match.properties {
      let continued = self.property(property, match, matching, isEmpty: isEmpty)
      result.properties.append(continued.property)
      result.read(continued.property, nilAs: continued.nilValue)
      if continued.hasOtherKeys { rekeyed.insert(property.number) }
    }
    result.forgetRemovedValues()
    result.arrange(like: match.old)
    result.addLayout()
    if result.layouts.count > CataloguedEntity.maximumLayoutCount {
      note(
        result.name,
        nil,
        "\(result.name) has had \(CataloguedEntity.maximumLayoutCount) layouts of its records, and can have no more in this store"
      )
    }
    result.indexes = indexes(of: match, result, rekeyed: rekeyed, isEmpty: isEmpty)
    result.classes = classes(of: match, result, among: matching)
    result.forgetDefaultsOfSubclasses(continuing: match.old)
    return result
  }
}

extension CataloguedEntity {
  /// Keeps the order of the store's properties if there are no other properties: then the records needn't change.
  fileprivate mutating func arrange(like old: CataloguedEntity?) {
    guard let old else { return }
    let places = Dictionary(uniqueKeysWithValues: old.properties.enumerated().map { ($1.number, $0) })
    guard properties.count == old.properties.count,
      properties.allSatisfy({ places[$0.number] != nil })
    else { return }
    properties.sort { places[$0.number, default: 0] < places[$1.number, default: 0] }
  }

  /// Gives the entity a new layout if its newest one lacks a property, has one too many, or reads a nil as another
  /// value.
  fileprivate mutating func addLayout() {
    let fields = stored.compactMap { property in
      property.storedKind.map { CataloguedLayout.Field(property: property.number, kind: $0) }
    }
    if let newest = layouts.last, Set(newest.fields) == Set(fields) { return }
    layouts.append(CataloguedLayout(number: UInt32(layouts.count), fields: fields))
  }

  /// Sets the value that is read for nil in the existing records. If a value was set before, it stays, converted to
  /// the property's kind; otherwise it is `value`.
  fileprivate mutating func read(_ property: CataloguedProperty, nilAs value: AttributeValue?) {
    for layout in layouts.indices {
      for field in layouts[layout].fields.indices
      where layouts[layout].fields[field].property == property.number {
        let known = layouts[layout].fields[field].nilValue
        layouts[layout].fields[field].nilValue =
          known.flatMap { known in
            property.storedKind.flatMap { known.widened(to: $0) }
          } ?? value
      }
    }
  }

  /// Removes the values that are read for nil in properties that don't exist any more.
  fileprivate mutating func forgetRemovedValues() {
    for layout in layouts.indices {
      for field in layouts[layout].fields.indices
      where property(layouts[layout].fields[field].property)?.storedKind == nil {
        layouts[layout].fields[field].nilValue = nil
      }
    }
  }
}
