/// The rule by which a save resolves an object that another context has changed in the store since the saving context
/// read it.
///
/// Two contexts that changed different properties of one object don't conflict: the store has both changes afterwards,
/// with the policy ``error`` and those "by property". Docs/Contexts.md has the outcome of every case.
///
/// The names are those of Core Data's policies. A policy decides about values; unique values and references to deleted
/// objects are refused under each.
public struct MergePolicy: Sendable, Hashable {
  enum Rule: Sendable, Hashable {
    case error
    case mergeByPropertyStoreTrump
    case mergeByPropertyObjectTrump
    case overwrite
    case rollback
    case custom(CustomMerge)
  }
  let rule: Rule

  /// The save throws `conflict`, and changes nothing, if a property was changed in both. The default policy of a
  /// context.
  public static let error = MergePolicy(rule: .error)
  /// The store's value stays where a property was changed in both.
  public static let mergeByPropertyStoreTrump = MergePolicy(rule: .mergeByPropertyStoreTrump)
  /// The context's value is stored where a property was changed in both.
  public static let mergeByPropertyObjectTrump = MergePolicy(rule: .mergeByPropertyObjectTrump)
  /// All attributes of an object that was changed in both are as the context shows them, including those that only the
  /// store has changed. Relationships are merged as by ``mergeByPropertyObjectTrump``.
  public static let overwrite = MergePolicy(rule: .overwrite)
  /// No attribute and no to-one relationship of an object that was changed in both is stored. Its deletion is.
  public static let rollback = MergePolicy(rule: .rollback)

  /// Returns a policy of the program's, which resolves the properties that were changed in both.
  ///
  /// ```swift
  /// context.mergePolicy = .custom { conflict in
  ///   conflict.resolve(\Account.balance) { base, mine, theirs in mine + theirs - (base ?? 0) }
  ///   conflict.keepTheirs()
  /// }
  /// ```
  ///
  /// It runs where the save runs, while others can write. If they change the same objects again, it is asked again;
  /// after ten times the save throws `conflict`. An object that either side has deleted is deleted, and links are
  /// merged as by ``mergeByPropertyObjectTrump``.
  ///
  /// - Parameter resolve: called for each object with conflicts. It must not use objects of a context. Its error is the
  ///   `underlyingError` of the `conflict` that the save throws.
  public static func custom(
    _ resolve: @escaping @Sendable (inout MergeConflict) throws -> Void
  ) -> MergePolicy {
    MergePolicy(rule: .custom(CustomMerge(resolve)))
  }
}

extension MergePolicy: CustomStringConvertible {
  /// The name, such as `mergeByPropertyStoreTrump`.
  public var description: String {
    switch rule {
    case .error: "error"
    case .mergeByPropertyStoreTrump: "mergeByPropertyStoreTrump"
    case .mergeByPropertyObjectTrump: "mergeByPropertyObjectTrump"
    case .overwrite: "overwrite"
    case .rollback: "rollback"
    case .custom: "custom"
    }
  }
}
