import Synchronization

/// A node of the linked list of the commits since the store was opened, with the attachment of its
/// transaction.
///
/// A link refers to the next one, and not to the one before. So the attachments that a reader of an old
/// version may ask for stay in memory as long as that version is held, and no longer.
final class CommitLink: Sendable {
  let commit: UInt64
  let attachment: (any Sendable)?
  private let next = Mutex<CommitLink?>(nil)

  init(_ commit: UInt64, attachment: (any Sendable)? = nil) {
    self.commit = commit
    self.attachment = attachment
  }

  deinit {
    // A loop, because otherwise each link of a long list would be freed recursively by the one before it.
    var rest = next.withLock { $0.take() }
    while rest != nil, isKnownUniquelyReferenced(&rest) {
      rest = rest?.next.withLock { $0.take() }
    }
  }

  /// Adds the following commit. Does nothing for the same commit.
  func append(_ link: CommitLink) {
    if link !== self { next.withLock { $0 = link } }
  }

  /// Returns the attachments of the commits after this one, up to and including `last`, in order. O(commits
  /// between).
  func attachments(through last: UInt64) -> [any Sendable] {
    var found: [any Sendable] = []
    var link = self
    while link.commit < last, let following = link.next.withLock({ $0 }) {
      if let attachment = following.attachment { found.append(attachment) }
      link = following
    }
    return found
  }
}
