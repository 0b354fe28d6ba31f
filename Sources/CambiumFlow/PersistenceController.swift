import Synchronization

/// What saves, deletes and follows the elements of one kind. It gives a store its middleware and its reducer.
public protocol PersistenceController<Element, Failure, Request>: Sendable {
  /// The values.
  associatedtype Element: Sendable
  /// What goes wrong.
  associatedtype Failure: Error
  /// What lists of the values are asked for by.
  associatedtype Request: Sendable

  /// The actions of the middleware and of the reducer.
  typealias Action = PersistenceAction<Element, Failure, Request>
  /// The state of the reducer.
  typealias State = PersistenceState<Element, Failure, Request>

  /// Saves an element, and returns it as it is saved: with its ID, if it is new.
  func save(_ element: Element) async throws(Failure) -> Element

  /// Deletes an element. One that isn't stored is deleted already.
  func delete(_ element: Element) async throws(Failure)

  /// Follows a list until the task is cancelled: hands over its elements, and then each difference.
  func follow(
    _ request: Request,
    receive: @escaping @Sendable (PersistenceFetchResult<Element>) -> Void
  ) async throws(Failure)
}

extension PersistenceController {
  /// A middleware that does what actions ask for. Each store needs one of its own: a middleware has one live request at a time.
  public func makeMiddleware() -> AnyMiddleware<Action, Action, State> {
    AnyMiddleware(PersistenceMiddleware(controller: self))
  }

  /// A reducer that keeps the state.
  ///
  /// - Parameter refetches: what becomes of a list to which a difference doesn't apply, because the program has changed it in the state: if true, the state is `loading`, and the
  ///   middleware begins the request again; if false, the list is empty.
  public static func makeReducer(refetches: Bool = true) -> Reducer<Action, State> {
    Reducer { action, state in state.apply(action.kind, refetches: refetches) }
  }
}

/// The numbers of requests. Each is used once, so that the live request has the greatest, whichever state the program puts back.
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

  /// Returns whether the result of a live request counts. The result of the newest request does. If the program has replaced the whole state by one with a list, or by one
  /// of before, the next result counts, and its request is the newest from then on.
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

  /// From now on nothing of the request before counts.
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

  /// A difference that doesn't apply. No later one does, either.
  private mutating func miss(_ refetches: Bool) {
    if refetches { begin(.loading) } else { request = .received([]) }
  }
}
