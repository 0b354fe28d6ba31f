import GraphContext

/// An operation that fetches objects and makes a value of each, because objects can't leave its context. The first
/// error of a value is the output.
///
/// ```swift
/// let titles = FetchOperation(container, From<Song>().orderBy(\.title)) { $0.title }
/// ```
public final class FetchOperation<Object: ManagedObject, Value: Sendable>: StoreOperation<[Value]>,
  @unchecked Sendable  // Safety: the query and the closure never change.
{
  private let request: From<Object>
  private let value: @Sendable (Object) throws -> Value

  /// Makes an operation.
  ///
  /// - Parameters:
  ///   - container: the container.
  ///   - request: the query.
  ///   - value: makes the value of an object: a closure, or an initialiser such as `SongDraft.init(with:)`.
  public init(
    _ container: PersistentContainer,
    _ request: From<Object>,
    as value: @escaping @Sendable (Object) throws -> Value
  ) {
    (self.request, self.value) = (request, value)
    super.init(container)
  }

  /// Fetches the objects.
  public override func performWork(in context: ManagedObjectContext) throws {
    // If a getter couldn't read and returned a placeholder, `finish` makes its error the output.
    finish(with: .success(try context.fetch(request).map(value)))
  }
}

extension FetchOperation where Object: ModelWithValues, Value == Object.Values {
  /// Makes an operation whose output is the objects' values.
  public convenience init(_ container: PersistentContainer, _ request: From<Object>) {
    self.init(container, request) { $0.values }
  }
}
