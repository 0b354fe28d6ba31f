import Predicates

/// A change of many stored objects without objects in memory, in one commit or in one for each chunk. Each commit is
/// worked out in the writer's turn, from the state that it changes: so it conflicts with nothing.
struct StoreBatch {
  private let coordinator: StoreCoordinator
  private let durability: Durability?
  private let author: String?

  /// Makes a batch.
  ///
  /// - Parameter author: the author of the changes, for the history.
  init(_ coordinator: StoreCoordinator, _ durability: Durability?, author: String?) {
    self.coordinator = coordinator
    self.durability = durability
    self.author = author
  }

  /// Deletes the objects of a query, and the objects that delete rules delete with them.
  ///
  /// - Returns: the numbers of the query's objects, ascending.
  func delete(
    _ query: ResolvedQuery,
    _ entity: StoredEntity,
    chunkSize: Int?
  ) throws(ContextError) -> [ObjectNumber] {
    try change(query, entity, chunkSize: chunkSize, needsRecords: false) {
      (_, rows, request) throws(ContextError) in
      request.entities[entity.ordinal].deleted = rows.map(\.number)
      request.appliesToOneRules = true
    }
  }

  /// Deletes all objects of these queries, one for each entity.
  func deleteAll(_ queries: [ResolvedQuery]) throws(ContextError) {
    _ = try commit { source, request throws(ContextError) in
      for (ordinal, query) in queries.enumerated() {
        let rows = try source.rows(of: query, over: nil, needsRecords: false)
        request.entities[ordinal].deleted = rows.map(\.number).sorted()
      }
      return []
    }
  }

  /// Sets attributes of the objects of a query.
  ///
  /// - Returns: the numbers of the query's objects, ascending.
  func update(
    _ query: ResolvedQuery,
    _ entity: StoredEntity,
    _ assignments: [ResolvedAssignment],
    chunkSize: Int?
  ) throws(ContextError) -> [ObjectNumber] {
    let checks = RecordChecks(coordinator)
    // The assignments are in the order in which the encoder takes values of variable width.
    let assignments = entity.slotsByPlace.flatMap { slot in assignments.filter { $0.slot == slot } }
    let slots = SlotSet(assignments.map(\.slot))
    // The other values were tried before the writer's turn.
    let calculated = SlotSet(assignments.filter { $0.reading == .unknown }.map(\.slot))
    let program = try ContextError.resolving { () throws(QueryError) in
      try ExpressionProgram(
        compiling: assignments.map(\.expression),
        for: entity.schema,
        in: coordinator.schema.schema
      )
    }
    return try change(query, entity, chunkSize: chunkSize, needsRecords: true) {
      (source, rows, request) throws(ContextError) in
      let changes = request.entities[entity.ordinal]
      var reader = source.reader(of: program.paths)
      var samples = AttributeSamples(coordinator, entity)
      defer { samples.end() }
      for row in rows {
        guard let record = row.record, !record.isEmpty else {
          throw .damagedRecord(row.number, of: entity.name)
        }
        let values = try ContextError.mapping {
          try reader.begin(row.number, record)
          return try assignments.indices.map { try assignments[$0].kept(program.value(at: $0, &reader)) }
        }
        changes.encoder.begin()
        for (assignment, value) in zip(assignments, values) {
          _ = changes.encoder.set(value, at: assignment.slot)
        }
        let patch = UnsafeRawBufferPointer(changes.encoder.finish())
        let new = RecordView(validated: patch, layout: entity.layout)
        let refused = changes.encoder.refused
        checks.check(new, refused: refused, row.number, entity, in: slots, &request.failures)
        let stored = RecordView(validated: record, layout: entity.layout)
        let changed = source.slots(in: slots, of: new, thatDifferFrom: stored, entity)
        let unreadable = samples.unreadableSlots(of: new, in: changed.intersection(calculated), row.number)
        request.failures.noteUnreadable(unreadable, row.number, entity, in: coordinator.storeID)
        if !changed.isEmpty {
          changes.updated.append(.init(number: row.number, bytes: patch, slots: changed))
        }
      }
    }
  }

  /// Sets an attribute that is stored externally.
  ///
  /// - Returns: false if the object has an equal value already. Nothing is stored then, and a staged value is still
  ///   staged.
  /// - Throws: `objectNotFound` if there is no such object.
  @discardableResult
  func set(
    _ content: NewBlob,
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) throws(ContextError) -> Bool {
    var isNew = true
    _ = try commit { source, request throws(ContextError) in
      guard let stored = try source.record(number, of: entity) else {
        let id = entity.objectID(number, in: coordinator.storeID)
        let context = ContextError.Context(entity: entity.name, objectID: id)
        throw ContextError(.objectNotFound, "there is no \(entity.name) \(number)", context: context)
      }
      if let member = entity.storedClass(of: number), member.foreignSlots.contains(slot) {
        let name = entity.schema.stored[slot].name
        let message = "\(entity.name).\(name) is no property of \(member.name), the class of object \(number)"
        throw ContextError(.wrongValue, message, context: .init(entity: member.name, properties: [name]))
      }
      let changes = request.entities[entity.ordinal]
      changes.encoder.begin()
      switch content {
      case .value(let value): _ = changes.encoder.set(value, at: slot)
      case .reference(let reference): changes.encoder.set(reference, at: slot)
      }
      let patch = UnsafeRawBufferPointer(changes.encoder.finish())
      let (new, old) = (
        RecordView(validated: patch, layout: entity.layout),
        RecordView(validated: stored, layout: entity.layout)
      )
      let changed = source.slots(in: SlotSet(slot), of: new, thatDifferFrom: old, entity)
      isNew = !changed.isEmpty
      if isNew { changes.updated.append(.init(number: number, bytes: patch, slots: changed)) }
      return []
    }
    return isNew
  }

  /// Changes the objects of a query in one commit, or in one for each chunk.
  ///
  /// - Parameter fill: puts the changes of these rows, which ascend by number, into the request of a commit.
  /// - Returns: the numbers of the objects, ascending.
  private func change(
    _ query: ResolvedQuery,
    _ entity: StoredEntity,
    chunkSize: Int?,
    needsRecords: Bool,
    _ fill: (any StoredSource, [QueryRow], inout SaveRequest) throws(ContextError) -> Void
  ) throws(ContextError) -> [ObjectNumber] {
    func commit(_ query: ResolvedQuery) throws(ContextError) -> [ObjectNumber] {
      try self.commit { source, request throws(ContextError) in
        var rows = try source.rows(of: query, over: nil, needsRecords: needsRecords)
        let ascend = zip(rows, rows.dropFirst()).allSatisfy { $0.number < $1.number }
        if !ascend { rows.sort { $0.number < $1.number } }
        try fill(source, rows, &request)
        return rows.map(\.number)
      }
    }
    guard let chunkSize else { return try commit(query) }
    let numbers = try coordinator.engine.newestSource().rows(of: query, over: nil, needsRecords: false)
      .map(\.number).sorted()
    var done: [ObjectNumber] = []
    for start in stride(from: 0, to: numbers.count, by: max(1, chunkSize)) {
      let chunk = numbers[start..<min(numbers.count, start + max(1, chunkSize))]
      done += try afterCommitting(done, entity) { () throws(ContextError) in
        try commit(query.restricted(to: chunk))
      }
    }
    return done
  }

  /// Runs `body`, which commits a chunk; its error has the IDs of the objects of the chunks before.
  private func afterCommitting<Result>(
    _ numbers: [ObjectNumber],
    _ entity: StoredEntity,
    _ body: () throws(ContextError) -> Result
  ) throws(ContextError) -> Result {
    do throws(ContextError) { return try body() } catch {
      throw error.after(committing: numbers.map { entity.objectID($0, in: coordinator.storeID) })
    }
  }

  /// Inserts the objects that rows describe, in one commit or in one for each chunk. The records are encoded before the
  /// writer's turn.
  ///
  /// - Returns: the numbers of the rows' objects: new ones, and existing ones that have their unique values.
  func insert<Row>(
    _ rows: some Sequence<Row>,
    _ columns: [ResolvedColumn<Row>],
    _ entity: StoredEntity,
    classTag: UInt16,
    chunkSize: Int,
    ifExists policy: UniquePolicy?
  ) throws(ContextError) -> [ObjectNumber] {
    let insertion = BatchInsertion(coordinator, entity, classTag: classTag, columns)
    var (iterator, numbers) = (rows.makeIterator(), [ObjectNumber]())
    while true {
      let chunk = try afterCommitting(numbers, entity) { () throws(ContextError) in
        var failures = SaveFailures()
        let changes = try insertion.encode(&iterator, atMost: chunkSize, &failures)
        try failures.throwIfAny()
        return changes.inserted.isEmpty ? [] : try insert(changes, entity, policy)
      }
      if chunk.isEmpty { return numbers }
      numbers += chunk
    }
  }

  /// Inserts objects in one commit, and returns their numbers, or those of the existing objects that they are unified
  /// with.
  private func insert(
    _ changes: EntityChanges,
    _ entity: StoredEntity,
    _ policy: UniquePolicy?
  ) throws(ContextError) -> [ObjectNumber] {
    try commit { source, request throws(ContextError) in
      request.entities[entity.ordinal] = changes
      let numbers = changes.inserted.map(\.number)
      let policies = UniquePolicies(coordinator, policy)
      guard policies.unifiesAny else {
        try BatchOrder(changes: changes, source: source).place()
        return numbers
      }
      var resolver = UniqueResolver(request, [], policies, in: source, coordinator)
      try resolver.resolve()
      request = resolver.request
      try BatchOrder(changes: request.entities[entity.ordinal], source: source).place()
      return numbers.map { resolver.owner($0, entity.ordinal) }
    }
  }

  private func commit(
    _ fill: (any StoredSource, inout SaveRequest) throws(ContextError) -> [ObjectNumber]
  ) throws(ContextError) -> [ObjectNumber] {
    var numbers: [ObjectNumber] = []
    let outcome = try coordinator.engine.commit(
      durability,
      turn: .waiting(timeout: nil),
      showsValues: coordinator.showsValues
    ) { base throws(ContextError) in
      var request = SaveRequest(
        entities: coordinator.schema.entities.map(EntityChanges.init),
        baseCommit: base.commit,
        conflicts: [],
        deletedInParent: [],
        countRules: coordinator.models.countRules,
        origin: coordinator.origin(author)
      )
      numbers = try fill(try base.source(), &request)
      try request.failures.throwIfAny()
      return request
    } reviewing: { _, _, _, _ in
      // Batches call no hooks.
      true
    }
    if outcome?.changes != nil { coordinator.tellListeners() }
    return numbers
  }
}

extension ResolvedAssignment {
  /// Returns the value as the attribute holds it: a calculation gives a whole number where it can. A calculation is done
  /// in Doubles, so it notices no overflow of a Float: as one of a Double, that is nil.
  fileprivate func kept(_ value: AttributeValue) -> AttributeValue {
    if case .int(let number) = value, kind == .double || kind == .float { return .double(Double(number)) }
    if case .double(let number) = value, kind == .float, number.isFinite, !Float(number).isFinite {
      return .null
    }
    return value
  }
}
