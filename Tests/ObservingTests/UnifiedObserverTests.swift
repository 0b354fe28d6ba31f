import Cambium
import Testing

@testable import GraphContext

/// Observers of new objects that a save unifies with existing ones.
struct UnifiedObserverTests {
  @Test func anObserverFollowsAnObjectThatASaveUnifies() async throws {
    let container = try await PersistentContainer("Readings", models: Reading.self, at: .inMemory)
    let (context, other) = (try container.context(), try container.context())
    let old = Reading("a", 1)
    other.insert(old)
    try other.save()
    let new = Reading("a", 2)
    context.insert(new)
    let observer = try ObjectObserver(new)
    var told: [ObjectObserver<Reading>.Change] = []
    let subscription = observer.onChange { told.append($0) }
    try context.save(ifExists: .replace)
    #expect(told == [.refreshed])
    #expect(observer.objectID == old.objectID && !observer.isDeleted)
    #expect(observer.object?.value == 2)
    observer.object?.value = 3
    context.processPendingChanges()
    #expect(told == [.refreshed, .updated(["value"])])
    withExtendedLifetime(subscription) {}
  }

  /// A new object, whose context saves it as an existing one with the value 1.
  private func newReading() async throws -> (ManagedObjectContext, Reading) {
    let container = try await PersistentContainer("Readings", models: Reading.self, at: .inMemory)
    let (context, other) = (try container.context(), try container.context())
    other.insert(Reading("a", 1))
    try other.save()
    let new = Reading("a", 2)
    context.insert(new)
    return (context, new)
  }

  /// One listener of the unifying save ends the subscription of the other.
  @Test func aSubscriptionThatEndsInAUnifyingSaveIsToldNoMore() async throws {
    let (context, new) = try await newReading()
    var (told, second): (Int, ContextSubscription?) = (0, nil)
    let first = try new.observe(\.value) { _, _ in second?.cancel() }
    second = try new.observe(\.value) { _, _ in told += 1 }
    try context.save(ifExists: .keep)
    #expect(told == 0)
    withExtendedLifetime((first, second)) {}
  }

  @Test func aPropertyIsObservedOnceASaveHasUnifiedItsObject() async throws {
    let (context, new) = try await newReading()
    var told: [[Double]] = []
    let subscription = try new.observe(\.value) { told.append([$0, $1]) }
    try context.save(ifExists: .keep)
    #expect(told == [[2, 1]])
    let unified = try #require(try context.fetchOne(From<Reading>()))
    unified.value = 3
    context.processPendingChanges()
    #expect(told == [[2, 1], [1, 3]])
    context.delete(unified)
    context.processPendingChanges()
    #expect(told.count == 2)
    withExtendedLifetime(subscription) {}
  }
}
