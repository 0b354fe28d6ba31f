/// A store of the key-value workloads. Each call does a whole workload, so that nothing but the peer's own code and the
/// checksum is inside the loop.
protocol KeyValuePeer: AnyObject, SendableMetatype {
  static var name: String { get }
  /// Makes an empty store in an empty folder, tuned as its documentation advises for data that fits into memory.
  init(folder: String) throws

  /// Puts the records in the given order in one durable transaction.
  func load(_ entries: Entries, order: [Int], isSorted: Bool) throws
  /// Gets each record's value, in one read transaction.
  func get(_ entries: Entries, order: [Int]) throws -> Checksum
  /// Reads every key and value in order.
  func scan() throws -> Checksum
  /// Puts one value after the other, each in a durable transaction of its own.
  func putEach(_ entries: Entries, order: ArraySlice<Int>) throws
  /// How many keys lie in `lower..<upper`.
  func count(from lower: [UInt8], to upper: [UInt8]) throws -> Int
}

/// A peer said no.
struct PeerError: Error, CustomStringConvertible {
  var peer: String
  var message: String
  var description: String { "\(peer): \(message)" }
}
