import Predicates
@_spi(Reflection) import Swift
import Synchronization

/// The data that is computed once for each class that derives from ``StoredObject``: which properties it has, and where
/// they lie in its objects.
// Safety: nothing changes after the initialiser. The declarations, which hold key paths, are only read.
final class StoredShape: @unchecked Sendable {
  private struct Field {
    let name: String
    let type: any StoredField.Type
    /// The offset in bytes from the beginning of an object.
    let offset: Int
    let declaration: FieldDeclaration?
  }
  let type: StoredObject.Type
  /// All fields, in the order of their declaration.
  private let declared: [Field]
  /// Attributes and to-one relationships.
  private let slots: [Field]
  private let toManys: [Field]
  /// The offset of each property's number in an object, and the number.
  private let numbers: [(offset: Int, number: Int)]
  private let problems: [String]
  /// The model without inverses and indexes. It is used to follow the key paths that name inverses and indexes.
  let namesAlone: ModelDescription
  private let whole = AtomicLazyReference<ModelDescription>()
  /// The slots whose first values the insertion makes.
  let insertionSlots: SlotSet
  /// The places of an object without a place in any list.
  let emptyPlaces: [Cached<ListPlace?>]

  /// - Parameter instance: the hidden instance.
  init(_ type: StoredObject.Type, of instance: StoredObject) {
    self.type = type
    var (fields, problems) = ([Field](), [String]())
    for declaring in Self.classes(of: instance) {
      if declaring != type {
        problems.append(
          "\(type) derives from \(declaring),"
            + " and models with property wrappers must derive from StoredObject directly"
        )
      }
      fields += Self.fields(declaredBy: declaring, in: instance)
    }
    if type == StoredObject.self {
      problems.append("StoredObject is no model; classes that derive from it are")
    }
    self.problems = problems
    declared = fields
    slots = fields.filter { !$0.type.isToMany }
    toManys = fields.filter { $0.type.isToMany }
    numbers = (Array(slots.enumerated()) + Array(toManys.enumerated())).map { number, field in
      (field.offset + field.type.placeOffset, number)
    }
    namesAlone = ModelDescription(
      EntityDescription(name: type.entityName, properties: fields.compactMap(Self.property))
    )
    insertionSlots = SlotSet(rawValue: namesAlone._$insertionSlots)
    emptyPlaces = Array(repeating: Cached(nil), count: namesAlone.slotCount - slots.count)
  }

  // MARK: Finding fields

  /// Returns the class of an object and its superclasses, without ``StoredObject``. The first is the one that derives
  /// from ``StoredObject`` directly.
  private static func classes(of instance: StoredObject) -> [Any.Type] {
    var classes: [Any.Type] = []
    var mirror = Optional(Mirror(reflecting: instance))
    while let next = mirror, next.subjectType != StoredObject.self {
      classes.insert(next.subjectType, at: 0)
      mirror = next.superclassMirror
    }
    return classes
  }

  private static func fields(declaredBy type: Any.Type, in instance: StoredObject) -> [Field] {
    var fields: [Field] = []
    // The option `classType`, which the library declares as a variable.
    let ofClass = _EachFieldOptions(rawValue: 1)
    _ = _forEachField(of: type, options: ofClass) { name, offset, type, _ in
      if let type = type as? any StoredField.Type {
        fields.append(
          Field(
            name: String(String(cString: name).dropFirst()),
            type: type,
            offset: offset,
            declaration: type.declaration(at: address(of: instance, offset))
          )
        )
      }
      return true
    }
    return fields
  }

  /// - Parameter offset: the offset of a field that the object's class declares.
  private static func address(of object: StoredObject, _ offset: Int) -> UnsafeMutableRawPointer {
    // Safety: the object is alive as long as the caller has it, and the field lies there in every object of the class.
    Unmanaged.passUnretained(object).toOpaque() + offset
  }

  private static func property(_ field: Field) -> PropertyDescription? {
    field.declaration?.property.named(field.name)
  }

  // MARK: Objects

  /// Tells the wrappers of an object which properties they are.
  func number(_ object: StoredObject) {
    for (offset, number) in numbers {
      Self.address(of: object, offset).assumingMemoryBound(to: Int.self).pointee = number
    }
  }

  func visit<Visitor: PropertyVisitor>(
    _ property: Int,
    of object: StoredObject,
    _ visitor: inout Visitor
  ) {
    if property < slots.count {
      let field = slots[property]
      field.type.visit(at: Self.address(of: object, field.offset), &visitor)
    } else if property < slots.count + emptyPlaces.count {
      visitor.visit(attribute: property, &object.listPlaces[property - slots.count])
    } else {
      let field = toManys[property - slots.count - emptyPlaces.count]
      field.type.visit(at: Self.address(of: object, field.offset), &visitor)
    }
  }

  // MARK: The model

  /// The model of the class, inverses and indexes included.
  var model: ModelDescription { whole.load() ?? whole.storeIfNil(makeModel()) }

  private func makeModel() -> ModelDescription {
    var problems = problems
    let entity = EntityDescription(
      name: type.entityName,
      properties: declared.compactMap { property(of: $0, &problems) },
      indexes: slots.compactMap(index) + type.indexes.map { index($0, &problems) },
      originalName: type.originalEntityName
    )
    return ModelDescription(entity, problems: problems)
  }

  private func property(of field: Field, _ problems: inout [String]) -> PropertyDescription? {
    guard case .relationship(var relationship)? = Self.property(field) else { return Self.property(field) }
    if field.type.knowsPositions, !relationship.isOrdered {
      problems.append("\(type).\(field.name) is an OrderedToMany, and is not declared '.ordered'")
    }
    switch field.declaration?.inverse {
    case .itself: relationship.inverse = field.name
    case .hidden: relationship.inverse = RelationshipDescription.hiddenInverse
    case .property(let keyPath):
      relationship.inverse = name(keyPath, "the inverse of \(field.name)", &problems)
    case .unnamed, nil: break
    }
    return .relationship(relationship)
  }

  /// Returns the index of an attribute that is unique by itself.
  private func index(_ field: Field) -> IndexDescription? {
    field.declaration?.uniquePolicy.map {
      IndexDescription([field.name], isUnique: true, ifExists: $0)
    }
  }

  private func index(_ index: StoredIndex, _ problems: inout [String]) -> IndexDescription {
    IndexDescription(
      index.keyPaths.compactMap { name($0, "an index", of: type, &problems) },
      isUnique: index.isUnique,
      folding: index.folding,
      ifExists: index.ifExists
    )
  }

  /// Returns the name of the property that a key path leads to.
  ///
  /// - Parameter root: the model that has it; nil for any.
  private func name(
    _ keyPath: AnyKeyPath,
    _ subject: String,
    of root: StoredObject.Type? = nil,
    _ problems: inout [String]
  ) -> String? {
    let found = Swift.type(of: keyPath).rootType
    guard let model = found as? any ManagedObject.Type, root == nil || found == root else {
      problems.append("\(type): \(subject) is a key path of \(found)")
      return nil
    }
    do throws(QueryError) {
      let names = try model.predicatePath(of: keyPath)
      if names.count == 1 { return names[0] }
      let path = names.joined(separator: ".")
      problems.append("\(type): \(subject) is \(path), and must be a single property")
    } catch {
      problems.append("\(type): \(subject): \(error.message)")
    }
    return nil
  }
}

extension PropertyDescription {
  fileprivate func named(_ name: String) -> PropertyDescription {
    switch self {
    case .attribute(var attribute):
      attribute.name = name
      return .attribute(attribute)
    case .relationship(var relationship):
      relationship.name = name
      return .relationship(relationship)
    }
  }
}
