import Predicates

/// A conflict about one object, for a ``MergePolicy/custom(_:)``: a context has changed properties that another context
/// has changed in the store as well.
///
/// The policy resolves each property. The save throws `conflict` for one that it leaves alone.
public struct MergeConflict: Sendable {
  /// A property that was changed in both.
  public struct Property: Sendable, Equatable {
    /// The property's name.
    public let name: String
    /// The value that both have changed; nil if the saving context doesn't know it any more.
    public let base: AttributeValue?
    /// The value in the saving context.
    public let mine: AttributeValue
    /// The value in the store.
    public let theirs: AttributeValue
  }

  /// The value to store.
  enum Choice: Sendable {
    case mine
    case theirs
    /// Another value; nil for one that the attribute can't have.
    case value(AttributeValue?)
  }

  /// The object.
  public let objectID: ManagedObjectID
  /// The properties that were changed in both: attributes and to-one relationships.
  public let properties: [Property]
  private(set) var choices: [String: Choice] = [:]

  init(_ objectID: ManagedObjectID, _ properties: [Property]) {
    self.objectID = objectID
    self.properties = properties
  }

  /// Returns a property in conflict by its name; nil for any other.
  public subscript(name: String) -> Property? { properties.first { $0.name == name } }

  /// Stores the context's value of a property, or of every property that isn't resolved yet.
  public mutating func keepMine(_ name: String? = nil) { choose(.mine, name) }

  /// Leaves the store's value of a property, or of every property that isn't resolved yet.
  public mutating func keepTheirs(_ name: String? = nil) { choose(.theirs, name) }

  /// Stores another value in an attribute. Nothing is resolved if the attribute isn't in conflict. A relationship takes
  /// either side's object only.
  public mutating func resolve(_ name: String, with value: some AttributeType) {
    choose(.value(value._attributeValue), name)
  }

  /// Stores in an attribute the result of `merge` for the three values, if the attribute is in conflict:
  /// `conflict.resolve(\Account.balance) { $1 + $2 - ($0 ?? 0) }`.
  ///
  /// - Parameters:
  ///   - attribute: the attribute, of the model of the object or one that it inherits from. Nothing is resolved if the
  ///     object is of another.
  ///   - merge: gets ``Property/base``, ``Property/mine`` and ``Property/theirs``.
  public mutating func resolve<Root: ManagedObject, Value: AttributeType>(
    _ attribute: KeyPath<Root, Value>,
    _ merge: (_ base: Value?, _ mine: Value, _ theirs: Value) throws -> Value
  ) rethrows {
    let models = Root._$model.types(or: Root.self).filter { $0 is Root.Type }.map { $0.entityName }
    guard models.contains(objectID.entityName), case .success(let names) = Root.names(of: attribute),
      let property = self[names.joined(separator: ".")],
      let mine = Value(_attributeValue: property.mine), let theirs = Value(_attributeValue: property.theirs)
    else { return }
    let base = property.base.flatMap { Value(_attributeValue: $0) }
    resolve(property.name, with: try merge(base, mine, theirs))
  }

  /// Refuses the chosen values that attributes can't have. The save checks nil: it knows the required attributes.
  mutating func refuseValues(unless isAccepted: (String, AttributeValue) -> Bool) {
    for case (let name, .value(let value?)) in choices where !value.isNull && !isAccepted(name, value) {
      choices[name] = .value(nil)
    }
  }

  private mutating func choose(_ choice: Choice, _ name: String?) {
    if let name { return choices[name] = choice }
    for property in properties where choices[property.name] == nil { choices[property.name] = choice }
  }
}

/// The policy of a program: a function that resolves conflicts.
final class CustomMerge: Sendable, Hashable {
  let resolve: @Sendable (inout MergeConflict) throws -> Void

  init(_ resolve: @escaping @Sendable (inout MergeConflict) throws -> Void) { self.resolve = resolve }

  static func == (left: CustomMerge, right: CustomMerge) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The decisions of a custom policy during one save.
///
/// The policy runs outside of the writer's turn. The turn ends where a conflict comes up that the policy hasn't seen,
/// and the save takes another turn with the policy's decisions. By then others may have saved the object again, and
/// code of a context that doesn't block its actor may have changed it. So a decision counts only for the values that it
/// was based on.
struct MergeDecisions {
  /// The number of times that a save asks the policy before it throws `conflict`.
  static let roundLimit = 10

  /// A conflict, and the commit that has stored the other side's values.
  struct Undecided {
    var conflict: MergeConflict
    let commit: UInt64
    /// The ordinal of the object's entity.
    let ordinal: Int
    let coordinator: StoreCoordinator

    /// Refuses the chosen values that attributes can't be read back from. Only an object knows the types of its
    /// attributes, so one is made.
    fileprivate mutating func refuseUnreadableValues() {
      let number = conflict.objectID.number
      func refuse<Object: ManagedObject>(_ type: Object.Type) {
        let sample = coordinator.models.makeObject(type, .sample, number: number, ordinal)
        conflict.refuseValues { sample.canRead($1, forKey: $0) }
        sample._$state.leaveTracer()
      }
      refuse(coordinator.models.type(of: number, ordinal))
    }
  }

  private var decided: [ManagedObjectID: Undecided] = [:]
  private var rounds = 0

  /// Returns the choices for a conflict; nil if the policy has not been asked about these values.
  func choices(for conflict: MergeConflict, at commit: UInt64) -> [String: MergeConflict.Choice]? {
    guard let known = decided[conflict.objectID], known.commit == commit,
      conflict.properties.allSatisfy({ known.conflict[$0.name] == $0 })
    else { return nil }
    return known.conflict.choices
  }

  /// Asks a policy.
  ///
  /// - Throws: `conflict` when it was asked too often, or with the error that the policy throws.
  mutating func ask(_ policy: CustomMerge, about conflicts: [Undecided]) throws(ContextError) {
    rounds += 1
    for var undecided in conflicts {
      let names = undecided.conflict.properties.map(\.name)
      let error = ContextError.conflict(undecided.conflict.objectID, "changed", names)
      if rounds > Self.roundLimit { throw error }
      do { try policy.resolve(&undecided.conflict) } catch let cause {
        throw ContextError(error.code, error.message, context: error.context, underlyingError: cause)
      }
      undecided.refuseUnreadableValues()
      decided[undecided.conflict.objectID] = undecided
    }
  }
}

extension ContextError {
  /// Makes the error for a value that a custom policy has chosen and that a property can't have.
  static func refusedDecision(_ id: ManagedObjectID, _ name: String) -> ContextError {
    ContextError(
      .wrongValue,
      "\(id.entityName).\(name) can't have the value that the merge policy has chosen",
      context: .init(entity: id.entityName, objectID: id, properties: [name])
    )
  }
}
