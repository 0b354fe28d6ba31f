/// One version of an app's schema: a number, and what tells the schema.
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
/// The newest version of a ``MigrationPlan`` has the classes that the app uses. A version between needs a schema, from classes or
/// described; the oldest ones need neither: a store knows its own schema.
public protocol VersionedSchema: SendableMetatype {
  /// The version's number, which no other version of a plan has.
  static var version: Schema.Version { get }
  /// The model classes. Empty, unless a version says otherwise, for one whose classes the app doesn't have any more.
  static var models: [any ManagedObject.Type] { get }
  /// The schema: of ``models``, unless a version says otherwise. Nil for a version that stores come from and that no stage leads to.
  static func schema() throws(SchemaError) -> Schema?
  /// The schema's ``Schema/stableHash``; nil, unless a version says otherwise.
  ///
  /// Of a version with a schema it is a lock: a plan whose models have changed since is refused, so a version that is shipped isn't changed by mistake. Of
  /// a version without one it is how stores are recognised that were written before the app declared versions.
  static var stableHash: UInt64? { get }
}

extension VersionedSchema {
  /// None.
  public static var models: [any ManagedObject.Type] { [] }
  /// The schema of ``models``; nil of none. Throws everything that is wrong with them.
  public static func schema() throws(SchemaError) -> Schema? { models.isEmpty ? nil : try Schema(models) }
  /// None.
  public static var stableHash: UInt64? { nil }
}
