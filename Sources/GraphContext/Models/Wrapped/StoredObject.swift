import Predicates

/// The base class of models that are declared without the macro, with a property wrapper for each property.
///
/// ```swift
/// final class Song: StoredObject {
///   @Stored var title: String = ""
///   @Stored(.unique) var isrc: String?
///   @ToOneLink(inverse: \Album.songs) var album: Album?
///
///   convenience init(title: String) {
///     self.init()
///     self.title = title
///   }
/// }
///
/// final class Album: StoredObject {
///   @Stored var name: String = ""
///   @ToManyLink(deleteRule: .cascade) var songs: [Song]
/// }
/// ```
///
/// Such a class is a model like any other: containers take it beside models with the macro, and the documentation of
/// ``ManagedObject`` applies to it. Properties without a wrapper aren't stored. Hooks are overridden. A model derives
/// from this class directly; a container refuses one that derives from another model.
///
/// The properties of a class are found by making one hidden instance of it, when the class is first used. So the
/// initial values of the properties must not use the class itself.
open class StoredObject: ManagedObject {
  /// The state of the object.
  @exclusivity(unchecked) public final var _$state: ObjectState
  /// The places of the object in ordered relationships.
  @exclusivity(unchecked) final var listPlaces: [Cached<ListPlace?>]
  // Safety: shapes are never freed. None has the hidden instance.
  private final unowned(unsafe) let shape: StoredShape?

  /// Makes a new object, which is in no context.
  public init() {
    let shape = StoredShape.known(of: Self.self)
    self.shape = shape
    _$state = ObjectState(lacking: shape?.insertionSlots ?? .empty)
    listPlaces = shape?.emptyPlaces ?? []
    shape?.number(self)
  }

  /// Makes a fault: no value is loaded.
  public required init(_$state state: consuming ObjectState) {
    let shape = StoredShape.known(of: Self.self, by: state.host)
    self.shape = shape
    _$state = state
    listPlaces = shape?.emptyPlaces ?? []
    shape?.number(self)
  }

  // MARK: What a model can say of itself

  /// The name of the model's entity: the class's name, unless the class says otherwise.
  open class var entityName: String { String(describing: self) }
  /// The name of the entity in an earlier version; nil, unless the class says otherwise.
  open class var originalEntityName: String? { nil }
  /// The indexes over several properties, and those that aren't unique; none, unless the class says otherwise.
  open class var indexes: [StoredIndex] { [] }

  // MARK: Model

  /// The description of the class, made from its wrappers.
  public class var _$model: ModelDescription { StoredShape.of(self).model }

  /// The description of the object's class, made from its wrappers.
  public final var _$objectModel: ModelDescription {
    let shape = shape ?? StoredShape.of(type(of: self))
    return _$state.phase == .tracer ? shape.namesAlone : shape.model
  }

  /// Hands one property's cache to the visitor.
  public final func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    shape?.visit(property, of: self, &visitor)
  }

  // MARK: Hooks

  /// Called once the object has been inserted; see ``ManagedObject/awakeFromInsert()``.
  open func awakeFromInsert() {}
  /// Called before the first value is read from the store; see ``ManagedObject/awakeFromFetch()``.
  open func awakeFromFetch() {}
  /// Called by a save before it checks the object; see ``ManagedObject/willSave()``.
  open func willSave() {}
  /// Called after the object was saved.
  open func didSave() {}
  /// Called before the object is deleted in its context; see ``ManagedObject/prepareForDeletion()``.
  open func prepareForDeletion() {}
  /// Checks a new object, in a save; see ``ManagedObject/validateForInsert()``.
  open func validateForInsert() throws {}
  /// Checks a changed object; by its default it calls ``validateForInsert()``.
  open func validateForUpdate() throws { try validateForInsert() }
  /// Checks whether the object may be deleted.
  open func validateForDelete() throws {}
}

extension StoredObject {
  /// Reads an attribute that isn't loaded, or that lacks its value.
  @inlinable
  final func load<Value: AttributeType>(_ place: Int, _ cache: inout Cached<Value>) -> Value {
    if cache.stored == nil, _$state.isLoaded(place) {
      if _$state.reportsReading { _$noteReading(place) }
      return .unreadable
    }
    return _$load(place, &cache)
  }
}

@available(*, unavailable, message: "an object stays in its context; send its objectID instead")
extension StoredObject: Sendable {}
