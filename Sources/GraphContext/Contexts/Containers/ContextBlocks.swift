/// A context that an actor keeps, and the blocks that work with it, one after the other.
final class ContextBlocks {
  private let context: ManagedObjectContext
  private var isPerforming = false

  init(
    coordinator: StoreCoordinator,
    name: String?,
    mergePolicy: MergePolicy
  ) throws(ContextError) {
    context = try ManagedObjectContext(coordinator: coordinator)
    context.name = name
    context.mergePolicy = mergePolicy
  }

  /// Runs a block at the newest commit, as one turn of the context. A block in a block is a part of the outer one.
  func perform<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    if isPerforming { return try body(context) }
    isPerforming = true
    defer { isPerforming = false }
    try context.mergeAutomatically()
    defer { context.processPendingChanges() }
    let result = try body(context)
    try context.checkUsable()
    return result
  }

  /// Releases every object. No block follows.
  func end() { context.end() }
}
