import Foundation

/// The limits of a store's history. See ``PersistentContainer/keepHistory(_:durability:)``.
///
/// Only the oldest transactions are removed: a transaction that is beyond its limits stays as long as an older one
/// isn't beyond its own.
public struct HistoryPolicy: Sendable, Hashable {
  /// The limits for transactions that every registered consumer has read.
  public var limits: HistoryLimits
  /// The limits for transactions that a registered consumer has yet to read.
  public var consumerLimits: HistoryLimits

  /// Makes a policy.
  ///
  /// - Parameters:
  ///   - limits: when a transaction is removed; without an argument after 30 days, or when the history has more than 64
  ///     MiB.
  ///   - consumerLimits: when a transaction is removed that a consumer has yet to read; without an argument after 90
  ///     days, or when the history has more than 256 MiB.
  public init(
    limits: HistoryLimits = HistoryLimits(age: .seconds(30 * 86_400), byteCount: 64 << 20),
    consumerLimits: HistoryLimits = HistoryLimits(age: .seconds(90 * 86_400), byteCount: 256 << 20)
  ) {
    self.limits = limits
    self.consumerLimits = consumerLimits
  }
}

/// Limits of a history. Every commit that changes objects removes the oldest transactions that are beyond one of them.
/// The newest transaction always stays.
public struct HistoryLimits: Sendable, Hashable {
  /// The age at which a transaction is removed; nil for no limit. Kept in whole milliseconds.
  public var age: Duration?
  /// The greatest number of bytes of the transactions that are kept; nil for no limit. The trees of a store need some
  /// more for them.
  public var byteCount: Int?
  /// The greatest number of transactions that are kept; nil for no limit.
  public var transactionCount: Int?

  /// Makes limits; nil stands for no limit. A limit below zero counts as zero.
  public init(age: Duration? = nil, byteCount: Int? = nil, transactionCount: Int? = nil) {
    self.age = age
    self.byteCount = byteCount
    self.transactionCount = transactionCount
  }

  /// No limit at all: the history grows until the program prunes it.
  public static let none = HistoryLimits()
}
