import GraphContext

/// A container that is opened when it is first needed. All controllers of its entities share it.
///
/// ```swift
/// let music = LazyContainer { try await PersistentContainer("Music", models: Song.self, at: url) }
/// ```
public actor LazyContainer {
  private let open: @Sendable () async throws -> PersistentContainer
  private let configure: @Sendable (PersistentContainer) async throws -> Void
  private let published = Published(ContainerState.initial)
  /// The task that opens the container, running or finished.
  private var opening: Task<PersistentContainer, any Error>?

  /// Makes a container that isn't opened.
  ///
  /// - Parameters:
  ///   - open: opens the container.
  ///   - configure: called once the container is open, before anything works with it. If this throws, the container
  ///     is closed, and counts as one that can't be opened.
  public init(
    _ open: @escaping @Sendable () async throws -> PersistentContainer,
    configure: @escaping @Sendable (PersistentContainer) async throws -> Void = { _ in }
  ) {
    (self.open, self.configure) = (open, configure)
  }

  /// The state of the container, on any thread.
  public nonisolated var state: ContainerState { published.value }

  /// Returns the current state, and then every state that follows.
  public nonisolated func states() -> AsyncStream<ContainerState> { published.values() }

  /// Returns the container. The first call opens it; calls that come meanwhile wait for the same opening.
  ///
  /// - Throws: ``FlowError/container(_:)`` with the error of the opening, again at every call until ``retry()``.
  public func container() async throws(FlowError) -> PersistentContainer {
    let opening = opening ?? beginOpening()
    do { return try await opening.value } catch { throw .container(error) }
  }

  /// Opens the container again if it couldn't be opened; else as ``container()``.
  @discardableResult
  public func retry() async throws(FlowError) -> PersistentContainer {
    if case .failed = state { opening = nil }
    return try await container()
  }

  private func beginOpening() -> Task<PersistentContainer, any Error> {
    published.set(.loading)
    let task = Task { [open, configure, published] in
      do {
        let container = try await open()
        do { try await configure(container) } catch {
          try? await container.close()
          throw error
        }
        published.set(.loaded)
        return container
      } catch {
        published.set(.failed(.container(error)))
        throw error
      }
    }
    opening = task
    return task
  }
}

/// The state of a container that is opened when it is first needed.
public enum ContainerState: Sendable, Equatable {
  /// Nothing has needed the container.
  case initial
  /// The container is being opened.
  case loading
  /// The container is open.
  case loaded
  /// The container can't be opened.
  case failed(FlowError)
}

extension PersistenceState where Failure == FlowError {
  /// The state of the container as the three parts show it: failed if a part has its error, loaded if a part has a
  /// result, loading if a part waits, or initial.
  public var containerLoadingState: ContainerState {
    if case .failed(.container(let error), _) = request { return .failed(.container(error)) }
    for part in [persist, delete] {
      if case .failed(.container(let error), _) = part { return .failed(.container(error)) }
    }
    if case .received = request { return .loaded }
    for part in [persist, delete] {
      if case .succeeded = part { return .loaded }
    }
    if case .loading = request { return .loading }
    for part in [persist, delete] {
      if case .processing = part { return .loading }
    }
    return .initial
  }
}
