import GraphContext

/// Saves, deletes and follows the values of one model in a container.
///
/// ```swift
/// let songs = StoreController<Song.Values>(music)
/// let store = FlowStore(.initial, reducer: type(of: songs).makeReducer(), middleware: songs.makeMiddleware())
/// store.dispatch(.request(.all))
/// ```
///
/// Each closure that is given replaces what the controller does by itself. None is called before the container is open.
public struct StoreController<Element: PersistableValue>: PersistenceController {
  /// What goes wrong.
  public typealias Failure = FlowError
  /// What lists of the values are asked for by.
  public typealias Request = Element.Request
  /// Saves an element, and returns it as it is saved.
  public typealias Save = @Sendable (PersistentContainer, Element) async throws(FlowError) -> Element
  /// Deletes an element.
  public typealias Delete = @Sendable (PersistentContainer, Element) async throws(FlowError) -> Void
  /// Follows a list until the task is cancelled.
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
  ///   - place: where lists are followed.
  ///   - save: saves an element; nil for a block of its own, in which an existing object is updated, or a new one inserted.
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

  /// Deletes the object of an element. Nothing happens where it has none any more, or never had.
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
