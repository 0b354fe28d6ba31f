/// Something that is wrong with a store, found by `Store.verify(includingWarnings:)`.
public struct IntegrityProblem: Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public let message: String
  /// Whether nothing is lost yet, but something that is kept twice is there only once: another damage may lose it.
  public let isWarning: Bool
  /// The tree's name, if it is in a tree.
  public let tree: String?
  /// The page's number, if it is in a page of the file.
  public let page: UInt64?
  /// Bytes from the start of the file, if it is at a place of the file: for a page, where the page begins.
  public let offset: UInt64?
  /// What ``description`` calls the tree; nil for its name.
  package var treeTitle: String?

  package init(
    message: String,
    tree: String? = nil,
    page: UInt64? = nil,
    offset: UInt64? = nil,
    isWarning: Bool = false
  ) {
    self.message = message
    self.isWarning = isWarning
    self.tree = tree
    self.page = page
    self.offset = offset
  }

  /// The message and the place, in a line.
  public var description: String {
    var places: [String] = []
    if let tree { places.append("tree \(treeTitle ?? tree)") }
    if let page { places.append("page \(page)") }
    if let offset { places.append("byte \(offset)") }
    return places.isEmpty ? message : message + " (" + places.joined(separator: ", ") + ")"
  }
}

extension IntegrityProblem {
  /// What is wrong with a page of the file.
  ///
  /// - Parameters:
  ///   - page: its number; nil if it is in no page of the file.
  ///   - pageSize: bytes of a page.
  init(message: String, tree: String? = nil, page: UInt64?, of pageSize: UInt64) {
    self.init(message: message, tree: tree, page: page, offset: page.map { $0 &* pageSize })
  }

  /// What kept a part of the store from being read.
  init(_ error: StoreError, tree: String? = nil, pageSize: UInt64) {
    let context = error.context
    self.init(
      message: error.message,
      tree: context.tree ?? tree,
      page: context.page,
      offset: context.page.map { $0 &* pageSize } ?? context.offset
    )
  }
}
