/// The state of the elements of one kind, in three independent parts.
public struct PersistenceState<Element: Sendable, Failure: Error, Request: Sendable>: Sendable {
  /// The live request.
  public var request: RequestState<Element, Failure, Request> { didSet { shownResult = nil } }
  /// The last step of any save.
  public var persist: ChangeState<Element, Failure>
  /// The last step of any deletion.
  public var delete: ChangeState<Element, Failure>
  /// The number of the live request, or of its end. 0 in a state that the program has made.
  var requestNumber = 0
  /// The number of the live request's result that the list shows, from 1. A difference applies to the list of the
  /// result before. Nil if the program has set the list since.
  var shownResult: Int?

  /// Makes a state.
  public init(
    request: RequestState<Element, Failure, Request> = .initial,
    persist: ChangeState<Element, Failure> = .initial,
    delete: ChangeState<Element, Failure> = .initial
  ) {
    (self.request, self.persist, self.delete) = (request, persist, delete)
  }

  /// Shows a result of a live request.
  ///
  /// - Parameter result: the number of the result; nil for a state without a list.
  mutating func show(_ next: RequestState<Element, Failure, Request>, _ result: Int? = nil) {
    request = next
    shownResult = result
  }

  /// The state before the first action.
  public static var initial: PersistenceState { PersistenceState() }
}

/// The state of a live request.
public enum RequestState<Element: Sendable, Failure: Error, Request: Sendable>: Sendable {
  /// There was no request.
  case initial
  /// The request has no result yet.
  case loading
  /// The request has failed, and is over.
  case failed(Failure, Request)
  /// The request goes on, and this is its list.
  case received([Element])
  /// The program has ended the request.
  case canceled

  /// The list; nil where there is none.
  public var elements: [Element]? {
    if case .received(let elements) = self { elements } else { nil }
  }
}

/// The state of saves, or of deletions: the last step of any of them.
public enum ChangeState<Element: Sendable, Failure: Error>: Sendable {
  /// There was no save or deletion.
  case initial
  /// A save or deletion is under way.
  case processing
  /// The save or deletion of this element has failed.
  case failed(Failure, Element)
  /// A save or deletion has succeeded.
  case succeeded
}

extension RequestState: Equatable where Element: Equatable, Failure: Equatable, Request: Equatable {}
extension ChangeState: Equatable where Element: Equatable, Failure: Equatable {}

extension PersistenceState: Equatable where Element: Equatable, Failure: Equatable, Request: Equatable {
  /// Returns whether the three parts are equal.
  public static func == (left: PersistenceState, right: PersistenceState) -> Bool {
    left.request == right.request && left.persist == right.persist && left.delete == right.delete
  }
}
