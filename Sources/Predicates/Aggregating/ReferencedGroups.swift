/// A cache of the groups of rows by the object that they refer to: the group's fields are read once for each object
/// instead of for each row.
struct ReferencedGroups {
  private let reference: RowField
  private var objects = GroupTable()
  /// The groups, by the objects' numbers in the table.
  private var groups: [Int] = []

  /// Makes an empty cache; nil unless the fields lie behind one reference of the row's own record, which may be one of
  /// the fields.
  init?(_ fields: [RowField], _ paths: RowPaths) {
    let references = Set(fields.compactMap { paths.ownReference(leadingTo: $0) })
    guard references.count == 1, let reference = references.first else { return nil }
    guard fields.allSatisfy({ $0 == reference || paths.ownReference(leadingTo: $0) != nil }) else {
      return nil
    }
    self.reference = reference
  }

  /// Returns the object's position among those seen; nil if the row refers to none.
  mutating func object(of row: inout RowReader) throws -> Int? {
    guard case .word(let word) = try row.content(of: reference) else { return nil }
    return withUnsafeBytes(of: word) { objects.number(of: $0) }
  }

  /// Returns the group of an object; nil for the object that was seen last, if it is new.
  func group(of object: Int) -> Int? { object < groups.count ? groups[object] : nil }

  /// Adds the group of the new object.
  mutating func add(_ group: Int) { groups.append(group) }
}
