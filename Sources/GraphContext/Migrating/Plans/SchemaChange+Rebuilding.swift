/// The part of a change that a custom stage takes over.
struct SchemaRebuilding {
  /// The entities whose objects the stage copies and changes, by their new names.
  var entities: Set<String> = []
  /// Entities and classes of the new schema whose objects the stage makes anew: these don't continue any of the store.
  var madeAnew: Set<String> = []
  /// The properties of rebuilt entities that don't continue any property of the store.
  var begunAnew: Set<SchemaMatching.PropertyName> = []
}

extension SchemaChange {
  /// Infers the change for a stage. In the entities that a custom stage rebuilds, properties that can't be inferred
  /// begin anew.
  static func inferred(
    from old: CataloguedSchema,
    to new: Schema,
    rebuilding given: SchemaRebuilding,
    isRefolding: Bool,
    isEmpty: (CataloguedEntity) -> Bool
  ) -> SchemaChange {
    var rebuilding = given
    while true {
      let change = SchemaChange(
        from: old,
        to: new,
        rebuilding: rebuilding,
        isRefolding: isRefolding,
        isEmpty: isEmpty
      )
      // If a relationship begins anew, its inverse may not be able to continue.
      let known = rebuilding.begunAnew
      for name in change.obstacles.compactMap(\.propertyName) {
        // If an ordered relationship begins anew, so do its places.
        let place = RelationshipDescription.placeName(name.property)
        rebuilding.begunAnew.formUnion([name, .init(entity: name.entity, property: place)])
      }
      rebuilding.begunAnew = rebuilding.begunAnew.filter { given.entities.contains($0.entity) }
      if rebuilding.begunAnew == known { return change }
    }
  }

  /// Gives the entities to be rebuilt separate trees, which are filled from those of the store before the passes
  /// run. The rules for their objects are checked after the last pass.
  mutating func rebuild(passes: [MigrationPass]) {
    let known = Set(old.entities.flatMap(\.trees))
    let numbers = Set(target.entities.filter { rebuilt.contains($0.name) }.map(\.number))
    var steps: [MigrationStep] = []
    for place in target.entities.indices {
      moveLinks(of: place, known, numbers, &steps)
      let entity = target.entities[place]
      // The values of an owner follow the passes' changes of its members.
      if rebuilt.contains(entity.name) || ownsValuesOfRebuilt(entity) {
        moveRecords(of: place, known, &steps)
      }
    }
    work = steps.filter { !$0.isIndex } + work + steps.filter(\.isIndex)
    work += passes.enumerated().map { place, pass in .pass(place, entity: entity(of: pass)?.number) }
    noteDroppedTrees()
  }

  /// Postpones the checks of objects that the passes change until the passes have run.
  mutating func postponeChecks() {
    let numbers = Set(target.entities.filter { rebuilt.contains($0.name) }.map(\.number))
    lateChecks = checks.filter { numbers.contains($0.entity) }
    checks.removeAll { numbers.contains($0.entity) }
  }

  private func entity(of pass: MigrationPass) -> CataloguedEntity? {
    if case .objects(let name, _) = pass.subject { old.entity(named: name) } else { nil }
  }

  private mutating func moveRecords(of place: Int, _ known: Set<String>, _ steps: inout [MigrationStep]) {
    let entity = target.entities[place]
    guard known.contains(entity.tree) else { return }
    target.entities[place].tree = target.takeTree(.records)
    steps.append(.records(entity: entity.number, from: entity.tree))
    for (index, description) in entity.indexes.enumerated() where known.contains(description.tree) {
      target.entities[place].indexes[index].tree = target.takeTree(.index)
      steps.append(.index(entity: entity.number, description.number))
    }
    for (property, description) in entity.properties.enumerated() {
      guard let source = description.blobTree, known.contains(source) else { continue }
      let tree = target.takeTree(.blobs)
      target.entities[place].properties[property].blobTree = tree
      steps.append(.copiedValues(from: source, to: tree))
    }
  }

  /// Moves links to separate trees: the trees of a relationship change with the objects at either end.
  private mutating func moveLinks(
    of place: Int,
    _ known: Set<String>,
    _ rebuilt: Set<EntityNumber>,
    _ steps: inout [MigrationStep]
  ) {
    let entity = target.entities[place]
    for (property, description) in entity.properties.enumerated() {
      guard var relationship = description.relationship, let source = relationship.tree,
        known.contains(source)
      else { continue }
      let isShared = relationship.cardinality == .many && rebuilt.contains(relationship.destination)
      guard isShared || rebuilt.contains(entity.number) else { continue }
      let tree = target.takeTree(relationship.cardinality == .many ? .pairs : .references)
      relationship.tree = tree
      steps.append(.copiedPairs(from: source, to: tree))
      if let order = relationship.orderTree, known.contains(order) {
        let moved = target.takeTree(.orders)
        relationship.orderTree = moved
        steps.append(.order(of: tree, in: moved))
      }
      target.entities[place].properties[property].content = .relationship(relationship)
    }
  }

  /// The target as the passes see it: without the constraints that are checked after them.
  var loosenedTarget: CataloguedSchema {
    var loosened = target
    for check in lateChecks { loosened.loosen(check) }
    return loosened
  }
}

extension CataloguedSchema {
  fileprivate mutating func loosen(_ check: SchemaChange.Check) {
    guard let place = entities.firstIndex(where: { $0.number == check.entity }) else { return }
    switch check {
    case .noNil(_, let number):
      // A folded copy may be nil exactly if its source may.
      let loose = entities[place].properties.filter { $0.number == number || $0.isFoldedCopy(of: number) }
      for property in loose.map(\.number) { entities[place].loosen(property) }
    case .unique(_, let number):
      guard let index = entities[place].indexes.firstIndex(where: { $0.number == number }) else { return }
      entities[place].indexes[index].isUnique = false
    }
  }
}

extension CataloguedEntity {
  fileprivate mutating func loosen(_ number: PropertyNumber) {
    for place in properties.indices where properties[place].number == number { properties[place].loosen() }
    for member in classes.indices { classes[member].required.removeAll { $0 == number } }
  }
}

extension CataloguedProperty {
  fileprivate func isFoldedCopy(of number: PropertyNumber) -> Bool {
    derivation?.folding != nil && derivation?.attribute == number
  }

  fileprivate mutating func loosen() {
    isRequiredPart = false
    switch content {
    case .attribute(let kind, _): content = .attribute(kind, isOptional: true)
    case .relationship(var relationship):
      relationship.cardinality = .optional
      content = .relationship(relationship)
    }
  }
}

extension MigrationStep {
  fileprivate var isIndex: Bool { if case .index = self { true } else { false } }
}

extension SchemaChange.Check {
  fileprivate var entity: EntityNumber {
    switch self {
    case .noNil(let entity, _), .unique(let entity, _): entity
    }
  }
}

extension SchemaRefusal.Obstacle {
  fileprivate var propertyName: SchemaMatching.PropertyName? {
    property.map { SchemaMatching.PropertyName(entity: entity, property: $0) }
  }
}
