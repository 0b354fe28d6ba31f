import GraphContext

/// A controller that saves, deletes and follows the values of one model in a container.
///
/// ```swift
/// let songs = StoreController<Song.Values>(music)
/// let store = FlowStore(.initial, reducer: type(of: songs).makeReducer(), middleware: songs.makeMiddleware())
/// store.dispatch(.request(.all))
/// ```
///
/// Each given closure replaces the controller's default. No closure is called before the container is open.
public struct StoreController<Element: PersistableValue>: PersistenceController {
  /// The type of errors.
  public typealias Failure = FlowError
  /// The type of requests for lists of the values.
  public typealias Request = Element.Request
  /// A closure that saves an element, and returns it as it is saved.
  public typealias Save = @Sendable (PersistentContainer, Element) async throws(FlowError) -> Element
  /// A closure that deletes an element.
  public typealias Delete = @Sendable (PersistentContainer, Element) async throws(FlowError) -> Void
  /// A closure that follows a list until the task is cancelled.
  public typealias Follow =
    @Sendable (
      PersistentContainer, Element.Request,
      _ receive: @escaping @Sendable (PersistenceFetchResult<Element>) -> Void
    ) async throws(FlowError) -> Void

  private let container: LazyContainer
  private let place: FollowingPlace
  private let save: Save?
  private let delete: Delete?
  private let follow: Follow?

  /// Makes a controller.
  ///
  /// - Parameters:
  ///   - container: the container, which controllers of other models share.
  ///   - place: the context in which lists are followed.
  ///   - save: saves an element; nil for a block of its own, in which an existing object is updated, or a new one
  ///     inserted.
  ///   - delete: deletes an element; nil for a block of its own.
  ///   - follow: follows a list; nil for a live list in `place`.
  public init(
    _ container: LazyContainer,
    following place: FollowingPlace = .store,
    save: Save? = nil,
    delete: Delete? = nil,
    follow: Follow? = nil
  ) {
    (self.container, self.place) = (container, place)
    (self.save, self.delete, self.follow) = (save, delete, follow)
  }

  /// Saves an element, and returns it as it is saved: with its ID, if it is new.
  public func save(_ element: Element) async throws(FlowError) -> Element {
    let container = try await container.container()
    if let save { return try await save(container, element) }
    return try await container.save(element)
  }

  /// Deletes the object of an element. Does nothing if the object doesn't exist any more, or never existed.
  public func delete(_ element: Element) async throws(FlowError) {
    let container = try await container.container()
    if let delete { return try await delete(container, element) }
    try await container.delete(element)
  }

  /// Follows a list until the task is cancelled.
  public func follow(
    _ request: Element.Request,
    receive: @escaping @Sendable (PersistenceFetchResult<Element>) -> Void
  ) async throws(FlowError) {
    let container = try await container.container()
    if let follow { return try await follow(container, request, receive) }
    try await container.follow(request, in: place, receive: receive)
  }
}
