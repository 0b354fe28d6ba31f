import Predicates

extension ManagedObjectContext: CustomDebugStringConvertible {
  /// The context's name, the commit that it shows and the numbers of its unsaved changes:
  /// `import at commit 17: 2 inserted, 1 updated, 0 deleted`.
  public var debugDescription: String {
    let counts =
      "\(insertedObjects.count) inserted, \(updatedObjects.count) updated, \(deletedObjects.count) deleted"
    let kind = parent == nil ? "context" : "child"
    return "\(name ?? kind) at commit \(source.commit)\(isReadOnly ? ", read-only" : ""): \(counts)"
  }
}
