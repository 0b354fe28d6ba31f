/// Something that is wrong with a store, found by ``Store/verify()``.
public struct IntegrityProblem: Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public let message: String
  /// Whether nothing is lost yet, but something that is kept twice is there only once: another damage may lose it.
  public let isWarning: Bool
  /// The tree's name, if it is in a tree.
  public let tree: String?
  /// The page's number, if it is in a page of the file.
  public let page: UInt64?

  package init(message: String, tree: String? = nil, page: UInt64? = nil, isWarning: Bool = false) {
    self.message = message
    self.isWarning = isWarning
    self.tree = tree
    self.page = page
  }

  public var description: String {
    var places: [String] = []
    if let tree { places.append("tree \(tree)") }
    if let page { places.append("page \(page)") }
    return places.isEmpty ? message : message + " (" + places.joined(separator: ", ") + ")"
  }
}
