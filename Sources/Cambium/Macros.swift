/// Makes a class a model: its objects can be stored.
///
/// ```swift
/// @Model final class Song {
///   #Index<Song>([\.title], [\.album, \.track])
///   @Attribute(.unique) var isrc: String
///   var title: String
///   var track: Int = 1
///   var rating: Double?
///   var added: Date = .now
///   @Relationship(inverse: \Album.songs) var album: Album?
///
///   init(isrc: String, title: String) {
///     self.isrc = isrc
///     self.title = title
///   }
/// }
/// ```
///
/// Every stored property is persistent, unless it is marked ``Transient()``. It is a `var` with its type written out:
/// - an *attribute* of type `Bool`, any integer, `Float`, `Double`, `Decimal`, `String`, `Date`, `Data`, `UUID`,
///   `URL`, an enum or struct with a raw value of one of these that conforms to `AttributeType`, a `Codable` type
///   that conforms to `CodableAttribute`, an array or `Set` of any of them, or an optional of any of them;
/// - a *relationship*, marked
///   ``Relationship(_:deleteRule:minimumModelCount:maximumModelCount:originalName:)`` or
///   ``Relationship(_:deleteRule:inverse:minimumModelCount:maximumModelCount:originalName:)-70hk``, whose type is
///   another model, an optional of one, or an array, `Set` or `ToMany` of one.
///
/// The macro also writes a type for the values of an object, `Song.Values`: see ``/GraphContext/ModelValues``. A
/// class that has a type of this name keeps its own, and has no values; its subclasses must have one, too.
///
/// Computed and static properties, methods and initialisers are left alone. The class must be final, unless it
/// names its subclasses. A default value that takes work to compute (`UUID()`) is also computed, and dropped, when
/// an object is read from the store; leave such values to the initialiser.
///
/// An object that was stored before the attribute existed has the attribute's default value, too. The default value
/// is evaluated once for all such objects, when the model is first used. The macro takes it from the declaration if
/// it is a literal, a static member of the attribute's type or of a standard one (`.economy`, `Cabin.economy`,
/// `Double.pi`, `.now`), or one of `Date()`, `Date(timeIntervalSince…:)`, `Data()`, `UUID()` and `Decimal(…)` with
/// a literal. From any other expression, and from `nil`, the macro takes no default value.
///
/// - Parameter originalName: The name that the class had in an earlier version: a string literal.
@attached(
  member,
  names: named(_$state),
  named(_$model),
  named(_$visit),
  named(entityName),
  named(init),
  named(_$class),
  named(_$hierarchy),
  named(_$own),
  named(Values)
)
@attached(memberAttribute)
@attached(extension, conformances: ManagedObject, ModelWithValues, Sendable)
public macro Model(originalName: String? = nil) = #externalMacro(module: "CambiumMacros", type: "ModelMacro")

// Models that inherit have macros of their own. If these macros could add `ModelWithValues`, the compiler
// (Swift 6.3) would fail where it looks for the conformances of a class and of its superclass at once.

/// Makes a class a model that others inherit from. The class names its direct subclasses, and each of these names
/// its superclass:
///
/// ```swift
/// @Model(isAbstract: true, subclasses: ["Dog", "Cat"]) class Animal { … }
/// @Model(superclass: "Animal") final class Dog: Animal { … }
/// ```
///
/// - Parameters:
///   - originalName: The name that the class had in an earlier version: a string literal.
///   - isAbstract: Whether only subclasses have objects: `true` or `false`.
///   - subclasses: The names of the models that inherit from the class directly: an array literal of string
///     literals, because the compiler can't look up a class while it expands another that inherits from it.
@attached(
  member,
  names: named(_$state),
  named(_$model),
  named(_$visit),
  named(entityName),
  named(init),
  named(_$class),
  named(_$hierarchy),
  named(_$own),
  named(Values),
  named(awakeFromInsert),
  named(awakeFromFetch),
  named(willSave),
  named(didSave),
  named(prepareForDeletion),
  named(validateForInsert),
  named(validateForUpdate),
  named(validateForDelete)
)
@attached(memberAttribute)
@attached(extension, conformances: ManagedObject, Sendable)
public macro Model(
  originalName: String? = nil,
  isAbstract: Bool = false,
  subclasses: [String]
) = #externalMacro(module: "CambiumMacros", type: "ModelMacro")

/// Makes a class a model that inherits from another.
///
/// - Parameters:
///   - originalName: The name that the class had in an earlier version: a string literal.
///   - isAbstract: Whether only subclasses have objects: `true` or `false`.
///   - superclass: The name of the model that the class inherits from: a string literal.
///   - subclasses: The names of the models that inherit from this one directly: an array literal of string literals.
@attached(
  member,
  names: named(_$state),
  named(_$model),
  named(_$visit),
  named(entityName),
  named(init),
  named(_$class),
  named(_$hierarchy),
  named(_$own),
  named(Values),
  named(awakeFromInsert),
  named(awakeFromFetch),
  named(willSave),
  named(didSave),
  named(prepareForDeletion),
  named(validateForInsert),
  named(validateForUpdate),
  named(validateForDelete)
)
@attached(memberAttribute)
@attached(extension, conformances: ManagedObject, Sendable)
public macro Model(
  originalName: String? = nil,
  isAbstract: Bool = false,
  superclass: String,
  subclasses: [String] = []
) = #externalMacro(module: "CambiumMacros", type: "ModelMacro")

/// Says more about an attribute of a model.
///
/// `@Attribute(.unique) var isrc: String`: no two objects have the same value, checked at every save. An attribute
/// that is nil is free. Same as `#Unique<Song>([\.isrc])`. With `.unique(ifExists: .merge)` a save merges a new
/// object into the one that has the value already; see ``/GraphContext/UniquePolicy``.
///
/// `@Attribute(.min(0), .max(5)) var rating: Int`, `@Attribute(.length(1...80)) var title: String`,
/// `@Attribute(.pattern("[A-Z]{2}[0-9]{4}")) var code: String`: rules that every save checks for new and changed
/// values. nil breaks none.
///
/// `@Attribute(.preserveValueOnDeletion) var code: String`: the history of the store keeps the last value of a
/// deleted object; see ``/GraphContext/HistoryChange/tombstone``.
///
/// `@Attribute(.externalStorage) var cover: Data?`, of `Data` and `String`: long values are stored outside of the
/// object's record. Such a value is read when the property is read, and written if the property was set;
/// `album.blob(\.cover)` reads one in parts. Queries can compare such an attribute with nil and select it, and
/// nothing else.
///
/// `@Attribute(.perInsert { UUID() }) var token: UUID`: the closure makes the value of each new object when the
/// object is inserted, or when the value is read before that. Unlike a default value it isn't computed for objects
/// that are read from the store. No initialiser has to give a value; an initialiser that gives one sets it last.
/// The closure can't refer to the object, and is called on the thread that inserts.
///
/// `@Attribute(.transformed(as: String.self, to: { $0.hex }, from: { Color(hex: $0) })) var color: Color`: the
/// attribute is a string for the store, and a value of any `Sendable` type for the program.
///
/// `@Attribute(originalName: "name") var title: String`: in an earlier version the attribute was called `name`.
///
/// - Parameter originalName: A string literal.
@attached(peer)
public macro Attribute(_ options: AttributeOption..., originalName: String? = nil) =
  #externalMacro(module: "CambiumMacros", type: "AttributeMacro")

/// An option of ``Attribute(_:originalName:)``.
public struct AttributeOption: Sendable, Hashable {
  private let name: String
  /// No two objects have the same value.
  public static let unique = AttributeOption(name: "unique")
  /// No two objects have the same value. A save treats a new object whose value an existing object has as the
  /// policy says.
  public static func unique(ifExists policy: UniquePolicy) -> AttributeOption {
    AttributeOption(name: "unique")
  }

  /// The history of the store keeps the last value of a deleted object.
  public static let preserveValueOnDeletion = AttributeOption(name: "preserveValueOnDeletion")
  /// Long values are stored outside of the object's record.
  public static let externalStorage = AttributeOption(name: "externalStorage")
  /// The insertion makes the first value, unless the object was given one before:
  /// `@Attribute(.perInsert { UUID() }) var token: UUID`.
  public static func perInsert<Value>(_ makeValue: @Sendable () -> Value) -> AttributeOption {
    AttributeOption(name: "perInsert")
  }
  /// The store computes the value from other values and keeps it up to date:
  /// `@Attribute(.derived("songs.@count")) var songCount: Int`. The property can't be set.
  ///
  /// - Parameter rule: a string literal, as `AttributeDerivation` describes it: `songs.@count`,
  ///   `songs.@sum.seconds`, `songs.@min.seconds`, `songs.@max.seconds`, `title[cd]`.
  public static func derived(_ rule: String) -> AttributeOption { AttributeOption(name: "derived") }
  /// The values are stored as values of another type, and two closures convert between the types:
  /// `@Attribute(.transformed(as: String.self, to: { $0.hex }, from: { Color(hex: $0) })) var color: Color`.
  ///
  /// An optional property has closures for the type that it wraps; nil stays nil. Conditions, sorting, indexes,
  /// uniqueness and rules apply to the stored values. The closures can't refer to the object, and are called on the
  /// threads that read and save.
  ///
  /// - Parameters:
  ///   - stored: The type that is stored: a type that an attribute can have, not an optional.
  ///   - store: Makes the stored value. Equal values must give equal results.
  ///   - restore: Makes the value from the stored value. Where it returns nil or throws, the object's next fetch or
  ///     save throws `corrupt`. The property is then nil, or the placeholder if it can't be nil.
  ///   - placeholder: Any value. It is needed where `restore` makes no value of an empty string, zero or the like,
  ///     and the declaration gives no default.
  public static func transformed<Value: Sendable, Stored: AttributeType>(
    as stored: Stored.Type,
    to store: @Sendable (Value) -> Stored,
    from restore: @Sendable (Stored) throws -> Value?,
    placeholder: Value? = nil
  ) -> AttributeOption where Stored._Present == Stored { AttributeOption(name: "transformed") }
  /// Saves refuse a value that is less.
  public static func min(_ value: some Comparable) -> AttributeOption { AttributeOption(name: "min") }
  /// Saves refuse a value that is greater.
  public static func max(_ value: some Comparable) -> AttributeOption { AttributeOption(name: "max") }
  /// Saves refuse a string of fewer or more characters, or data of fewer or more bytes.
  public static func length(_ range: some RangeExpression<Int>) -> AttributeOption {
    AttributeOption(name: "length")
  }
  /// Saves refuse a string that doesn't fit the regular expression as a whole, in the syntax of `MATCHES`.
  public static func pattern(_ pattern: String) -> AttributeOption { AttributeOption(name: "pattern") }
}

/// Makes a property of a model a relationship that leads one way, or whose inverse the other end names: a link to
/// objects of another model, or of the same.
///
/// - Parameters:
///   - options: `.ordered` for a to-many relationship whose members have the order that the program gives them.
///     Where the inverse is to one, both ends say so.
///   - deleteRule: What happens to the objects at the other end when this one is deleted. By default they stay, and
///     their link back is removed.
///   - minimumModelCount: For a to-many relationship: saves refuse an object that has fewer members.
///   - maximumModelCount: For a to-many relationship: saves refuse an object that has more members; nil for no limit.
///   - originalName: The name that the relationship had in an earlier version: a string literal.
@attached(peer)
public macro Relationship(
  _ options: RelationshipOption...,
  deleteRule: DeleteRule = .nullify,
  minimumModelCount: Int = 0,
  maximumModelCount: Int? = nil,
  originalName: String? = nil
) =
  #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

// The inverse's type names the model. As `AnyKeyPath`, it made the compiler (Swift 6.3, debug builds) refuse
// closures in other files that go on through the property: it had not yet expanded `@Model` for that model.

/// Makes a property of a model a relationship with an inverse: a link to objects of another model, or of the same,
/// that have a link back.
///
/// `@Relationship(inverse: \Album.songs) var album: Album?`. The other parameters are those of
/// ``Relationship(_:deleteRule:minimumModelCount:maximumModelCount:originalName:)``.
///
/// - Parameter inverse: The relationship at the other end that leads back. Name it at one end of each pair; at both
///   ends, the compiler reports a "circular reference resolving attached macro 'Relationship'". A relationship that is
///   its own inverse, such as friends or a spouse, has the inverse `.itself`.
@attached(peer)
public macro Relationship<Target: ManagedObject>(
  _ options: RelationshipOption...,
  deleteRule: DeleteRule = .nullify,
  inverse: PartialKeyPath<Target>,
  minimumModelCount: Int = 0,
  maximumModelCount: Int? = nil,
  originalName: String? = nil
) =
  #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

/// Makes the parts of a struct attributes of the model: `@Embedded var home: Address`.
///
/// The struct is marked ``Embeddable()``, and the property may be an optional of it. Each stored property of the
/// struct is an attribute of the entity, `home.city`: `From<Person>().where { $0.home.city == "Kyoto" }`,
/// `#Index<Person>([\.home.city])`. Setting the value sets the attributes that change. If the optional is nil, all
/// its attributes are nil; the condition `home == nil` finds such objects.
///
/// - Parameter originalName: The name that the property had in an earlier version: a string literal.
@attached(peer)
public macro Embedded(originalName: String? = nil) =
  #externalMacro(module: "CambiumMacros", type: "EmbeddedMacro")

/// Makes a struct one that models embed with ``Embedded(originalName:)``.
///
/// Every stored property is a part: a `var` with its type written out, of a type that an attribute can have. It may
/// be marked `@Attribute` with rules and an `originalName`, or ``Embedded(originalName:)`` if its type is an
/// embeddable struct itself; such a part can't be nil. Objects that were stored before the part existed have the
/// part's initial value, if that is a literal.
///
/// ```swift
/// @Embeddable struct Address: Hashable {
///   var street: String
///   var city: String
///   var country: String = "Japan"
/// }
/// ```
@attached(member, names: named(_Parts))
@attached(extension, conformances: EmbeddedValue, names: named(_$properties), named(init))
public macro Embeddable() = #externalMacro(module: "CambiumMacros", type: "EmbeddableMacro")

/// Makes a property of a model one that isn't stored: `@Transient var isSelected = false`.
///
/// The value belongs to the object, not to the store: each context has its own object, with its own transient
/// value. No save, merge, rollback or undo changes it, and no query can name it. It needs an initial value: an
/// object that is read from the store begins with it. It may have any type, also an inferred one, and it may have
/// observers.
@attached(peer)
public macro Transient() = #externalMacro(module: "CambiumMacros", type: "TransientMacro")

/// Makes a property of a model a relationship that is its own inverse: if A is a friend of B, then B is a friend of A.
///
/// `@Relationship(inverse: .itself) var friends: Set<Person> = []`. A key path can't say this: the compiler would
/// have to know the property to know its inverse.
///
/// `inverse: .hidden` says that no relationship leads back. A relationship without an `inverse` says the same,
/// unless the other model has a relationship that could be the inverse.
@attached(peer)
public macro Relationship(
  _ options: RelationshipOption...,
  deleteRule: DeleteRule = .nullify,
  inverse: OwnInverse,
  minimumModelCount: Int = 0,
  maximumModelCount: Int? = nil,
  originalName: String? = nil
) =
  #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

/// Makes a property of a model a relationship to an entity without a class, whose objects are records.
///
/// `@Relationship(to: "Note", inverse: "song") var notes: [ManagedRecord] = []`. The container has the entity's
/// description: `PersistentContainer("Music", models: Song.self, entities: [note], at: url)`. A record of another
/// entity that is assigned makes the next save throw `wrongDestination`.
///
/// - Parameters:
///   - entity: The name of the entity.
///   - inverse: The name of the relationship at the other end that leads back; nil where there is none, and where
///     the other end names this relationship.
@attached(peer)
public macro Relationship(
  to entity: String,
  _ options: RelationshipOption...,
  deleteRule: DeleteRule = .nullify,
  inverse: String? = nil,
  minimumModelCount: Int = 0,
  maximumModelCount: Int? = nil,
  originalName: String? = nil
) =
  #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

/// Makes a property of a model a view of a many-to-many relationship whose links are objects of a model of their own.
///
/// ```swift
/// @Relationship(deleteRule: .cascade) var memberships: [Membership] = []
/// @Relationship(through: \Band.memberships, to: \Membership.person) var members: [Person]
/// ```
///
/// The property is not stored. It returns the objects that the links lead to, each once, in the order of the links.
/// An object that is added to it gets a new link, whose attributes begin as declared; the links to an object that
/// is removed are deleted. Conditions know it by its name: `ANY members.name == "Ada"`. It is O(links), as an array
/// of the links is.
///
/// - Parameters:
///   - links: A to-many relationship of the class: a key path to one property.
///   - target: A to-one relationship of the links' model: a key path to one property.
@attached(peer)
public macro Relationship<Owner: ManagedObject, Links: RelationshipCollection, Target>(
  through links: KeyPath<Owner, Links>,
  to target: KeyPath<Links.Element, Target>
) =
  #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

/// Declares indexes of a model, inside the class: each array is one, over one or more attributes and to-one
/// relationships. `#Index<Song>([\.title], [\.album, \.track])`
///
/// - Parameter folding: how the strings in them are folded.
///   `#Index<Song>([\.title], folding: [.case, .diacritics])` serves comparisons with `[cd]`, and no others.
@freestanding(declaration)
public macro Index<Root: ManagedObject>(_ indexes: IndexedProperties<Root>..., folding: IndexFolding = []) =
  #externalMacro(module: "CambiumMacros", type: "IndexMacro")

/// Declares, inside the class, properties that are unique among the objects of a model: no two objects are equal in
/// all properties of one of these arrays. An object with nil in one of these properties may equal others.
/// `#Unique<Song>([\.isrc], [\.album, \.track])`
///
/// - Parameters:
///   - folding: strings that are equal after folding count as equal here: `#Unique<User>([\.email], folding: .case)`.
///   - ifExists: what a save does with a new object if an existing object has the same values.
@freestanding(declaration)
public macro Unique<Root: ManagedObject>(
  _ constraints: IndexedProperties<Root>...,
  folding: IndexFolding = [],
  ifExists: UniquePolicy = .error
) =
  #externalMacro(module: "CambiumMacros", type: "IndexMacro")

/// One array in ``Index(_:folding:)`` or ``Unique(_:folding:ifExists:)``.
///
/// It is a type of its own because the compiler then names a misspelt property in a literal, which it doesn't do
/// for `[PartialKeyPath<Root>]`.
public struct IndexedProperties<Root: ManagedObject>: ExpressibleByArrayLiteral {
  /// Takes key paths of stored properties. The array is read by the macro alone, and dropped.
  public init(arrayLiteral properties: PartialKeyPath<Root>...) {}
}

// The macro that `@Model` attaches to the properties of a class. The argument is the position of the property in the
// record, or among the to-many relationships. The type of an embedded value is an argument, too, so that the
// compiler looks for its conformance before it looks for its members. In the other order (Swift 6.3) it finds none,
// and refuses conditions on parts in files that it reads before the struct.

@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_$Transformer_))
public macro _StoredAttribute(_ slot: Int, of className: String? = nil) =
  #externalMacro(module: "CambiumMacros", type: "StoredAttributeMacro")

@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _StoredToOne(_ slot: Int, of className: String? = nil) =
  #externalMacro(module: "CambiumMacros", type: "StoredToOneMacro")

@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_))
public macro _StoredToMany(_ ordinal: Int, of className: String? = nil) =
  #externalMacro(module: "CambiumMacros", type: "StoredToManyMacro")

@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _StoredEmbedded<Value: EmbeddedProperty>(
  _ ordinal: Int,
  as type: Value.Type,
  of className: String? = nil
) =
  #externalMacro(module: "CambiumMacros", type: "StoredEmbeddedMacro")

@attached(accessor, names: named(get), named(set))
public macro _LinkedObjects() = #externalMacro(module: "CambiumMacros", type: "LinkedObjectsMacro")
