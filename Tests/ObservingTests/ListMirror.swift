import Cambium

@testable import GraphContext

/// An array that follows a list by its differences alone.
final class ListMirror<Object: ManagedObject> {
  private(set) var ids: [ManagedObjectID] = []
  /// Whether the array was what the list showed after each difference.
  private(set) var hasMatched = true
  private(set) var changes: [ListChanges] = []
  private let list: FetchedResults<Object>
  private var subscription: ContextSubscription?

  init(_ list: FetchedResults<Object>) {
    self.list = list
    ids = shown
    subscription = list.onChange { [unowned self] in follow($0) }
  }

  /// The IDs that the list shows.
  var shown: [ManagedObjectID] { (try? list.objectIDs(at: 0..<list.count)) ?? [] }

  private func follow(_ changes: ListChanges) {
    self.changes.append(changes)
    ids = changes.isReload ? shown : changes.applied(to: ids) { $0 } ?? []
    hasMatched = hasMatched && ids == shown
  }
}
