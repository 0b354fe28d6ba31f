/// The test of an object's class by a path that ends in `TYPE` or `KIND`: `TYPE == "Dog"`,
/// `owner.pet.KIND == "Animal"`.
struct ClassTest: Sendable, Hashable {
  /// True if objects of classes below the named one count: `KIND`.
  let includesSubclasses: Bool
  private let classes: [SchemaClass]

  /// Makes the test of the name; nil for any other name, and for an entity whose objects are all of one class.
  init?(_ name: String, in entity: EntitySchema) {
    guard !entity.classes.isEmpty, name == Self.typeName || name == Self.kindName else { return nil }
    includesSubclasses = name == Self.kindName
    classes = entity.classes
  }

  /// The name that asks for the objects of one class.
  static let typeName = "TYPE"
  /// The name that asks for the objects of one class and of the classes below it.
  static let kindName = "KIND"

  /// Returns the condition, answered from the object's number.
  ///
  /// - Throws: `typeMismatch` for anything but the equality to a name, `unknownName` for a name that no class has.
  func resolved(
    _ path: ResolvedPath,
    _ comparison: ComparisonOperator,
    _ literal: PredicateOperand
  ) throws(QueryError) -> ResolvedPredicate {
    guard comparison == .equal || comparison == .notEqual, case .string(let name) = literal.literalValue
    else { throw Self.isNoValue(path).at(literal.location) }
    guard let found = classes.first(where: { $0.name == name }) else {
      let known = classes.map(\.name).joined(separator: ", ")
      let message = "The entity has no class named “\(name)”; the classes are \(known)."
      throw QueryError(.unknownName, message, keyPath: path.name).at(literal.location)
    }
    let condition = path.hasClass(in: includesSubclasses ? found.tags : [found.tag])
    return comparison == .equal ? condition : .not(condition)
  }

  fileprivate static func isNoValue(_ path: ResolvedPath) -> QueryError {
    let message = "\(path.name) is a class: it is compared by == or != with the class's name."
    return QueryError(.typeMismatch, message, keyPath: path.name)
  }
}

extension PathResolver.Destination {
  /// Throws `typeMismatch` for a path that asks for a class.
  func checkIsValue(at location: SourceLocation?) throws(QueryError) {
    if classTest != nil { throw ClassTest.isNoValue(path).at(location) }
  }
}
