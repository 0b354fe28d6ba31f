/// An action on the elements of one kind: a request of the program, or its result. Only this module makes results.
public struct PersistenceAction<Element: Sendable, Failure: Error, Request: Sendable>: Sendable {
  enum Kind: Sendable {
    case cancelRequest
    case save(Element)
    case delete(Element)
    case request(Request)
    case saved(Element)
    case saveFailed(Failure, Element)
    case deleted
    case deleteFailed(Failure, Element)
    /// The number is that of the request in the state: it tells late results from results of the current request.
    /// The place is the position of the result among those of the request, from 1.
    case received(PersistenceFetchResult<Element>, number: Int, place: Int)
    case requestFailed(Failure, Request, number: Int)
  }
  let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  /// An action that ends the live request.
  public static var cancelRequest: PersistenceAction { PersistenceAction(.cancelRequest) }
  /// Saves an element.
  public static func save(_ element: Element) -> PersistenceAction { PersistenceAction(.save(element)) }
  /// Deletes an element.
  public static func delete(_ element: Element) -> PersistenceAction { PersistenceAction(.delete(element)) }
  /// Begins a live request, which replaces the one before.
  public static func request(_ request: Request) -> PersistenceAction { PersistenceAction(.request(request)) }

  /// The saved element, if the action reports a save; a new element has its ID by then. Nil for every other action.
  public var savedElement: Element? {
    if case .saved(let element) = kind { element } else { nil }
  }
}

/// A result of a live request.
public enum PersistenceFetchResult<Element: Sendable>: Sendable {
  /// The list.
  case elements([Element])
  /// The difference to the list before; nil if it can't be computed.
  case difference(CollectionDifference<Element>?)
}
