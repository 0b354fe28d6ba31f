import Foundation
import PageStore
import Predicates

/// A change of a store's schema that is under way, as the catalogue keeps it between two of its commits.
///
/// Until the switch the store has the old schema, and only this value names the trees that are built. After the
/// switch the store has the new schema, and trees that nothing refers to are removed.
struct MigrationState: Sendable, Hashable {
  /// The catalogue after the switch.
  var target: CataloguedSchema
  /// Trees to be built, in order.
  var steps: [MigrationStep]
  /// The rules and tables by which strings are folded in the trees so far (``StringFolding/tables``); nil if
  /// ``target`` has no folded strings.
  var folding: String?
  /// The number of steps whose trees are built.
  var finishedStepCount = 0
  /// The key of the next step's source that was done last; nil before the first.
  var position: [UInt8]?
  /// The number of rows that were done so far, of all steps.
  var rowCount = 0
  /// The number of rows of all steps.
  let totalRowCount: Int
  var isSwitched = false
  /// After the switch, the trees to remove.
  var droppedTrees: [String]

  /// Returns whether `change` leads to the same catalogue by the same steps, and folds strings in the same way.
  /// Then the migrator continues this change from its position, with the defaults that were evaluated when it
  /// began.
  func canGoOn(as change: SchemaChange) -> Bool {
    !isSwitched && target.withoutDefaults == change.target.withoutDefaults && steps == change.work
      && folding == change.target.folding
  }

  /// A number of rows that no store reaches.
  private static let greatestRowCount = 1 << 48

  /// Returns the reason why the change can't belong to a store of this catalogue; nil if it can. The bytes come
  /// from disk, and they decide which trees are removed.
  func unsoundness(in schema: CataloguedSchema) -> String? {
    if let problem = target.unsoundness { return problem }
    for count in [rowCount, totalRowCount] where !(0...Self.greatestRowCount).contains(count) {
      return "it has \(count) rows"
    }
    let kept = ReservedTree.names.union(schema.entities.flatMap(\.trees))
    if isSwitched, let tree = droppedTrees.first(where: kept.contains) {
      return "it removes the tree \(tree), which is in use"
    }
    return nil
  }

  var isBuilt: Bool { finishedStepCount == steps.count }

  var nextStep: MigrationStep? { isBuilt ? nil : steps[finishedStepCount] }

  /// Notes that rows of the next step were done.
  ///
  /// - Parameter position: the key that was done last; nil if the step is finished.
  mutating func advance(to position: [UInt8]?, rowCount: Int) {
    self.rowCount += rowCount
    self.position = position
    if position == nil { finishedStepCount += 1 }
  }

  /// Returns the trees that belong to neither schema's catalogue while the change is under way.
  func trees(besides schema: CataloguedSchema) -> Set<String> {
    Set(isSwitched ? droppedTrees : target.entities.flatMap(\.trees))
      .subtracting(schema.entities.flatMap(\.trees))
  }
}

extension MigrationState {
  /// Makes the state at the beginning of a change.
  init(_ change: SchemaChange, in snapshot: Snapshot) throws {
    self.init(
      target: change.target,
      steps: change.work,
      folding: change.target.folding,
      totalRowCount: try change.work.reduce(0) { try $0 + change.rowCount(of: $1, in: snapshot) },
      droppedTrees: change.droppedTrees
    )
  }
}

extension SchemaChange {
  /// Returns the number of rows that a step will work on.
  fileprivate func rowCount(of step: MigrationStep, in snapshot: Snapshot) throws -> Int {
    switch step {
    case .index(let number, _), .derived(let number), .pass(_, let number?):
      // The index of an entity to be rebuilt has as many entries as the store has records.
      try snapshot.treeIfPresent(old.entity(number)?.tree ?? "")?.count ?? 0
    case .pass: 1
    default: try snapshot.treeIfPresent(step.source ?? "")?.count ?? 0
    }
  }
}

extension CataloguedSchema {
  /// The catalogue without the values that are read where a record lacks a property or has nil.
  fileprivate var withoutDefaults: CataloguedSchema {
    var copy = self
    for entity in copy.entities.indices {
      for property in copy.entities[entity].properties.indices {
        copy.entities[entity].properties[property].absentValue = .null
      }
      for layout in copy.entities[entity].layouts.indices {
        for field in copy.entities[entity].layouts[layout].fields.indices {
          copy.entities[entity].layouts[layout].fields[field].nilValue = nil
        }
      }
    }
    return copy
  }
}

// MARK: - Storing

extension MigrationState: Codable {
  private enum CodingKeys: CodingKey {
    case target, layouts, steps, finishedStepCount, position, rowCount, totalRowCount, isSwitched
    case folding, droppedTrees
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    target = try container.decode(CataloguedSchema.self, forKey: .target)
    steps = try container.decode([MigrationStep].self, forKey: .steps)
    folding = try container.decodeIfPresent(String.self, forKey: .folding)
    finishedStepCount = try container.decode(Int.self, forKey: .finishedStepCount)
    position = try container.decodeIfPresent(Data.self, forKey: .position).map { [UInt8]($0) }
    rowCount = try container.decode(Int.self, forKey: .rowCount)
    totalRowCount = try container.decode(Int.self, forKey: .totalRowCount)
    isSwitched = try container.decode(Bool.self, forKey: .isSwitched)
    droppedTrees = try container.decode([String].self, forKey: .droppedTrees)
    let layouts = try container.decode([[CataloguedLayout]].self, forKey: .layouts)
    guard layouts.count == target.entities.count, finishedStepCount >= 0, finishedStepCount <= steps.count
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .layouts,
        in: container,
        debugDescription: "wrong counts"
      )
    }
    for (place, layouts) in layouts.enumerated() { target.entities[place].layouts = layouts }
    if let problem = target.unsoundness {
      throw DecodingError.dataCorruptedError(forKey: .target, in: container, debugDescription: problem)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(target, forKey: .target)
    try container.encode(target.entities.map(\.layouts), forKey: .layouts)
    try container.encode(steps, forKey: .steps)
    try container.encodeIfPresent(folding, forKey: .folding)
    try container.encode(finishedStepCount, forKey: .finishedStepCount)
    try container.encodeIfPresent(position.map { Data($0) }, forKey: .position)
    try container.encode(rowCount, forKey: .rowCount)
    try container.encode(totalRowCount, forKey: .totalRowCount)
    try container.encode(isSwitched, forKey: .isSwitched)
    try container.encode(droppedTrees, forKey: .droppedTrees)
  }
}

extension SchemaTree {
  static let migrationKey = Array("migration".utf8)

  /// Returns the change of the schema that is under way; nil if there is none.
  static func migration(in snapshot: Snapshot) throws(ContextError) -> MigrationState? {
    try SchemaEntries(snapshot)?.migration()
  }

  static func store(_ state: MigrationState, in transaction: inout WriteTransaction) throws {
    try transaction.tree(name).put(migrationKey, encoded(state))
  }

  static func removeMigration(in transaction: inout WriteTransaction) throws {
    _ = try transaction.tree(name).remove(migrationKey)
  }
}
