/// The values that a query reads of each row, and the records that they lie in: the row's own, and those that the row's
/// relationships lead to. Each record is found once, however many values are read from it.
package struct RowPaths: Sendable {
  /// A record that belongs to a row.
  package struct Place: Sendable {
    package let entity: EntitySchema
    /// The place whose record refers to this one. The row's own place, which is 0, and those of elements have none.
    let parent: Int
    /// The reference, in the parent's record.
    let reference: RowField
    /// True if a collection's elements take this place, one after the other.
    let isElement: Bool
    /// True if the elements are values of a list, for which a record is made, and no objects.
    package let isValue: Bool
    /// The least number of bytes of a valid record.
    let byteCount: Int
  }

  package private(set) var places: [Place]
  /// The to-many relationships that the paths follow.
  package private(set) var relationships: [ToManyID] = []
  /// Bits of the slots that are read from the row's own record.
  package private(set) var ownSlots: UInt64 = 0
  /// The places of the elements by the scope of paths that start there; the row's own is that of scope 0.
  private var placesOfScopes: [Int: Int]
  private let schema: any SchemaProviding

  /// Makes the paths of the rows of an entity.
  ///
  /// - Parameter scope: that of the paths which start at the row.
  package init(_ entity: EntitySchema, in schema: any SchemaProviding, scope: Int = 0) {
    self.schema = schema
    placesOfScopes = [scope: 0]
    places = [Place(entity, parent: -1, reference: .objectID(at: 0), isElement: true)]
  }

  /// Returns the place of the elements of a collection step, and the index of their relationship in
  /// ``relationships``; nil for a list.
  mutating func addElements(of step: ResolvedCollection.Step) -> (place: Int, relationship: Int?) {
    let (entity, place) = (step.elementSchema(in: schema), places.count)
    let isValue = step.objects == nil
    places.append(
      Place(entity, parent: -1, reference: .objectID(at: place), isElement: true, isValue: isValue)
    )
    placesOfScopes[step.scope] = place
    guard let relationship = step.objects?.relationship else { return (place, nil) }
    if let known = relationships.firstIndex(of: relationship) { return (place, known) }
    relationships.append(relationship)
    return (place, relationships.count - 1)
  }

  /// True if any record but the row's own is read.
  package var followsRelationships: Bool { places.count > 1 }

  /// Returns the field of the path's value.
  package mutating func field(for path: ResolvedPath) -> RowField {
    let path = path.shortened
    var place = placesOfScopes[path.scope] ?? 0
    for hop in path.hops { place = self.place(from: place, by: hop) }
    switch path.leaf {
    case .slot(let slot, let kind): return field(slot, kind, at: place)
    case .objectID: return .objectID(at: place)
    }
  }

  private mutating func field(_ slot: Int, _ kind: AttributeKind, at place: Int) -> RowField {
    if place == 0 { ownSlots |= 1 << UInt64(slot) }
    return RowField(slot, kind, in: places[place].entity.layout, at: place)
  }

  /// Returns the reference of the row's own record that leads to the field; nil for a field of the row's own, or of an
  /// element.
  func ownReference(leadingTo field: RowField) -> RowField? {
    var place = places[field.place]
    while place.parent > 0 { place = places[place.parent] }
    return place.parent == 0 ? place.reference : nil
  }

  private mutating func place(from parent: Int, by hop: ResolvedPath.Hop) -> Int {
    if let known = places.firstIndex(where: { $0.parent == parent && $0.reference.slot == hop.slot }) {
      return known
    }
    let reference = field(hop.slot, .reference, at: parent)
    places.append(
      Place(schema.entitySchema(hop.destination), parent: parent, reference: reference, isElement: false)
    )
    return places.count - 1
  }
}

extension RowPaths.Place {
  fileprivate init(
    _ entity: EntitySchema,
    parent: Int,
    reference: RowField,
    isElement: Bool,
    isValue: Bool = false
  ) {
    self.isValue = isValue
    self.entity = entity
    self.parent = parent
    self.reference = reference
    self.isElement = isElement
    byteCount = entity.layout.variableOffset
  }
}

/// The location of a value in a row: plain numbers, so that reading it needs no lookup.
package struct RowField: Sendable, Hashable {
  /// The index of the record among the row's records.
  let place: Int
  let kind: AttributeKind
  /// The slot; −1 for the object's own ID, which stands in no record.
  let slot: Int
  /// For a fixed width: the offset from the record's start. Otherwise: the ordinal among the values of variable width.
  let position: Int
  let nullByte: Int
  let nullMask: UInt8
  let endsOffset: Int
  let variableOffset: Int

  init(_ slot: Int, _ kind: AttributeKind, in layout: RecordLayout, at place: Int) {
    self.place = place
    self.kind = kind
    self.slot = slot
    position = layout.fields[slot].position
    nullByte = Int(layout.fields[slot].nullByte)
    nullMask = layout.fields[slot].nullMask
    endsOffset = layout.endsOffset
    variableOffset = layout.variableOffset
  }

  private init(objectIDAt place: Int) {
    self.place = place
    kind = .reference
    slot = -1
    position = 0
    nullByte = 0
    nullMask = 0
    endsOffset = 0
    variableOffset = 0
  }

  static func objectID(at place: Int) -> RowField { RowField(objectIDAt: place) }

  var isObjectID: Bool { slot < 0 }
}

// MARK: - Reading

extension RowField {
  @inline(__always)
  func isNull(in record: UnsafeRawBufferPointer) -> Bool { record[nullByte] & nullMask != 0 }

  @inline(__always)
  func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, from record: UnsafeRawBufferPointer) -> T
  {
    T(littleEndian: record.loadUnaligned(fromByteOffset: position, as: T.self))
  }

  /// Returns the bytes of a string, data, UUID or decimal; nil when the record's table of ends is wrong.
  @inline(__always)
  func bytes(in record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    if kind == .uuid { return UnsafeRawBufferPointer(rebasing: record[position..<position + 16]) }
    if kind == .decimal {
      return UnsafeRawBufferPointer(rebasing: record[position..<position + StoredDecimal.byteCount])
    }
    let start = position == 0 ? 0 : end(position - 1, in: record)
    let end = end(position, in: record)
    guard start <= end, end <= record.count - variableOffset else { return nil }
    return UnsafeRawBufferPointer(rebasing: record[variableOffset + start..<variableOffset + end])
  }

  @inline(__always)
  private func end(_ ordinal: Int, in record: UnsafeRawBufferPointer) -> Int {
    Int(UInt32(littleEndian: record.loadUnaligned(fromByteOffset: endsOffset + 4 * ordinal, as: UInt32.self)))
  }
}
