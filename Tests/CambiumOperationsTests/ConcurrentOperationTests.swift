import Foundation
import Synchronization
import Testing

@testable import CambiumOperations

/// Strings that any thread may add.
final class Notes: Sendable {
  private let list = Mutex<[String]>([])

  func add(_ note: String) { list.withLock { $0.append(note) } }
  var all: [String] { list.withLock { $0 } }
}

/// An operation that runs until its test ends it.
final class Held: ConcurrentOperation, @unchecked Sendable {
  // Safety: the semaphore and the notes are safe to share.
  let started = DispatchSemaphore(value: 0)

  override func execute() { started.signal() }
}

/// Steps, dates, notifications, descriptions.
struct ConcurrentOperationTests {
  @Test func anOperationThatHasFinishedDoesNotStart() {
    let notes = Notes()
    let operation = BlockResultOperation { notes.add("work") }
    operation.finish()
    operation.start()
    #expect(notes.all.isEmpty && operation.isFinished && operation.state == .finished)
    let second = BlockResultOperation { notes.add("work") }
    second.addWillStartBlock { [unowned second] in second.finish() }
    second.start()
    #expect(notes.all.isEmpty && second.isFinished && !second.isExecuting && second.state == .finished)
  }

  @Test func hooksAreCalledInTheirOrder() {
    let (operation, notes) = (BlockResultOperation { 1 }, Notes())
    for number in 1...2 {
      operation.addWillStartBlock { notes.add("will start \(number)") }
      operation.addDidStartBlock { notes.add("did start \(number)") }
      operation.addWillFinishBlock { notes.add("will finish \(number)") }
      operation.addDidFinishBlock { notes.add("did finish \(number)") }
    }
    operation.start()
    let expected = ["will start", "did start", "will finish", "did finish"].flatMap {
      ["\($0) 1", "\($0) 2"]
    }
    #expect(notes.all == expected)
    operation.addDidFinishBlock { notes.add("late") }
    #expect(notes.all.last == "late")
  }

  @Test func datesAreSetAtTheirMoments() {
    let (operation, notes) = (BlockResultOperation { 1 }, Notes())
    let note = { @Sendable [unowned operation] in
      notes.add("\(operation.startDate != nil) \(operation.finishDate != nil) \(operation.state)")
    }
    #expect(operation.executionTime == 0)
    operation.addWillStartBlock(note)
    operation.addDidStartBlock(note)
    operation.addWillFinishBlock(note)
    operation.addDidFinishBlock(note)
    operation.start()
    let expected = [
      "false false ready", "true false executing", "true false executing", "true true finished",
    ]
    #expect(notes.all == expected)
    #expect(operation.executionTime == operation.finishDate!.timeIntervalSince(operation.startDate!))
  }

  @Test func theTimeRunsWhileItWorks() {
    let operation = Held()
    operation.start()
    let first = operation.executionTime
    Thread.sleep(forTimeInterval: 0.01)
    #expect(operation.executionTime > first)
    operation.finish()
    #expect(operation.executionTime == operation.executionTime)
  }

  @Test func notificationsNameOperationAndQueue() {
    let (operation, notes) = (BlockResultOperation { 1 }, Notes())
    operation.name = "count"
    let names: [Notification.Name] = [
      .operationWillStart, .operationDidStart, .operationWillFinish, .operationDidFinish,
    ]
    let tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: operation, queue: nil) { notification in
        let info = notification.userInfo as? [String: String] ?? [:]
        notes.add("\(name.rawValue) \(info["name"] ?? "") \(info["queue"] ?? "")")
      }
    }
    defer { tokens.forEach { NotificationCenter.default.removeObserver($0) } }
    let queue = OperationQueue()
    queue.name = "counters"
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(notes.all == names.map { "\($0.rawValue) count counters" })
  }

  @Test func aCancelledOperationFinishesWithoutWork() {
    let (operation, notes) = (Held(), Notes())
    operation.addWillStartBlock { notes.add("will start") }
    operation.addWillFinishBlock { notes.add("will finish") }
    operation.addDidFinishBlock { notes.add("did finish") }
    operation.cancel()
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(notes.all == ["will finish", "did finish"])
    #expect(operation.isFinished && operation.startDate == nil && operation.executionTime == 0)
  }

  @Test func cancellingReachesTheInternalQueue() {
    let operation = Held()
    let inner = BlockOperation {}
    operation.internalQueue.isSuspended = true
    operation.internalQueue.addOperation(inner)
    operation.cancel()
    #expect(inner.isCancelled)
    operation.internalQueue.isSuspended = false
  }

  @Test func progressIsCompleteAtTheEnd() {
    let operation = Held()
    #expect(operation.progress.totalUnitCount == 100)
    operation.start()
    operation.progress.completedUnitCount = 40
    #expect(operation.progress.fraction == 0.4)
    operation.finish()
    #expect(operation.progress.fraction == 1)
  }

  @Test func anOperationMayManageItsProgress() {
    final class Manager: ConcurrentOperation, @unchecked Sendable {
      // Safety: it has no properties of its own.
      override var managesProgress: Bool { true }
      override func execute() { finish() }
    }
    let operation = Manager()
    operation.start()
    #expect(operation.progress.completedUnitCount == 0)
  }

  @Test func descriptionsHaveTypeNameAndState() {
    let operation = BlockResultOperation { "done" }
    operation.name = "Doing some work..."
    #expect(operation.description == "BlockResultOperation<String>(name: 'Doing some work...', state: 0)")
    operation.start()
    #expect(operation.description == "BlockResultOperation<String>(name: 'Doing some work...', state: 2)")
    #expect(Held().description == "Held(name: 'nil', state: 0)")
  }

  @Test func anOperationFinishesOnce() {
    let (operation, notes) = (Held(), Notes())
    operation.addDidFinishBlock { notes.add("finished") }
    operation.start()
    DispatchQueue.concurrentPerform(iterations: 50) { _ in operation.finish() }
    #expect(notes.all == ["finished"])
  }

  @Test func whoWaitsFindsAllHooksDone() {
    for _ in 0..<50 {
      let (operation, notes) = (BlockResultOperation { 1 }, Notes())
      operation.addDidFinishBlock {
        Thread.sleep(forTimeInterval: 0.001)
        notes.add("did finish")
      }
      OperationQueue().addOperation(operation)
      operation.waitUntilFinished()
      #expect(notes.all == ["did finish"])
    }
  }
}
