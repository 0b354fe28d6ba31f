import Cambium
import Foundation
import GraphTestSupport
import Synchronization
import Testing

@testable import GraphContext

/// Contexts on executors of the program's own.
struct ExecutorContextTests {
  /// Runs jobs on one thread, which has no run loop.
  private final class ThreadExecutor: SerialExecutor {
    // Safety: each access holds the condition's lock.
    private final class Jobs: @unchecked Sendable {
      private let condition = NSCondition()
      private var jobs: [UnownedJob] = []
      private var isOver = false

      func add(_ job: UnownedJob) {
        condition.withLock {
          jobs.append(job)
          condition.signal()
        }
      }

      func end() {
        condition.withLock {
          isOver = true
          condition.signal()
        }
      }

      func next() -> UnownedJob? {
        condition.withLock {
          while jobs.isEmpty, !isOver { condition.wait() }
          return jobs.isEmpty ? nil : jobs.removeFirst()
        }
      }
    }

    private let jobs = Jobs()
    let thread = ThreadNumber()

    init() {
      let executor = asUnownedSerialExecutor()
      Thread.detachNewThread { [jobs, thread] in
        thread.value.store(UInt(pthread_self()), ordering: .relaxed)
        while let job = jobs.next() { job.runSynchronously(on: executor) }
      }
    }

    /// The thread that runs the jobs; 0 before it has begun.
    final class ThreadNumber: Sendable { let value = Atomic<UInt>(0) }

    func enqueue(_ job: consuming ExecutorJob) { jobs.add(UnownedJob(job)) }

    func end() { jobs.end() }
  }

  private let library: PersistentContainer
  private let executor = ThreadExecutor()

  init() async throws { library = try await Library.open() }

  @Test func blocksRunOnTheExecutorAndKeepWhatIsUnsaved() async throws {
    defer { executor.end() }
    let context = try library.newBackgroundContext(executor: executor, name: "own")
    for number in 0..<100 {
      let thread = try await context.perform { context in
        context.insert(Writer("w\(number)"))
        if number.isMultiple(of: 2) { try context.save() }
        return UInt(pthread_self())
      }
      #expect(thread == executor.thread.value.load(ordering: .relaxed))
    }
    let (count, name) = try await context.perform { ($0.insertedObjects.count, $0.name) }
    #expect(count == 1 && name == "own")
    #expect(try library.context().count(From<Writer>()) == 99)
  }

  @Test func countsAreToldOnTheExecutor() async throws {
    defer { executor.end() }
    let context = try library.newBackgroundContext(executor: executor)
    let counts = Mutex<[Int]>([])
    let threads = Mutex<Set<UInt>>([])
    let kept = try await context.perform { context in
      let observer = try CountObserver(From<Writer>(), in: context)
      let subscription = observer.onChange(notifyInitial: true) { count in
        counts.withLock { $0.append(count) }
        threads.withLock { _ = $0.insert(UInt(pthread_self())) }
      }
      return Kept(observer: observer, subscription: subscription)
    }
    try await library.write { context in context.insert(Writer("w")) }
    try await context.perform { context in
      context.insert(Writer("x"))
      try context.save()
    }
    #expect(counts.withLock { $0.first == 0 && $0.last == 2 })
    #expect(threads.withLock { $0 } == [executor.thread.value.load(ordering: .relaxed)])
    try await context.perform { _ in kept.subscription.cancel() }
  }

  // Safety: the contents are read and released on the executor of their context.
  private struct Kept: @unchecked Sendable {
    let observer: CountObserver<Writer>
    let subscription: ContextSubscription
  }

  /// Two contexts on one executor and one on a queue: every increment is there, and each block begins at the newest commit.
  @Test func contextsOfAllKindsFollowEachOther() async throws {
    defer { executor.end() }
    let id = try await library.write { context in
      let writer = Writer("w")
      context.insert(writer)
      return writer.objectID
    }
    let contexts = try (0..<2).map { _ in try library.newBackgroundContext(executor: executor) }
    let queued = try library.newBackgroundContext()
    @Sendable func increment(_ context: ManagedObjectContext) throws {
      try context.existingObject(Writer.self, with: id).rank += 1
      try context.save()
    }
    for _ in 0..<20 {
      for context in contexts { try await context.perform(increment) }
      try queued.performAndWait(increment)
    }
    #expect(try await contexts[0].perform { try $0.existingObject(Writer.self, with: id).rank } == 60)
  }

  @Test func errorsComeOutAndTheContextGoesOn() async throws {
    defer { executor.end() }
    let context = try library.newBackgroundContext(executor: executor)
    struct Refusal: Error {}
    await #expect(throws: Refusal.self) { try await context.perform { _ in throw Refusal() } }
    let object = try await context.perform { context in
      context.insert(Writer("w"))
      return context.insertedObjects.count
    }
    #expect(object == 1)
    try await library.close()
    #expect(throws: ContextError.self) { try library.newBackgroundContext(executor: executor) }
  }

  /// The actor's memory is freed on its executor, with the objects of its context.
  @Test func objectsLeaveWithTheContext() async throws {
    defer { executor.end() }
    var context: ExecutorContext? = try library.newBackgroundContext(executor: executor)
    let stream = try await context?.perform { $0.objectChanges() }
    try await context?.perform { $0.insert(Writer("w")) }
    context = nil
    var count = 0
    for await changes in try #require(stream) { count += changes.inserted.count }
    #expect(count == 1)
  }
}
