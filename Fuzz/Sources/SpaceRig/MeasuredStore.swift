import Glibc
import PageStore
@_spi(Testing) import TestSupport

/// A store on the disk whose entries each have a number and a version, with the expected newest state.
final class MeasuredStore {
  static let valueByteCount = 100

  let store: Store
  private let folder: TemporaryFolder
  private let path: String
  /// The versions by number; nil for entries that were removed.
  private var versions: [UInt32?] = []
  /// The digest of the newest state.
  private(set) var digest = Digest()
  /// The most bytes that the file has had after any commit. Between two commits a checkpoint does only a small part of
  /// its work.
  private(set) var mostFileBytes = 0

  init(_ arguments: Arguments, _ options: StoreOptions) throws {
    folder = try TemporaryFolder(in: arguments.folder)
    path = folder.file("store")
    store = try Store.open(at: path, options: options)
  }

  /// Bytes that the file system has given the file.
  var fileBytes: Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  // MARK: Changes

  func load(_ count: Int) throws {
    versions = Array(repeating: nil, count: count)
    for start in stride(from: 0, to: count, by: 5_000) {
      try put(start..<min(count, start + 5_000), version: 0)
    }
    try store.checkpoint()
    mostFileBytes = 0
  }

  /// Puts all entries in one commit. Calls `afterEach` within the transaction.
  func load(inOneCommit count: Int, afterEach: () throws -> Void) throws {
    versions = Array(repeating: nil, count: count)
    try put(0..<count, version: 0, afterEach: afterEach)
  }

  /// One commit that gives entries another version.
  func put(_ numbers: some Sequence<Int>, version: UInt32, afterEach: () throws -> Void = {}) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in numbers {
        try tree.put(Self.key(number), Self.value(number, version))
        try afterEach()
      }
    }
    for number in numbers { note(number, version) }
    look()
  }

  /// One commit without the entries.
  func remove(_ numbers: some Sequence<Int>) throws {
    try store.write { transaction in
      let tree = try transaction.tree("t")
      for number in numbers { try tree.remove(Self.key(number)) }
    }
    for number in numbers { note(number, nil) }
    look()
  }

  private func note(_ number: Int, _ version: UInt32?) {
    if let old = versions[number] { digest.remove(number, old) }
    if let version { digest.add(number, version) }
    versions[number] = version
  }

  private func look() { mostFileBytes = max(mostFileBytes, fileBytes) }

  // MARK: Entries

  /// Random, so that neighbours in number aren't neighbours in the tree; the number in it makes it unique.
  static func key(_ number: Int) -> [UInt8] { words(mixed(7, UInt64(number)), UInt64(number)) }

  private static func value(_ number: Int, _ version: UInt32) -> [UInt8] {
    var value = words(UInt64(number), UInt64(version))
    value += repeatElement(UInt8(truncatingIfNeeded: version), count: valueByteCount - value.count)
    return value
  }

  private static func words(_ first: UInt64, _ second: UInt64) -> [UInt8] {
    var bytes = withUnsafeBytes(of: first.bigEndian) { [UInt8]($0) }
    withUnsafeBytes(of: second.bigEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Reads the contents of a snapshot. Throws at an entry that was never written.
  static func digest(of snapshot: Snapshot) throws -> Digest {
    var digest = Digest()
    try snapshot.tree("t").forEach { key, value in
      let value = value.withUnsafeBytes { [UInt8]($0) }
      let (number, version) = numbers(of: value)
      guard key.withUnsafeBytes({ [UInt8]($0) }) == Self.key(number), value == Self.value(number, version)
      else {
        throw WrongContent(message: "a snapshot shows an entry that was never written")
      }
      digest.add(number, version)
      return true
    }
    return digest
  }

  private static func numbers(of value: [UInt8]) -> (number: Int, version: UInt32) {
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return (
      Int(truncatingIfNeeded: word(value.prefix(8))), UInt32(truncatingIfNeeded: word(value[8...].prefix(8)))
    )
  }

  /// Throws unless the snapshot shows exactly the expected state, and if the store's pages contradict each other.
  func check(_ snapshot: Snapshot, shows expected: Digest) throws {
    guard try Self.digest(of: snapshot) == expected else {
      throw WrongContent(message: "a snapshot doesn't show what it showed when it was taken")
    }
  }

  /// Does the same for the newest state, and for the whole file.
  func checkNewest() throws {
    try check(store.snapshot(), shows: digest)
    let problems = try store.verify()
    guard problems.isEmpty else { throw WrongContent(message: "verify() found \(problems)") }
  }
}

/// A sum over all entries and versions, independent of their order.
struct Digest: Equatable {
  private(set) var count = 0
  private var sum: UInt64 = 0

  mutating func add(_ number: Int, _ version: UInt32) {
    count += 1
    sum &+= mixed(UInt64(number), UInt64(version))
  }

  mutating func remove(_ number: Int, _ version: UInt32) {
    count -= 1
    sum &-= mixed(UInt64(number), UInt64(version))
  }
}

struct WrongContent: Error {
  var message: String
}
