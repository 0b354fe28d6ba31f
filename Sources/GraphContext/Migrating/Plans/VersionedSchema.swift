/// One version of an app's schema: a number, and its schema or a way to recognise it.
///
/// ```swift
/// enum LibraryV2: VersionedSchema {
///   static let version = Schema.Version(2)
///   static var models: [any ManagedObject.Type] { [Book.self, Author.self] }
///
///   @Model final class Book { … }
///   @Model final class Author { … }
/// }
/// ```
///
/// The newest version of a ``MigrationPlan`` has the classes that the app uses. A version in between needs a
/// schema, made from classes or described. The oldest versions need neither, because a store has its own schema.
public protocol VersionedSchema: SendableMetatype {
  /// The version's number, which no other version of a plan has.
  static var version: Schema.Version { get }
  /// The model classes. The default is empty, for a version whose classes the app doesn't have any more.
  static var models: [any ManagedObject.Type] { get }
  /// Returns the schema; by default that of ``models``. Nil for a version from which stores are migrated, and to
  /// which no stage leads.
  static func schema() throws(SchemaError) -> Schema?
  /// The schema's ``Schema/stableHash``; nil by default.
  ///
  /// For a version with a schema it is a lock: a plan whose models have changed since is refused, so a shipped
  /// version isn't changed by mistake. For a version without a schema, it recognises stores that were written
  /// before the app declared versions.
  static var stableHash: UInt64? { get }
}

extension VersionedSchema {
  /// None.
  public static var models: [any ManagedObject.Type] { [] }
  /// Returns the schema of ``models``; nil if there are none. Throws an error with all mistakes in the models.
  public static func schema() throws(SchemaError) -> Schema? { models.isEmpty ? nil : try Schema(models) }
  /// None.
  public static var stableHash: UInt64? { nil }
}
