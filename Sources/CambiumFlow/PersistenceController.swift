import Synchronization

/// A controller that saves, deletes and follows the elements of one kind. It makes the middleware and the reducer
/// of a store.
public protocol PersistenceController<Element, Failure, Request>: Sendable {
  /// The values.
  associatedtype Element: Sendable
  /// The type of errors.
  associatedtype Failure: Error
  /// The type of requests for lists of the values.
  associatedtype Request: Sendable

  /// The actions of the middleware and of the reducer.
  typealias Action = PersistenceAction<Element, Failure, Request>
  /// The state of the reducer.
  typealias State = PersistenceState<Element, Failure, Request>

  /// Saves an element, and returns it as it is saved: with its ID, if it is new.
  func save(_ element: Element) async throws(Failure) -> Element

  /// Deletes an element. An element that isn't stored counts as deleted.
  func delete(_ element: Element) async throws(Failure)

  /// Follows a list until the task is cancelled: hands over its elements, and then each difference.
  func follow(
    _ request: Request,
    receive: @escaping @Sendable (PersistenceFetchResult<Element>) -> Void
  ) async throws(Failure)
}

extension PersistenceController {
  /// Returns a middleware that does what actions ask for. Each store needs one of its own: a middleware has one live
  /// request at a time.
  public func makeMiddleware() -> AnyMiddleware<Action, Action, State> {
    AnyMiddleware(PersistenceMiddleware(controller: self))
  }

  /// Returns a reducer that keeps the state.
  ///
  /// - Parameter refetches: what happens if a difference doesn't apply to a list, because the program has changed
  ///   the list in the state. If true, the state becomes `loading`, and the middleware begins the request again; if
  ///   false, the list becomes empty.
  public static func makeReducer(refetches: Bool = true) -> Reducer<Action, State> {
    Reducer { action, state in state.apply(action.kind, refetches: refetches) }
  }
}

/// The numbers of requests. Each number is used once, so the live request has the greatest number, also if the
/// program restores an earlier state.
private let requestNumbers = Atomic(0)

extension PersistenceState {
  mutating func apply(_ kind: PersistenceAction<Element, Failure, Request>.Kind, refetches: Bool) {
    switch kind {
    case .save: persist = .processing
    case .saved: persist = .succeeded
    case .saveFailed(let failure, let element): persist = .failed(failure, element)
    case .delete: delete = .processing
    case .deleted: delete = .succeeded
    case .deleteFailed(let failure, let element): delete = .failed(failure, element)
    case .request: begin(.loading)
    case .cancelRequest: begin(.canceled)
    case .requestFailed(let failure, let failed, let number):
      if listens(to: number) { show(.failed(failure, failed)) }
    case .received(let result, let number, let place):
      if listens(to: number) { receive(result, at: place, refetches) }
    }
  }

  /// Returns whether the result of a live request counts. The result of the newest request does. If the program has
  /// replaced the whole state by a state with a list, or by an earlier state, the next result counts. Its request is
  /// the newest from then on.
  private mutating func listens(to number: Int) -> Bool {
    if number > requestNumber, isShowing {
      requestNumber = number
      shownResult = nil
    }
    return number == requestNumber
  }

  private var isShowing: Bool {
    switch request {
    case .received: true
    // In a state that the program has made, no request is under way.
    case .loading: requestNumber > 0
    case .initial, .failed, .canceled: false
    }
  }

  /// Begins a request: results of the request before don't count from now on.
  private mutating func begin(_ next: RequestState<Element, Failure, Request>) {
    requestNumber = requestNumbers.add(1, ordering: .relaxed).newValue
    show(next)
  }

  private mutating func receive(
    _ result: PersistenceFetchResult<Element>,
    at place: Int,
    _ refetches: Bool
  ) {
    switch (result, request) {
    case (_, .canceled), (_, .failed): return
    case (.elements(let elements), _): show(.received(elements), place)
    case (.difference(let difference), .received(let old)) where shownResult == place - 1:
      if let new = difference.flatMap(old.applying) { show(.received(new), place) } else { miss(refetches) }
    case (.difference(let difference), .initial) where place == 1,
      (.difference(let difference), .loading) where place == 1:
      let inserted = difference?.insertions.map { step in
        switch step {
        case .insert(_, let element, _), .remove(_, let element, _): element
        }
      }
      show(.received(inserted ?? []), place)
    case (.difference, _): miss(refetches)
    }
  }

  /// Handles a difference that doesn't apply; no later difference applies, either.
  private mutating func miss(_ refetches: Bool) {
    if refetches { begin(.loading) } else { request = .received([]) }
  }
}
