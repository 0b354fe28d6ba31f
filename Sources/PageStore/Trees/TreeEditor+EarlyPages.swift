/// A subtree of a transaction's tree that can be written before the transaction ends.
struct EarlySubtree {
  let editor: TreeEditor
  let root: TreeRoot
  /// The page of the transaction that refers to the subtree's root, and the index there; nil if the subtree
  /// is the whole tree.
  fileprivate let parent: (page: PageImage, index: Int)?

  /// Makes the tree refer to the page to which the subtree's root was written.
  func refer(to written: ChildReference) {
    editor.forgetFinger()
    if let parent {
      editor.editor(parent.page).setReference(parent.index, written)
    } else {
      editor.setRoot(written, height: editor.height)
    }
  }
}

extension TreeEditor {
  /// Returns the subtrees that consist of the transaction's own pages: branches of level 1 with their leaves,
  /// which can be packed, and lone leaves.
  ///
  /// There are none if a cursor over the tree may still be moved, or in the middle of a change. Where an
  /// operation needs the path afterwards (``isPathInUse``), the path's pages are left out.
  func earlySubtrees() -> [EarlySubtree] {
    guard height > 0, isIntact, !hasValidCursor else { return [] }
    var found: [EarlySubtree] = []
    addEarlySubtrees(at: root.reference, level: height - 1, parent: nil, to: &found)
    return found
  }

  private func addEarlySubtrees(
    at reference: ChildReference,
    level: Int,
    parent: (page: PageImage, index: Int)?,
    to found: inout [EarlySubtree]
  ) {
    guard reference.location.isFrame, reference.birth == dirty.commit else { return }
    let page = PageImage(UnsafeRawPointer(pool.arena.address(reference.location.number)))
    let isNeeded = isPathInUse && page.base == path[level].page.base
    if level > 1 || isNeeded {
      guard level > 0 else { return }
      for index in 0..<page.count {
        let child = ChildReference(loading: page.reference(index))
        addEarlySubtrees(at: child, level: level - 1, parent: (page, index), to: &found)
      }
    } else {
      var subtree = root
      subtree.height = UInt8(level + 1)
      subtree.reference = reference
      found.append(EarlySubtree(editor: self, root: subtree, parent: parent))
    }
  }
}
