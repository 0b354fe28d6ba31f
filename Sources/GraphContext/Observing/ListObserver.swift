/// An object that a ``FetchedResults`` tells of its differences. The list holds it weakly.
///
/// For one difference an observer receives these calls, in this order: that the list will change, while the list still
/// shows the old state; sections that come; objects that go, come, move and have other values; sections that go; that
/// the list did change. During all calls but the first, the list shows the new state. An observer isn't told of a
/// change that the list doesn't show. Every method does nothing unless the observer has one of its own.
public protocol ListObserver<Object>: AnyObject {
  /// The model of the list's objects.
  associatedtype Object: ManagedObject

  /// Tells the observer that the list is about to change.
  func listWillChange(_ list: FetchedResults<Object>)
  /// Tells the observer of one step of a difference: see ``ListChanges/events``. A reload has none.
  func list(_ list: FetchedResults<Object>, didChange event: ListChanges.Event)
  /// Tells the observer that the list has changed. For a reload, no steps come before this call.
  func listDidChange(_ list: FetchedResults<Object>, _ changes: ListChanges)
  /// Tells the observer that the list can't be read, and doesn't change: ``FetchedResults/failure``. Once the list can
  /// be read again, it reports a reload.
  func list(_ list: FetchedResults<Object>, didFailWith error: ContextError)
}

extension ListObserver {
  /// Does nothing.
  public func listWillChange(_ list: FetchedResults<Object>) {}
  /// Does nothing.
  public func list(_ list: FetchedResults<Object>, didChange event: ListChanges.Event) {}
  /// Does nothing.
  public func listDidChange(_ list: FetchedResults<Object>, _ changes: ListChanges) {}
  /// Does nothing.
  public func list(_ list: FetchedResults<Object>, didFailWith error: ContextError) {}
}

/// An observer that is held weakly, until it is removed.
final class ObserverBox<Object: ManagedObject> {
  private weak var observer: (any ListObserver<Object>)?

  init(_ observer: any ListObserver<Object>) { self.observer = observer }

  var isGone: Bool { observer == nil }

  /// Removes the observer, which is told nothing from now on, not even the rest of a difference whose beginning it was
  /// told.
  func remove() { observer = nil }

  func isOf(_ other: AnyObject) -> Bool { observer === other }

  func willChange(_ list: FetchedResults<Object>) { observer?.listWillChange(list) }

  func didFail(_ list: FetchedResults<Object>, _ error: ContextError) {
    observer?.list(list, didFailWith: error)
  }

  func didChange(_ list: FetchedResults<Object>, _ changes: ListChanges) {
    if observer == nil { return }
    for event in changes.events { observer?.list(list, didChange: event) }
    observer?.listDidChange(list, changes)
  }
}
