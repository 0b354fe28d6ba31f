import Predicates
import Synchronization

/// A property wrapper's declaration of its property. Only the wrappers of the one hidden instance of each class keep
/// it.
@usableFromInline
final class FieldDeclaration {
  /// The relationship that leads back, where its name isn't known yet.
  enum Inverse {
    case unnamed
    case itself
    case hidden
    case property(AnyKeyPath)

    init(_ keyPath: AnyKeyPath?) { self = keyPath.map { .property($0) } ?? .unnamed }
    init(_ inverse: OwnInverse) { self = inverse == .hidden ? .hidden : .itself }
  }
  /// The property, which has no name yet.
  private(set) var property: PropertyDescription
  let inverse: Inverse
  /// The policy of a save for a new object that has the value of an existing one; nil where equal values are allowed.
  private(set) var uniquePolicy: UniquePolicy?

  private init(_ property: PropertyDescription, inverse: Inverse = .unnamed) {
    self.property = property
    self.inverse = inverse
  }

  /// Makes the declaration of an attribute.
  ///
  /// - Parameter initial: makes the value of a new object; nil where a new object has no value.
  @usableFromInline
  convenience init<Value: AttributeType>(
    initial: (@Sendable () -> Value)?,
    options: [StoredOption<Value>],
    originalName: String?
  ) {
    var property: PropertyDescription = .attribute(
      "",
      Value.self,
      default: initial?(),
      originalName: originalName
    )
    if let initial { property.setInitialValue(initial) }
    self.init(property)
    for option in options { take(option) }
  }

  /// Makes the declaration of a derived attribute.
  convenience init<Value: AttributeType>(
    _ type: Value.Type,
    derived derivation: AttributeDerivation,
    originalName: String?
  ) {
    self.init(.attribute("", type, derived: derivation, originalName: originalName))
  }

  private func take<Value>(_ option: StoredOption<Value>) {
    guard case .attribute(var attribute) = property else { return }
    switch option.kind {
    case .none: break
    case .unique(let policy): uniquePolicy = policy
    case .rule(let rule): attribute.rules.append(rule)
    case .preserveValueOnDeletion: attribute.preservesValueOnDeletion = true
    case .externalStorage: attribute.kind = attribute.kind.external ?? attribute.kind
    case .perInsert(let makeValue): attribute.insertionDefault = makeValue
    }
    property = .attribute(attribute)
  }

  /// Makes the declaration of a relationship; nil unless hidden instances are being made.
  static func ofRelationship(
    _ property: @autoclosure () -> PropertyDescription,
    inverse: @autoclosure () -> Inverse = .unnamed
  ) -> FieldDeclaration? { isRead ? FieldDeclaration(property(), inverse: inverse()) : nil }

  // MARK: When wrappers declare

  /// The number of hidden instances that are being made in this process.
  private static let readerCount = Atomic(0)

  /// True if a hidden instance is being made, on this thread or another: only then do wrappers keep their declarations.
  @usableFromInline static var isRead: Bool { readerCount.load(ordering: .relaxed) > 0 }

  /// Runs `body`, which makes a hidden instance.
  static func reading<R>(_ body: () throws -> R) rethrows -> R {
    readerCount.add(1, ordering: .sequentiallyConsistent)
    defer { readerCount.subtract(1, ordering: .sequentiallyConsistent) }
    return try body()
  }
}
