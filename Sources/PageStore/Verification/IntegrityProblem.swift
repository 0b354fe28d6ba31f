/// A problem of a store, found by `Store.verify(includingWarnings:)`.
public struct IntegrityProblem: Sendable, Hashable, CustomStringConvertible {
  /// A sentence about the problem.
  public let message: String
  /// True if nothing is lost yet, but only one of two copies is left: further damage may destroy that copy,
  /// too.
  public let isWarning: Bool
  /// The tree's name, if the problem is in a tree.
  public let tree: String?
  /// The page's number, if the problem is in a page of the file.
  public let page: UInt64?
  /// Bytes from the start of the file, if the problem is at an offset of the file; for a page, the page's
  /// offset.
  public let offset: UInt64?
  /// The name of the tree in ``description``; nil for ``tree``.
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

  /// The message, tree, page and offset, in one line.
  public var description: String {
    var places: [String] = []
    if let tree { places.append("tree \(treeTitle ?? tree)") }
    if let page { places.append("page \(page)") }
    if let offset { places.append("byte \(offset)") }
    return places.isEmpty ? message : message + " (" + places.joined(separator: ", ") + ")"
  }
}

extension IntegrityProblem {
  /// Makes a problem of a page of the file.
  ///
  /// - Parameters:
  ///   - page: the page's number; nil if the problem is in no page of the file.
  ///   - pageSize: bytes of a page.
  init(message: String, tree: String? = nil, page: UInt64?, of pageSize: UInt64) {
    self.init(message: message, tree: tree, page: page, offset: page.map { $0 &* pageSize })
  }

  /// Makes a problem from the error with which a part of the store couldn't be read.
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
