import GraphContext

/// A container that is opened when something needs it first. All controllers of its entities share it.
///
/// ```swift
/// let music = LazyContainer { try await PersistentContainer("Music", models: Song.self, at: url) }
/// ```
public actor LazyContainer {
  private let open: @Sendable () async throws -> PersistentContainer
  private let configure: @Sendable (PersistentContainer) async throws -> Void
  private let published = Published(ContainerState.initial)
  /// The opening, under way or over.
  private var opening: Task<PersistentContainer, any Error>?

  /// Makes a container that isn't opened.
  ///
  /// - Parameters:
  ///   - open: opens the container.
  ///   - configure: called once it is open, before anything works with it. If this throws, the container is closed, and counts as one that can't be opened.
  public init(
    _ open: @escaping @Sendable () async throws -> PersistentContainer,
    configure: @escaping @Sendable (PersistentContainer) async throws -> Void = { _ in }
  ) {
    (self.open, self.configure) = (open, configure)
  }

  /// What has become of the container, on any thread.
  public nonisolated var state: ContainerState { published.value }

  /// The state at hand, and then every one that follows.
  public nonisolated func states() -> AsyncStream<ContainerState> { published.values() }

  /// The container. The first call opens it, and those that come meanwhile wait for the same opening.
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

/// What has become of a container that is opened when something needs it.
public enum ContainerState: Sendable, Equatable {
  /// Nothing has needed it.
  case initial
  /// It is being opened.
  case loading
  /// It is open.
  case loaded
  /// It can't be opened.
  case failed(FlowError)
}

extension PersistenceState where Failure == FlowError {
  /// What the parts tell of the container: that it failed, that something has come out of it, that something waits for it, or nothing.
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
