import PageStore
import Predicates

/// The counts for the planner, read from the counted trees of a snapshot.
struct StoreCounting: IndexCounting {
  let view: StoreView

  func count(of entity: EntityID) throws -> Int {
    Self.plausible(try view.records(of: view.schema[entity])?.count ?? 0)
  }

  func count(of entity: EntityID, in range: ClosedRange<ObjectNumber>) throws -> Int {
    Self.plausible(try view.records(of: view.schema[entity])?.count(in: KeyRange(range)) ?? 0)
  }

  func count(_ range: IndexRange, in index: ResolvedIndex) throws -> Int {
    guard let tree = try view.tree(of: index) else { return 0 }
    if range == .all { return Self.plausible(try tree.count) }
    return Self.plausible(try tree.count(in: IndexKeys.keys(range, in: index)))
  }

  /// Limits a count from the file, because a forged count must not trap: sums of the returned values don't
  /// overflow.
  private static func plausible(_ count: Int) -> Int { min(max(0, count), 1 << 48) }

  func numbers(_ range: IndexRange, in index: ResolvedIndex) throws -> [ObjectNumber] {
    guard let tree = try view.tree(of: index) else { return [] }
    var numbers: [ObjectNumber] = []
    var cursor = tree.cursor(in: IndexKeys.keys(range, in: index))
    while try cursor.next() { numbers.append(try cursor.number()) }
    return numbers
  }

  func owners(of elements: [ObjectNumber], in relationship: ToManyID) throws -> [ObjectNumber] {
    let toMany = view.schema[relationship].relationship
    var owners: Set<ObjectNumber> = []
    switch toMany.storage {
    case .references(let slot, _):
      for element in elements {
        let owner = try view.withRecord(element, of: view.schema.entities[toMany.destination]) { record in
          record.isNull(slot) ? nil : record.reference(slot)
        }
        if let owner = owner ?? nil { owners.insert(owner) }
      }
    case .pairs(let trees):
      for element in elements { owners.formUnion(try view.elements(of: element, inTree: trees.backward)) }
    }
    return owners.sorted()
  }
}

extension StoreCounting {
  func numbers(
    of entity: EntitySchema,
    where condition: NormalPredicate,
    scope: Int,
    atMost limit: Int
  ) throws -> [ObjectNumber]? {
    let program = try FilterProgram(
      compiling: condition,
      paths: RowPaths(entity, in: view.schema.schema, scope: scope)
    )
    let all = try RowStream(
      .fullScan(rows: try count(of: entity.id)),
      of: view.schema[entity.id],
      in: view,
      isReversed: false,
      reading: SlotSet(rawValue: program.paths.ownSlots)
    )
    var rows = MatchingRows(all, program, unsaved: nil, in: view)
    var reader = view.reader(of: program.paths)
    var numbers: [ObjectNumber] = []
    while let row = try rows.next(&reader) {
      if numbers.count == limit { return nil }
      numbers.append(row.number)
    }
    return numbers
  }
}

extension StoreCounting: RowSampling {
  func hits(
    at ranks: [Int],
    of access: AccessPath,
    in entity: EntitySchema,
    passing tests: [NormalPredicate]
  ) throws -> [Int] {
    var paths = RowPaths(entity, in: view.schema.schema)
    let programs = try tests.map { test in
      let program = try FilterProgram(compiling: test, paths: paths)
      paths = program.paths
      return program
    }
    var reader = view.reader(of: paths)
    var hits = tests.map { _ in 0 }
    for rank in ranks {
      var rows = try RowStream(
        access,
        of: view.schema[entity.id],
        in: view,
        isReversed: false,
        skipping: rank,
        reading: SlotSet(rawValue: paths.ownSlots),
        firstBatchCount: 1
      )
      guard let row = try rows.next(), let record = row.record else { continue }
      try reader.begin(row.number, record)
      for (place, program) in programs.enumerated() where try program.matches(&reader) { hits[place] += 1 }
    }
    return hits
  }
}

extension KeyRange {
  /// The keys of the records of objects with these numbers.
  init(_ numbers: ClosedRange<ObjectNumber>) {
    self.init(
      lower: .including(KeyCoder.key(of: numbers.lowerBound)),
      upper: .including(KeyCoder.key(of: numbers.upperBound))
    )
  }
}
