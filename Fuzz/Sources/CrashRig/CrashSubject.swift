@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// The subject of crashes: a store, or a graph in one, with the history of its commits.
protocol CrashSubject: AnyObject {
  associatedtype State: Sendable
  static var layer: Layer { get }

  init(disk: SimulatedDisk, history: CommitHistory<State>, options: StoreOptions, seed: UInt64)

  var disk: SimulatedDisk { get }
  var ledger: ModelLedger<State> { get }

  func open() throws
  /// Compares the whole contents with the newest state of the history, and verifies the store. Throws an error if
  /// anything is wrong.
  func check(seed: UInt64) throws
  /// Makes one small commit that is durable when this returns.
  func commitOnce() throws
  func close() throws
  func loseThePower(_ damage: Damage, seed: UInt64)
}

extension StoreUnderTest: CrashSubject {
  static var layer: Layer { .store }

  func commitOnce() throws {
    guard case .committed = try commit(.small, durability: .full) else {
      throw OracleMismatch("the commit after recovery fails")
    }
  }
}
