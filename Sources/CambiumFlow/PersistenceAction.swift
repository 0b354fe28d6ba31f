/// What happens to the elements of one kind: what the program asks for, and what has come of it. Results are made by this module alone.
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
    /// The number is that of the request in the state, so that what comes late is told from what was asked for. The place is that of the result among those of the request, from 1.
    case received(PersistenceFetchResult<Element>, number: Int, place: Int)
    case requestFailed(Failure, Request, number: Int)
  }
  let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  /// Ends the live request.
  public static var cancelRequest: PersistenceAction { PersistenceAction(.cancelRequest) }
  /// Saves an element.
  public static func save(_ element: Element) -> PersistenceAction { PersistenceAction(.save(element)) }
  /// Deletes an element.
  public static func delete(_ element: Element) -> PersistenceAction { PersistenceAction(.delete(element)) }
  /// Begins a live request, in the place of the one before.
  public static func request(_ request: Request) -> PersistenceAction { PersistenceAction(.request(request)) }

  /// The element of an action that says that one was saved: a new one has its ID by then. Nil for every other action.
  public var savedElement: Element? {
    if case .saved(let element) = kind { element } else { nil }
  }
}

/// What a live request tells.
public enum PersistenceFetchResult<Element: Sendable>: Sendable {
  /// The list.
  case elements([Element])
  /// The difference to the list before; nil for one that can't be told.
  case difference(CollectionDifference<Element>?)
}
