import Predicates

// Queries whose results are read in small batches.

extension ManagedObjectContext {
  /// Returns the objects that the query describes, in batches of this size:
  /// `for try await songs in context.fetch(request, inBatchesOf: 500) { … }`. A size below 1 is a mistake, thrown when
  /// the program asks for the first batch.
  public func fetch<Root: ManagedObject>(
    _ request: From<Root>,
    inBatchesOf count: Int
  ) -> ObjectBatches<Root> {
    ObjectBatches { self.stream(request, batchCount: count) }
  }

  /// Calls `body` with each object that the query describes, in its order. The records of at most `count` objects,
  /// which is at least one, are in memory at a time.
  ///
  /// The set of objects is determined at the start, as ``ObjectBatches`` says. The body may change and save.
  ///
  /// - Throws: What ``fetch(_:)-(From<Root>)`` and `body` throw.
  public func forEach<Root: ManagedObject>(
    _ request: From<Root>,
    inBatchesOf count: Int = 500,
    _ body: (Root) throws -> Void
  ) throws {
    try forEach(stream(request, batchCount: count), body)
  }

  func forEach<Root: ManagedObject>(_ stream: ObjectStream<Root>, _ body: (Root) throws -> Void) throws {
    while let batch = try stream.next() {
      for object in batch { try body(object) }
    }
  }

  /// Calls `body` with each row of values that the selection describes, in its order. Rows that come in the order of an
  /// index, or in no other than that of their objects, are read one by one; others are sorted first.
  ///
  /// The stored rows are those at the start. An object with unsaved changes is read when its row is reached, so the
  /// body should not change objects that the selection describes.
  public func forEach<Root: ManagedObject, each Value: ColumnType>(
    _ selection: Selection<Root, repeat each Value>,
    _ body: (repeat each Value) throws -> Void
  ) throws {
    var outcome = BodyOutcome()
    try forEachRow(of: selection) { (value: repeat each Value) in
      outcome.goesOn(after: { try body(repeat each value) })
    }
    try outcome.get()
  }

  /// Calls `body` with each value of a selection with one column, as ``forEach(_:_:)`` does with rows of several.
  public func forEach<Root: ManagedObject, Value: ColumnType>(
    _ selection: Selection<Root, Value>,
    _ body: (Value) throws -> Void
  ) throws {
    var outcome = BodyOutcome()
    try forEachRow(of: selection) { (value: Value) in outcome.goesOn(after: { try body(value) }) }
    try outcome.get()
  }

  /// Returns the objects of rows of an older snapshot, or this one, as far as the objects still exist.
  func objects<Root: ManagedObject>(
    _ rows: [QueryRow],
    _ entity: StoredEntity,
    haveRecords: Bool
  ) throws(ContextError) -> [Root] {
    makeRoom(for: rows.count, entity.ordinal)
    var objects: [Root] = []
    objects.reserveCapacity(rows.count)
    for row in rows {
      if let object: Root = try object(row, entity, hasRecord: haveRecords) { objects.append(object) }
    }
    return objects
  }

  private func object<Root: ManagedObject>(
    _ row: QueryRow,
    _ entity: StoredEntity,
    hasRecord: Bool
  ) throws(ContextError) -> Root? {
    if let known = entities[entity.ordinal].known[row.number] {
      let object = unsafeDowncast(known, to: Root.self)
      if object._$state.phase == .deleted { return nil }
      // Its unsaved changes keep an object here that others have deleted.
      if object._$state.phase == .inserted || object._$state.hasChanges { return object }
    }
    if hasRecord, row.record != nil { return try object(row, entity) as Root }
    return try source.contains(row.number, of: entity)
      ? object(Root.self, number: row.number, entity.ordinal) : nil
  }

  private func stream<Root: ManagedObject>(_ request: From<Root>, batchCount: Int) -> ObjectStream<Root> {
    ObjectStream(self, batchCount: batchCount) { context throws(ContextError) in
      try context.resolved(request)
    }
  }
}
