import Synchronization

// The shapes of the classes that the program has used.

extension StoredShape {
  private static let shapes = Mutex<[ObjectIdentifier: StoredShape]>([:])
  /// The classes of which this task makes a hidden instance.
  @TaskLocal private static var underway: Set<ObjectIdentifier> = []

  /// Returns the shape of a class.
  static func of(_ type: StoredObject.Type) -> StoredShape {
    guard let shape = known(of: type) else {
      fatalError("the initial value of a property of \(type) uses the class itself")
    }
    return shape
  }

  /// Returns the shape of a class whose object is to live in a host; nil while the class's hidden instance is made.
  static func known(of type: StoredObject.Type, by host: ObjectHost?) -> StoredShape? {
    guard let host else { return known(of: type) }
    if let shape = host.lastShape, shape.type == type { return shape }
    let shape = known(of: type)
    host.lastShape = shape
    return shape
  }

  /// Returns the shape of a class; nil while its hidden instance is made.
  static func known(of type: StoredObject.Type) -> StoredShape? {
    let key = ObjectIdentifier(type)
    if let shape = shapes.withLock({ $0[key] }) { return shape }
    if underway.contains(key) { return nil }
    let instance = $underway.withValue(underway.union([key])) {
      FieldDeclaration.reading { type.init(_$state: ObjectState()) }
    }
    let shape = StoredShape(type, of: instance)
    // If two threads have made the shape, the first one's is kept.
    return shapes.withLock { shapes in
      if let known = shapes[key] { return known }
      shapes[key] = shape
      return shape
    }
  }
}
