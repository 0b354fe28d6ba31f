import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

struct KeyCoderTests {
  private func key(_ values: [AttributeValue]) -> [UInt8] {
    var key: [UInt8] = []
    for value in values { KeyCoder.append(value, to: &key) }
    return key
  }

  /// Returns the expected order of two keys, below, equal or above, by the meaning of the values.
  private func order(_ left: AttributeValue, _ right: AttributeValue) -> Int {
    func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    func sign(_ a: Double, _ b: Double) -> Int {
      if a.isNaN || b.isNaN { return (a.isNaN ? 1 : 0) - (b.isNaN ? 1 : 0) }
      return a < b ? -1 : a == b ? 0 : 1
    }
    func sign(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
      a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
    }
    switch (left, right) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.bool(let a), .bool(let b)): return sign(a ? 1 : 0, b ? 1 : 0)
    case (.int(let a), .int(let b)): return sign(a, b)
    case (.int, .uint): return -1
    case (.uint, .int): return 1
    case (.uint(let a), .uint(let b)): return sign(a, b)
    case (.reference(let a), .reference(let b)): return sign(a, b)
    case (.double(let a), .double(let b)): return sign(a, b)
    case (.decimal(let a), .decimal(let b)):
      if a.isNaN || b.isNaN { return (a.isNaN ? 1 : 0) - (b.isNaN ? 1 : 0) }
      return a < b ? -1 : a == b ? 0 : 1
    case (.date(let a), .date(let b)):
      return sign(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
    case (.uuid(let a), .uuid(let b)):
      return sign(withUnsafeBytes(of: a.uuid) { [UInt8]($0) }, withUnsafeBytes(of: b.uuid) { [UInt8]($0) })
    case (.string(let a), .string(let b)): return sign([UInt8](a.utf8), [UInt8](b.utf8))
    case (.data(let a), .data(let b)): return sign(a, b)
    default: return 0
    }
  }

  private func sign(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.lexicographicallyPrecedes(b) ? -1 : a == b ? 0 : 1
  }

  @Test(arguments: AttributeKind.allCases.filter(\.isComparable))
  func keysCompareAsTheirValuesDo(_ kind: AttributeKind) {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<4_000 {
      let (left, right) = (random.value(kind), random.value(kind))
      #expect(sign(key([left]), key([right])) == order(left, right), "\(left) against \(right)")
    }
  }

  @Test func compoundKeysCompareComponentByComponent() {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<10_000 {
      let kinds = (0..<3).map { _ in random.generator.pick(AttributeKind.allCases.filter(\.isComparable)) }
      let left = kinds.map { random.value($0, nilOneIn: 3) }
      var right = kinds.map { random.value($0, nilOneIn: 3) }
      if random.generator.chance(1, in: 2) { right[0] = left[0] }
      if random.generator.chance(1, in: 3) { right[1] = left[1] }
      let expected = zip(left, right).map(order).first { $0 != 0 } ?? 0
      #expect(sign(key(left), key(right)) == expected, "\(left) against \(right)")
    }
  }

  @Test func aKeyIsReadBackComponentByComponent() {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<5_000 {
      let kinds = (0..<4).map { _ in random.generator.pick(AttributeKind.allCases.filter(\.isComparable)) }
      let values = kinds.map { random.value($0) }
      let bytes = key(values)
      bytes.withUnsafeBytes { bytes in
        var reader = KeyReader(bytes)
        for (kind, value) in zip(kinds, values) { #expect(reader.next(kind) == value) }
        #expect(reader.remaining == 0)
      }
    }
  }

  @Test func hostileKeysAreReadWithoutATrap() {
    var generator = SeededGenerator()
    for _ in 0..<20_000 {
      let bytes = generator.bytes(generator.number(in: 0...12)).map {
        generator.chance(1, in: 2) ? $0 & 0x2F : $0
      }
      bytes.withUnsafeBytes { bytes in
        var reader = KeyReader(bytes)
        while reader.remaining > 0, reader.next(generator.pick(AttributeKind.allCases)) != nil {}
      }
    }
  }

  @Test func aPrefixBoundsTheStringsThatBeginWithIt() {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<5_000 {
      guard case .string(let text) = random.value(.string), case .string(let start) = random.value(.string)
      else {
        continue
      }
      var prefix: [UInt8] = []
      KeyCoder.append(prefix: start.utf8, to: &prefix)
      #expect(key([.string(text)]).starts(with: prefix) == text.utf8.starts(with: start.utf8))
    }
  }

  @Test func smallIntegersTakeTwoBytes() {
    #expect(key([.int(0)]) == [0x20])
    #expect(key([.int(12)]) == [0x21, 12])
    #expect(key([.int(-1)]) == [0x1F, 0xFF])
    #expect(key([.int(-256)]) == [0x1F, 0x00])
    #expect(key([.int(-257)]) == [0x1E, 0xFE, 0xFF])
    #expect(key([.uint(.max)]) == [0x28] + Array(repeating: 0xFF, count: 8))
  }

  @Test func objectNumbersEndKeys() {
    var bytes = key([.string("x")])
    KeyCoder.append(number: 0x0102_0304_0506_0708, to: &bytes)
    #expect(bytes.suffix(8) == [1, 2, 3, 4, 5, 6, 7, 8])
    bytes.withUnsafeBytes { #expect(KeyCoder.number(ending: $0) == 0x0102_0304_0506_0708) }
  }
}
