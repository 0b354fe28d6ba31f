import Predicates

/// A property wrapper of a ``StoredObject``, as the shape of the class uses it.
protocol StoredField {
  /// True if the property has no slot in the record.
  static var isToMany: Bool { get }
  /// The distance in bytes from the wrapper's beginning to the number that says which property it is: the slot, or of a
  /// to-many relationship the ordinal.
  static var placeOffset: Int { get }
  /// True if the property's type has members at positions, so that the relationship must be ordered.
  static var knowsPositions: Bool { get }
  var declaration: FieldDeclaration? { get }
  /// Hands the cache to the visitor.
  mutating func visit<Visitor: PropertyVisitor>(_ visitor: inout Visitor)
}

extension StoredField {
  static var knowsPositions: Bool { false }
}

// Safety: in all of these the caller gives the address of a field that the object's class declares with this type, in
// an object that is alive.
extension StoredField {
  static func declaration(at address: UnsafeMutableRawPointer) -> FieldDeclaration? {
    address.assumingMemoryBound(to: Self.self).pointee.declaration
  }

  static func visit<Visitor: PropertyVisitor>(
    at address: UnsafeMutableRawPointer,
    _ visitor: inout Visitor
  ) {
    address.assumingMemoryBound(to: Self.self).pointee.visit(&visitor)
  }
}
