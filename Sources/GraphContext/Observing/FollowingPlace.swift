/// The context in which ``PersistentContainer/follow(_:sectionedBy:in:as:)`` follows a query.
public enum FollowingPlace: Sendable, Hashable {
  /// A context of its own, on a queue of its own, which shows what is saved.
  case store
  /// The view context, on the main actor, which shows its unsaved changes, too. The program has to leave the main actor
  /// free, as an asynchronous `main` does.
  case viewContext
}
