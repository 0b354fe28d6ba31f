import Foundation
import PageStore
import Predicates

/// Conversions of ranges of values to ranges of keys.
enum IndexKeys {
  /// Returns the keys of the index's entries in the range.
  static func keys(_ range: IndexRange, in index: ResolvedIndex) -> KeyRange {
    let columns = Columns(index.origin)
    var prefix: [UInt8] = []
    if !range.prefix.isEmpty { prefix.reserveCapacity(Self.usualByteCount) }
    for value in range.prefix { columns.append(value, to: &prefix) }
    guard let next = range.next else { return .prefix(prefix) }
    return KeyRange(
      lower: columns.lower(next.lower, after: prefix),
      upper: columns.upper(next.upper, after: prefix)
    )
  }

  /// The space for a number, or a short string, so that most keys are made in one piece of memory.
  private static let usualByteCount = 32

  /// The encoding of the columns of an index: order-preserving, self-terminating components. So all keys with a
  /// value begin with the value's bytes, and no other keys do. A relationship's own index has only the number.
  private struct Columns {
    let isRelationship: Bool

    init(_ origin: ResolvedIndex.Origin) { isRelationship = origin == .relationship }

    func append(_ value: AttributeValue, to key: inout [UInt8]) {
      if isRelationship, case .reference(let number) = value {
        KeyCoder.append(number: number, to: &key)
      } else {
        KeyCoder.append(value, to: &key)
      }
    }

    /// Returns the first key after the cut.
    func lower(_ cut: ValueCut, after prefix: [UInt8]) -> KeyRange.Bound {
      switch start(of: cut, after: prefix) {
      case .at(let key): key.isEmpty ? .unbounded : .including(key)
      // No key comes after: no key is longer than the one that is excluded here.
      case .end: .excluding([UInt8](repeating: 0xFF, count: StoreLimits.keyByteCount))
      }
    }

    /// Returns the bound as an upper one.
    func upper(_ cut: ValueCut, after prefix: [UInt8]) -> KeyRange.Bound {
      switch start(of: cut, after: prefix) {
      case .at(let key): .excluding(key)
      case .end: .unbounded
      }
    }

    private enum Place {
      case at([UInt8])
      /// After every key.
      case end
    }

    private func start(of cut: ValueCut, after prefix: [UInt8]) -> Place {
      var key = prefix
      key.reserveCapacity(prefix.count + IndexKeys.usualByteCount)
      switch cut {
      case .lowest: return .at(key)
      case .afterNull:
        if !isRelationship { key.append(KeyCoder.presentMarker) }
        return .at(key)
      case .before(let value):
        append(value, to: &key)
        return .at(key)
      case .after(let value):
        append(value, to: &key)
        return end(ofPrefix: key)
      case .highest: return end(ofPrefix: key)
      }
    }

    private func end(ofPrefix prefix: [UInt8]) -> Place {
      if case .excluding(let key) = KeyRange.successor(ofPrefix: prefix) { .at(key) } else { .end }
    }
  }
}

extension TreeCursor {
  /// Returns the object number at the end of the current entry's key.
  ///
  /// - Throws: `corrupt` when the key is too short to have one.
  @inline(__always)
  mutating func number() throws -> ObjectNumber {
    guard let number = KeyCoder.number(ending: try key()) else {
      throw ContextError(.corrupt, "an index has a key too short for an object's number")
    }
    return number
  }
}

extension TreeReader {
  /// Returns the numbers of the objects of the first entries whose keys begin with these components, at most
  /// `limit`. O(log n + count).
  ///
  /// - Throws: as ``TreeCursor/number()``.
  func numbers(beginning components: [UInt8], limit: Int) throws -> [ObjectNumber] {
    var cursor = cursor()
    var numbers: [ObjectNumber] = []
    var isAtEntry = try cursor.seek(to: components)
    while isAtEntry, numbers.count < limit, try cursor.key().begins(with: components) {
      numbers.append(try cursor.number())
      isAtEntry = try cursor.next()
    }
    return numbers
  }
}

extension UnsafeRawBufferPointer {
  /// Returns whether the bytes begin with `bytes`. `starts(with:)` compares byte by byte, which takes longer.
  fileprivate func begins(with bytes: [UInt8]) -> Bool {
    guard count >= bytes.count, let start = baseAddress else { return bytes.isEmpty }
    return bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map { memcmp(start, $0, bytes.count) == 0 } ?? true
    }
  }
}
