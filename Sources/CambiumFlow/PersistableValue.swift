import GraphContext

/// A value that stands for an object of a model, with some or all of its properties: it is made from an object, and
/// writes itself into one. Several types of values may stand for one model.
///
/// The values that `@Model` writes need two lines:
///
/// ```swift
/// extension Song.Values: PersistableValue {
///   typealias Object = Song
///   typealias Request = SongRequest
/// }
/// ```
public protocol PersistableValue: Sendable {
  /// The model.
  associatedtype Object: ManagedObject
  /// The type of requests for lists of the values.
  associatedtype Request: ObjectRequest where Request.Object == Object

  /// The object that the value was made of; nil for a new value. A provisional ID counts as nil.
  var objectID: ManagedObjectID? { get }

  /// Makes the value of an object. It is also called for a new object before the object is saved: values that
  /// `willSave()` sets and values that the store derives don't exist by then.
  init(_ object: Object) throws

  /// Inserts an object for a new value. ``update(_:)`` follows, so only required properties have to be set.
  func insert(into context: ManagedObjectContext) throws -> Object

  /// Writes the value into its object. A property that is set to the value that it has counts as changed: set only
  /// properties that differ, so that an unchanged value saves nothing.
  func update(_ object: Object) throws
}

extension PersistableValue where Self: ModelValues, Object == _$Model {
  /// Inserts an object that has the values.
  public func insert(into context: ManagedObjectContext) throws -> Object { try context.insert(self) }

  /// Sets the properties that differ.
  public func update(_ object: Object) throws { try object.apply(self) }
}

/// A request for objects, usually an enum: `case all`, `case titled(String)`.
public protocol ObjectRequest: Sendable {
  /// The model.
  associatedtype Object: ManagedObject

  /// The objects.
  var query: From<Object> { get }
  /// The order of the objects, which replaces that of the query; if it is empty, the order of the query holds.
  var order: [OrderBy<Object>] { get }
  /// The rule that divides the list into sections. The order must begin with it.
  var sections: SectionedBy<Object>? { get }
}

extension ObjectRequest {
  /// No order but the query's.
  public var order: [OrderBy<Object>] { [] }
  /// No sections.
  public var sections: SectionedBy<Object>? { nil }

  /// The query in the request's order.
  var orderedQuery: From<Object> { order.isEmpty ? query : query.withoutOrder().orderBy(order) }
}
