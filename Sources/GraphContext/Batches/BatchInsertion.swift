import Predicates

/// An encoder of the rows of an insertion by batch as records.
struct BatchInsertion<Row> {
  private let coordinator: StoreCoordinator
  private let entity: StoredEntity
  private let checks: RecordChecks
  /// The columns by slot: the values of rows, or the value that each object has.
  private let columns: [Int: ResolvedColumn<Row>]
  private let defaults: [Int: AttributeValue]
  private let initialValues: [Int: @Sendable () -> any AttributeType]
  /// The class tag in the numbers of the objects.
  private let classTag: UInt16

  init(
    _ coordinator: StoreCoordinator,
    _ entity: StoredEntity,
    classTag: UInt16,
    _ columns: [ResolvedColumn<Row>]
  ) {
    self.classTag = classTag
    self.coordinator = coordinator
    self.entity = entity
    checks = RecordChecks(coordinator)
    self.columns = Dictionary(columns.map { ($0.slot, $0) }, uniquingKeysWith: { $1 })
    defaults = coordinator.models.defaults(of: entity, classTag: classTag)
    initialValues = coordinator.models.initialValues(of: entity, classTag: classTag)
  }

  /// Encodes rows, at most this many.
  ///
  /// - Parameter failures: receives the failures of values.
  /// - Returns: the new objects, none when there are no rows left.
  func encode(
    _ rows: inout some IteratorProtocol<Row>,
    atMost count: Int,
    _ failures: inout SaveFailures
  ) throws(ContextError) -> EntityChanges {
    let changes = EntityChanges(entity)
    let given = SlotSet(columns.keys)
    var samples = AttributeSamples(coordinator, entity)
    defer { samples.end() }
    while changes.inserted.count < count, let row = rows.next() {
      let number = try coordinator.engine.takeNumber(of: entity, timeout: nil).tagged(classTag)
      changes.encoder.begin()
      for slot in entity.slotsByPlace {
        let value = try value(of: row, at: slot)
        _ = changes.encoder.set(value, at: slot)
      }
      let bytes = changes.encoder.finish()
      let record = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
      let unreadable = samples.unreadableSlots(of: record, in: given, number)
      failures.noteUnreadable(unreadable, number, entity, in: coordinator.storeID)
      checks.check(record, refused: changes.encoder.refused, number, entity, &failures)
      changes.inserted.append(.init(number: number, bytes: bytes))
    }
    return changes
  }

  private func value(of row: Row, at slot: Int) throws(ContextError) -> AttributeValue {
    guard let column = columns[slot] else {
      return initialValues[slot]?()._attributeValue ?? defaults[slot] ?? .null
    }
    switch column.value(row) {
    case .attribute(let value): return value
    case .object(nil): return .null
    case .object(let id?):
      let name = entity.schema.stored[slot].name
      if id.storeID == coordinator.storeID, !id.number.isNone,
        let destination = coordinator.schema.entity(id.entity), destination.ordinal == column.destination,
        coordinator.models.canLead(entity, by: name, to: id.number, of: destination)
      {
        return .reference(id.number)
      }
      throw ContextError(
        .unknownEntity,
        "\(entity.name).\(name) can't lead to \(id): this store has no object of its destination with this ID",
        context: .init(entity: entity.name, objectID: id, properties: [name])
      )
    }
  }
}
