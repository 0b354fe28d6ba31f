import PageStore

/// The tree `history`, which a store has if and only if it keeps a history. Docs/Records.md, "The tree `history`".
enum HistoryTree {
  static let name = ReservedTree.history.rawValue
  static let settingsKey = Array("settings".utf8)

  private static let consumerPrefix = Array("consumer/".utf8)
  private static let transactionPrefix = Array("transaction/".utf8)

  /// The keys of consumers.
  static let consumers = KeyRange.prefix(consumerPrefix)
  /// The keys of transactions, which come after all others.
  static let transactions = KeyRange.prefix(transactionPrefix)

  static func consumerKey(_ name: String) -> [UInt8] { consumerPrefix + name.utf8 }

  static func transactionKey(_ commit: UInt64) -> [UInt8] {
    transactionPrefix + withUnsafeBytes(of: commit.bigEndian) { [UInt8]($0) }
  }

  /// Returns the keys of the transactions after a commit.
  static func transactions(after commit: UInt64) -> KeyRange {
    KeyRange(lower: .excluding(transactionKey(commit)), upper: transactions.upper)
  }

  /// Returns the keys of the transactions up to a commit.
  static func transactions(through commit: UInt64) -> KeyRange {
    KeyRange(lower: transactions.lower, upper: .including(transactionKey(commit)))
  }

  /// Returns the name of a consumer in its key; nil for another key.
  static func consumer(_ key: UnsafeRawBufferPointer) -> String? {
    guard key.starts(with: consumerPrefix) else { return nil }
    return String(validating: key.dropFirst(consumerPrefix.count), as: UTF8.self)
  }

  /// Returns the commit of a transaction in its key; nil for another key.
  static func commit(_ key: UnsafeRawBufferPointer) -> UInt64? {
    guard key.starts(with: transactionPrefix), key.count == transactionPrefix.count + 8 else { return nil }
    return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: transactionPrefix.count, as: UInt64.self))
  }

  static let damaged = ContextError(.corrupt, "an entry of the history is damaged")
}

/// The row `settings` of the tree `history`.
struct HistorySettings: Hashable {
  /// The commit after which a history without transactions begins.
  var start: UInt64
  var policy: HistoryPolicy

  init(start: UInt64, policy: HistoryPolicy) {
    self.start = start
    self.policy = policy
  }

  private static let version: UInt8 = 1

  /// Nil for bytes that are no settings.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.version, let start = reader.number(), let limits = HistoryLimits(&reader),
      let consumerLimits = HistoryLimits(&reader), reader.isAtEnd
    else { return nil }
    self.init(start: start, policy: HistoryPolicy(limits: limits, consumerLimits: consumerLimits))
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.append(byte: Self.version)
    writer.append(start)
    policy.limits.append(to: &writer)
    policy.consumerLimits.append(to: &writer)
    return writer.bytes
  }
}

extension HistoryLimits {
  /// Reads the limits. Each is stored as its number plus one; 0 stands for no limit.
  fileprivate init?(_ reader: inout ByteReader) {
    guard let age = reader.number(), let byteCount = reader.number(), let count = reader.number() else {
      return nil
    }
    func limit(_ number: UInt64) -> Int? { number == 0 ? nil : Int(clamping: number - 1) }
    self.init(
      age: limit(age).map { .milliseconds($0) },
      byteCount: limit(byteCount),
      transactionCount: limit(count)
    )
  }

  fileprivate func append(to writer: inout ByteWriter) {
    for limit in [age?.wholeMilliseconds, byteCount, transactionCount] {
      writer.append(limit.map { UInt64(clamping: $0) + 1 } ?? 0)
    }
  }
}

extension Duration {
  /// The milliseconds of a duration that isn't negative; the greatest number for one that is too long, 0 for a negative
  /// one.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    if seconds < 0 { return 0 }
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, overflows) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return isTooLong || overflows ? .max : Int(sum)
  }
}
