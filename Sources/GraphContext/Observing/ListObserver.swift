/// An object that a ``FetchedResults`` tells of its differences. The list holds it weakly.
///
/// Of one difference an observer hears, in this order: that the list will change, while the list still shows the old state; sections that come; objects that go, come,
/// move and have other values; sections that go; that the list did change. All but the first see the new state. An observer hears nothing of a change that the list doesn't show.
/// Every method does nothing unless the observer has one of its own.
public protocol ListObserver<Object>: AnyObject {
  /// The model of the list's objects.
  associatedtype Object: ManagedObject

  /// The list is about to change.
  func listWillChange(_ list: FetchedResults<Object>)
  /// One step of a difference: see ``ListChanges/events``. A reload has none.
  func list(_ list: FetchedResults<Object>, didChange event: ListChanges.Event)
  /// The list has changed. Of a reload nothing else is told.
  func listDidChange(_ list: FetchedResults<Object>, _ changes: ListChanges)
  /// The list can't be read, and keeps what it shows: ``FetchedResults/failure``. Once it can be read again, it tells of a reload.
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

  /// The observer hears nothing from now on, also of a difference that it has heard the beginning of.
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
