import Cambium
import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport
import Testing

@testable import GraphContext

/// Saves whose disk fails. A program that gets an error saves again. Any error except `outcomeUnknown` therefore
/// means that the save has not happened, and no part of it may ever be found later.
@MainActor struct SaveOutcomeTests {
  enum Way: CaseIterable, Sendable {
    case full, relaxed, fullWithoutBlocking, relaxedWithoutBlocking
    /// A relaxed save that a later full one makes durable.
    case relaxedThenFull

    var durability: Durability {
      switch self {
      case .full, .fullWithoutBlocking: .full
      case .relaxed, .relaxedWithoutBlocking, .relaxedThenFull: .relaxed
      }
    }

    var isWithoutBlocking: Bool { self == .fullWithoutBlocking || self == .relaxedWithoutBlocking }
  }

  /// The other events in a store, besides the kind of its save.
  private struct Scene: Hashable {
    var isRelaxedBefore: Bool
    var isSyncedBetween: Bool
  }

  @Test(arguments: Way.allCases, FailedSyncBehavior.allCases)
  func anErrorSaysWhetherTheSaveMayBeFound(_ way: Way, _ behavior: FailedSyncBehavior) async throws {
    var firedCount = 0
    var judged: Set<Scene> = []
    for call in [DiskCall.write, .writeDurably, .synchronize, .allocate] {
      for error in [EIO, ENOSPC] {
        for position in 0..<3 {
          for (isRelaxedBefore, isSyncedBetween) in [(false, false), (true, false), (false, true)] {
            let fault = DiskFault(call, at: position, .error(error), isSticky: position == 2)
            firedCount += try await run(
              way,
              fault,
              behavior,
              isRelaxedBefore: isRelaxedBefore,
              isSyncedBetween: isSyncedBetween,
              &judged
            )
          }
        }
      }
    }
    #expect(firedCount > 0)
  }

  /// Returns how often the fault fired.
  ///
  /// - Parameters:
  ///   - isSyncedBetween: whether the store syncs right after the save was made and, where that comes later,
  ///     before it is durable, as it does in the background.
  ///   - judgedWithoutFault: the scenes whose disk was judged although the fault didn't fire. Once is enough.
  private func run(
    _ way: Way,
    _ fault: DiskFault,
    _ behavior: FailedSyncBehavior,
    isRelaxedBefore: Bool,
    isSyncedBetween: Bool,
    _ judgedWithoutFault: inout Set<Scene>
  ) async throws -> Int {
    let disk = SimulatedDisk()
    let context = try context(on: disk)
    context.insert(Writer("before"))
    try context.save(durability: isRelaxedBefore ? .relaxed : .full)
    disk.setFailedSyncBehavior(behavior)
    disk.inject(fault)
    let coordinator = context.coordinator
    let store = context.store
    let listener = coordinator.addListener { if isSyncedBetween { try? store.makeDurable() } }
    defer { coordinator.removeListener(listener) }
    context.insert(Writer("tried"))
    let error = await failure(of: way, context)
    let firedCount = disk.firedFaultCount
    // All faults that never fired leave the same disk.
    if firedCount == 0 {
      let scene = Scene(isRelaxedBefore: isRelaxedBefore, isSyncedBetween: isSyncedBetween)
      guard judgedWithoutFault.insert(scene).inserted else {
        #expect(error == nil)
        return 0
      }
    }
    disk.clearFaults()
    let isUnknown = error?.storeError?.code == .outcomeUnknown
    let description = Comment("\(way), \(fault), \(behavior): \(error.map { "\($0)" } ?? "no error")")
    for later in Self.laterDisks(disk) {
      let count = try count("tried", on: later)
      if error == nil, way.durability == .full { #expect(count == 1, description) }
      if error != nil, !isUnknown { #expect(count == 0, description) }
      #expect(count <= 1, description)
    }
    // The save has not happened. The program tries again, and the object exists once.
    if error != nil, !isUnknown, (try? context.save(durability: .full)) != nil {
      for later in Self.laterDisks(disk) { #expect(try count("tried", on: later) == 1, description) }
    }
    return firedCount
  }

  private func failure(of way: Way, _ context: ManagedObjectContext) async -> ContextError? {
    do throws(ContextError) {
      if way.isWithoutBlocking {
        try await context.saveWithoutBlocking(durability: way.durability)
      } else {
        try context.save(durability: way.durability)
      }
      if way == .relaxedThenFull {
        context.insert(Writer("later"))
        do throws(ContextError) { try context.save(durability: .full) } catch {
          // The later save failed. The earlier one was acknowledged as relaxed.
          return nil
        }
      }
      return nil
    } catch {
      return error
    }
  }

  /// Returns the disks that another process may find after this process died, and after power failures.
  private static func laterDisks(_ disk: SimulatedDisk) -> [SimulatedDisk] {
    let crash = disk.crashPoint
    return [disk.afterProcessDeath()]
      + [
        SimulatedDisk(crash.image(.allLost, seed: 1)), SimulatedDisk(crash.image(.mixed, seed: 2)),
        SimulatedDisk(crash.image(.mixed, seed: 3)),
      ]
  }

  private func context(on disk: SimulatedDisk) throws -> ManagedObjectContext {
    var options = StoreOptions()
    options.pageSize = 4_096
    options.initialLogByteCount = 16 << 10
    let store = try Store.open(
      file: disk,
      path: "library",
      options: options,
      environment: .simulated(seed: 7)
    )
    return try ManagedObjectContext(
      coordinator: OpenedStore.open(
        store,
        models: ContainerModels(classes: Library.models),
        as: ContainerOpening()
      ).coordinator
    )
  }

  private func count(_ name: String, on disk: SimulatedDisk) throws -> Int {
    let context = try context(on: disk)
    #expect(try context.count(From<Writer>().where { $0.name == "before" }) <= 1)
    return try context.count(From<Writer>().where { $0.name == name })
  }
}
