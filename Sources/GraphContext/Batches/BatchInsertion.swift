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
    var sample: (any ManagedObject)?
    defer { sample?._$state.leaveTracer() }
    while changes.inserted.count < count, let row = rows.next() {
      let number = try coordinator.engine.takeNumber(of: entity, timeout: nil).tagged(classTag)
      let object = sample ?? makeSample(number)
      sample = object
      changes.encoder.begin()
      var refused: Int?
      for slot in entity.slotsByPlace {
        let value = try value(of: row, at: slot)
        if !changes.encoder.set(value, at: slot) {
          refused = refused ?? slot
        } else if columns[slot] != nil, !canRead(value, at: slot, of: object) {
          let (name, id) = (entity.schema.stored[slot].name, entity.objectID(number, in: coordinator.storeID))
          let context = ContextError.Context(entity: entity.name, objectID: id, properties: [name])
          failures.note(.unreadableValue(of: "\(entity.name).\(name)", context))
        }
      }
      let bytes = changes.encoder.finish()
      let record = RecordView(validated: UnsafeRawBufferPointer(bytes), layout: entity.layout)
      checks.check(record, refused: refused, number, entity, &failures)
      changes.inserted.append(.init(number: number, bytes: bytes))
    }
    return changes
  }

  /// Makes an object of the class: only an object knows the types of its attributes.
  private func makeSample(_ number: ObjectNumber) -> any ManagedObject {
    func make<Object: ManagedObject>(_ type: Object.Type) -> any ManagedObject {
      coordinator.models.makeObject(type, .sample, number: number, entity.ordinal)
    }
    return make(coordinator.models.type(of: number, entity.ordinal))
  }

  /// Returns false for a value that the attribute's type can't read back: a raw value, say, that the failable
  /// initialiser refuses.
  private func canRead(_ value: AttributeValue, at slot: Int, of sample: any ManagedObject) -> Bool {
    if value.isNull { return true }
    var trial = AttributeSetter(value, isTrial: true)
    sample._$visit(slot, &trial)
    // A relationship, or an attribute of another class, is no attribute of the sample.
    return trial.isAccepted || !trial.isVisited
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
