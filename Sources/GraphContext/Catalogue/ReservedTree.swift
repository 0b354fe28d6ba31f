/// A tree that belongs to no entity. No entity, property or index may have a tree of this name.
enum ReservedTree: String, CaseIterable {
  /// The description that the store has of itself.
  case schema
  /// The history of its commits, if the store keeps one.
  case history

  static let names = Set(allCases.map(\.rawValue))
}
