import Predicates

extension ChangeSet {
  /// The changes that lead from the state after the commit to the state before it. They have no author.
  var undone: ChangeSet {
    var undone = ChangeSet(commit: commit)
    for (entity, objects) in objects { undone.setObjects(objects.undone, of: entity) }
    for (relationship, links) in links {
      for link in links.added { undone.noteRemoved(link, from: relationship) }
      for link in links.removed { undone.noteAdded(link, to: relationship) }
      for owner in links.reordered { undone.noteReordered(owner, in: relationship) }
    }
    return undone
  }
}

extension ChangeSet.Objects {
  fileprivate var undone: ChangeSet.Objects {
    var undone = ChangeSet.Objects(updated: updated, deleted: Array(inserted))
    for number in deleted { undone.inserted.append(number) }
    return undone
  }
}
