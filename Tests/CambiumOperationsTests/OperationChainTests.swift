import Foundation
import Testing

import struct TestSupport.SeededGenerator

@testable import CambiumOperations

/// Chains, their progress, groups.
struct OperationChainTests {
  private let queue = OperationQueue()

  /// An operation that notes its name.
  private func noting(_ name: String, _ notes: Notes) -> BlockResultOperation<Int> {
    let operation = BlockResultOperation<Int> {
      notes.add(name)
      return name.count
    }
    operation.name = name
    return operation
  }

  @Test func thenReturnsTheNext() {
    let notes = Notes()
    let (a, b) = (noting("a", notes), noting("b", notes))
    let last = a.then(do: b).then(do: noting("c", notes))
    #expect(b.dependencies == [a] && last.dependencies == [b])
    last.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(notes.all == ["a", "b", "c"])
  }

  @Test func aChainHasEachOperationOnce() {
    let notes = Notes()
    let (a, b, c, d) = (noting("a", notes), noting("b", notes), noting("c", notes), noting("d", notes))
    a.then(do: b).then(do: d)
    a.then(do: c).then(do: d)
    #expect(d.operationChain.map(\.name) == ["a", "b", "c", "d"])
    d.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(notes.all.first == "a" && notes.all.last == "d" && notes.all.count == 4)
  }

  @Test func chainsMayBeLong() {
    var last: Operation = BlockOperation {}
    for _ in 0..<20_000 { last = last.then(do: BlockOperation {}) }
    #expect(last.operationChain.count == 20_001)
  }

  /// Random graphs whose operations are put into several queues. No operation runs before its dependencies.
  @Test func chainsRunOverSeveralQueues() {
    var random = SeededGenerator()
    for _ in 0..<30 {
      let notes = Notes()
      let queues = (0..<3).map { _ in OperationQueue() }
      queues[0].maxConcurrentOperationCount = 1
      let operations = (0..<random.number(in: 2...25)).map { noting("\($0)", notes) }
      var needed: [[Int]] = [[]]
      for number in operations.indices.dropFirst() {
        needed.append((0..<random.number(in: 0...3)).map { _ in random.number(in: 0...number - 1) })
        for other in needed[number] { operations[number].addDependency(operations[other]) }
      }
      // Operations in the middle of other chains are enqueued, too.
      for operation in operations.shuffled(using: &random) { operation.enqueue(on: random.pick(queues)) }
      queues.forEach { $0.waitUntilAllOperationsAreFinished() }
      let order = notes.all.compactMap(Int.init)
      #expect(order.sorted() == Array(operations.indices))
      let place = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
      for (number, others) in needed.enumerated() {
        for other in others { #expect(place[other, default: 0] < place[number, default: 0]) }
      }
    }
  }

  @Test(.timeLimit(.minutes(60))) func completionsAreCalled() async {
    let notes = Notes()
    await withCheckedContinuation { continuation in
      let first = noting("one", notes)
      first.passesResult(to: BlockMapOperation { $0 * 2 }).enqueue { result in
        notes.add("\((try? result.get()) ?? 0)")
        continuation.resume()
      }
    }
    await withCheckedContinuation { continuation in
      noting("two", notes).then(do: Immediate()).enqueue { continuation.resume() }
    }
    #expect(notes.all == ["one", "6", "two"])
  }

  private final class Immediate: ConcurrentOperation, @unchecked Sendable {
    // Safety: it has no properties of its own.
    override func execute() { finish() }
  }

  // MARK: Progress

  @Test func progressIsSplitEvenly() {
    for count in 1...7 {
      let operations = (0..<count).map { _ in Held() }
      for (operation, next) in zip(operations, operations.dropFirst()) { operation.then(do: next) }
      // Plain operations have no progress.
      let last = operations.last!.then(do: BlockOperation {})
      let progress = last.chainProgress()
      for (number, operation) in operations.enumerated() {
        operation.start()
        operation.finish()
        let share = 100 / Int64(count)
        #expect(progress.completedUnitCount == (number + 1 == count ? 100 : share * Int64(number + 1)))
      }
      #expect(progress.fraction == 1)
    }
  }

  @Test(.timeLimit(.minutes(60))) func progressEndsAtOne() async {
    let notes = Notes()
    let last = noting("a", notes).then(do: noting("b", notes)).then(do: noting("c", notes))
    let progress = last.enqueueWithProgress(on: queue)
    for await fraction in progress.fractions() where fraction == 1 { notes.add("all") }
    #expect(notes.all == ["a", "b", "c", "all"])
  }

  // MARK: Groups

  @Test func aGroupRunsItsChain() throws {
    let notes = Notes()
    let group = noting("a", notes).then(do: noting("b", notes)).group(collateProgress: true)
    let last = group.then(do: noting("c", notes))
    let progress = last.enqueueWithProgress(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(notes.all == ["a", "b", "c"])
    try group.output.get()
    #expect(progress.fraction == 1)
  }

  @Test func aGroupFailsAsItsLastOperation() {
    let group = BlockResultOperation { 1 }.then(do: BlockResultOperation<Int> { throw Broken() }).group()
    group.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(throws: Broken()) { try group.output.get() }
  }

  @Test func aFailureEndsAGroupBeforeItRuns() {
    let notes = Notes()
    let before = BlockResultOperation<Void> { throw Broken() }
    let group = before.passesResult(to: noting("a", notes).group())
    group.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(throws: Broken()) { try group.output.get() }
    #expect(notes.all.isEmpty)
  }

  /// Waits for the end of an operation, with a timeout.
  private func wait(for operation: Operation) {
    for _ in 0..<360_000 where !operation.isFinished { Thread.sleep(forTimeInterval: 0.01) }
  }

  @Test func theOperationsOfAGroupThatFailsBeforeItRunsFinish() {
    let (notes, ends) = (Notes(), Notes())
    let (first, last) = (noting("a", notes), noting("b", notes))
    for operation in [first, last] { operation.addResultBlock { _ in ends.add("end") } }
    let before = BlockResultOperation<Void> { throw Broken() }
    let group = before.passesResult(to: first.then(do: last).group(collateProgress: true))
    group.enqueue(on: queue)
    for operation in [group, first, last] { wait(for: operation) }
    #expect(first.isFinished && last.isFinished && notes.all.isEmpty && ends.all.count == 2)
    #expect(throws: Broken()) { try group.output.get() }
    #expect(group.progress.fraction == 1)
  }

  @Test func theOperationsOfAGroupThatIsCancelledBeforeItRunsFinish() {
    let notes = Notes()
    let (first, last) = (noting("a", notes), noting("b", notes))
    let group = first.then(do: last).group()
    group.cancel()
    group.enqueue(on: queue)
    for operation in [group, first, last] { wait(for: operation) }
    #expect(first.isFinished && last.isFinished && notes.all.isEmpty)
  }

  /// The operation also belongs to another chain.
  @Test func aFailedGroupLeavesAloneWhatIsInAnotherQueue() {
    let notes = Notes()
    let held = Held()
    held.enqueue(on: OperationQueue())
    held.started.wait()
    let before = BlockResultOperation<Void> { throw Broken() }
    let group = before.passesResult(to: held.then(do: noting("b", notes)).group())
    group.enqueue(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(!held.isCancelled && !held.isFinished && notes.all.isEmpty)
    held.finish()
  }

  @Test func cancellingAGroupCancelsWhatHasNotFinished() {
    let notes = Notes()
    let (first, held, last) = (noting("a", notes), Held(), noting("c", notes))
    let group = first.then(do: held).then(do: last).group()
    group.enqueue(on: queue)
    held.started.wait()
    group.cancel()
    #expect(!first.isCancelled && held.isCancelled && last.isCancelled)
    held.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(group.isFinished && last.isFinished && notes.all == ["a"])
    #expect(!group.hasResult || (try? group.output.get()) == nil)
  }

  /// The chain of a group is determined when the group runs.
  @Test func aGroupWaitsForWhatWasAddedLater() {
    let notes = Notes()
    let (last, held) = (noting("last", notes), Held())
    let group = last.group()
    held.then(do: last)
    group.enqueue(on: queue)
    held.started.wait()
    #expect(!group.isFinished)
    held.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(notes.all == ["last"])
  }

  @Test func groupsAreNested() throws {
    let notes = Notes()
    let inner = noting("a", notes).then(do: noting("b", notes)).group(collateProgress: true)
    let outer = inner.then(do: noting("c", notes)).group(collateProgress: true)
    let progress = outer.enqueueWithProgress(on: queue)
    queue.waitUntilAllOperationsAreFinished()
    #expect(notes.all == ["a", "b", "c"])
    try outer.output.get()
    #expect(progress.fraction == 1)
  }
}
