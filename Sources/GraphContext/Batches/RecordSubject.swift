import Predicates

/// A stored object as expressions see it.
struct RecordSubject: PredicateSubject {
  let source: any ObjectSource
  let entity: StoredEntity
  let number: ObjectNumber
  /// Valid until the source releases what it keeps.
  let record: UnsafeRawBufferPointer

  private var view: RecordView { RecordView(validated: record, layout: entity.layout) }

  /// Makes the subject of an object; nil if there is none.
  private init?(
    _ number: ObjectNumber,
    _ entity: StoredEntity,
    in source: any ObjectSource
  ) throws(ContextError) {
    guard !number.isNone, let record = try source.record(number, of: entity) else { return nil }
    self.init(source: source, entity: entity, number: number, record: record)
  }

  init(source: any ObjectSource, entity: StoredEntity, number: ObjectNumber, record: UnsafeRawBufferPointer) {
    self.source = source
    self.entity = entity
    self.number = number
    self.record = record
  }

  func value(at path: ResolvedPath) throws(ContextError) -> AttributeValue {
    if path.hops.isEmpty, case .slot(let slot, _) = path.leaf {
      return try source.value(of: view, at: slot, entity)
    }
    let path = path.shortened
    guard let owner = try follow(path.hops) else { return .null }
    switch path.leaf {
    case .objectID: return .reference(owner.number)
    case .slot(let slot, _): return try source.value(of: owner.view, at: slot, owner.entity)
    }
  }

  func elements(_ relationship: ToManyID, of owner: ResolvedPath) throws(ContextError) -> [RecordSubject] {
    guard case .reference(let number) = try value(at: owner) else { return [] }
    let relationship = source.schema[relationship.entity].toManys[relationship.ordinal]
    let destination = source.schema.entities[relationship.destination]
    var elements: [RecordSubject] = []
    for element in try source.elements(of: number, in: relationship.links) {
      if let subject = try RecordSubject(element, destination, in: source) { elements.append(subject) }
    }
    return elements
  }

  private func follow(_ hops: [ResolvedPath.Hop]) throws(ContextError) -> RecordSubject? {
    var subject = self
    for hop in hops {
      let destination = source.schema[hop.destination]
      guard let next = try RecordSubject(subject.view.reference(hop.slot), destination, in: source) else {
        return nil
      }
      subject = next
    }
    return subject
  }
}
