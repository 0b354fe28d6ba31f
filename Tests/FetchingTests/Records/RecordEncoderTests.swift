import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

struct RecordEncoderTests {
  /// Equal to the bit: −0.0 is not 0.0 here.
  private func isSame(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
    if case .double(let a) = left, case .double(let b) = right, !a.isNaN {
      return a.bitPattern == b.bitPattern
    }
    return left == right
  }

  @Test func whatIsEncodedIsReadBack() {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<200 {
      let kinds = (0..<random.generator.number(in: 0...20)).map { _ in
        random.generator.pick(AttributeKind.allCases)
      }
      var encoder = RecordEncoder(layout: RecordLayout(kinds: kinds), blockByteCount: 256)
      var records: [([AttributeValue], UnsafeRawBufferPointer)] = []
      for _ in 0..<30 {
        let values = kinds.map { random.value($0, nilOneIn: 4) }
        encoder.begin()
        for (slot, value) in values.enumerated() {
          let isSet = encoder.set(value, at: slot)
          #expect(isSet)
        }
        let bytes = encoder.finish()
        RecordEncoder.stamp(bytes, commit: UInt64(records.count))
        records.append((values, UnsafeRawBufferPointer(bytes)))
      }
      for (number, (values, bytes)) in records.enumerated() {
        guard let view = RecordView(bytes, layout: encoder.layout) else {
          Issue.record("not a record of its own layout")
          continue
        }
        #expect(view.commit == UInt64(number))
        for (slot, value) in values.enumerated() { #expect(isSame(view.value(slot), value)) }
      }
    }
  }

  /// A value of 4 GiB isn't made here: the limit is a parameter.
  @Test(arguments: [
    (4_294_967_295, false, 0, true), (4_294_967_295, true, 0, false), (4_294_967_294, true, 0, true),
    (4_294_967_296, false, 0, false), (1, false, 4_294_967_294, true), (1, true, 4_294_967_294, false),
    (0, false, 4_294_967_295, true), (Int.max - 1, true, 4_294_967_295, false),
  ])
  func aRecordHasALimit(_ byteCount: Int, _ isTagged: Bool, _ present: Int, _ fits: Bool) {
    let limit = 4_294_967_295
    #expect(RecordEncoder.fits(byteCount, isTagged: isTagged, behind: present, limit: limit) == fits)
  }

  /// The header, the bits of nils, a fixed value and the end of a text are parts of the record, too.
  @Test func theLongestRecordIsTheLongestValueOfAStore() {
    let layout = RecordLayout(kinds: [.string, .int8])
    let limit = RecordEncoder.greatestVariableByteCount(of: layout)
    #expect(limit == StoreLimits.valueByteCount - (16 + 1 + 1 + 4))
  }

  @Test func aValueThatIsTooLongIsRefused() throws {
    let layout = RecordLayout(kinds: [.string, .externalData, .int8])
    var encoder = RecordEncoder(layout: layout, variableByteLimit: 16)
    for (length, isSet) in [(7, true), (8, false)] {
      encoder.begin()
      let isTextSet = encoder.set(.string("12345678"), at: 0)
      let isDataSet = encoder.set(.data(Data(count: length)), at: 1)
      let isNumberSet = encoder.set(.int(5), at: 2)
      #expect(isTextSet && isNumberSet && isDataSet == isSet)
      let (refused, tooLong) = (encoder.refused, isSet ? SlotSet.empty : SlotSet(1))
      #expect(refused == RefusedSlots(tooLong: tooLong))
      // What is there is a record all the same.
      let bytes = UnsafeRawBufferPointer(encoder.finish())
      let view = try #require(RecordView(bytes, layout: layout))
      #expect(view.value(0) == .string("12345678") && view.value(2) == .int(5))
      #expect(view.isNull(1) == !isSet)
    }
    // The next record has place again.
    encoder.begin()
    let refused = encoder.refused
    #expect(refused == RefusedSlots())
  }

  /// Each of two records has place for its value, and one with both values hasn't.
  @Test func aPatchThatIsTooLongIsRefused() throws {
    let layout = RecordLayout(kinds: [.string, .string])
    var encoder = RecordEncoder(layout: layout, variableByteLimit: 16)
    var parts: [UnsafeRawBufferPointer] = []
    for slot in 0..<2 {
      encoder.begin()
      let isSet = encoder.set(.string("123456789"), at: slot)
      #expect(isSet)
      parts.append(UnsafeRawBufferPointer(encoder.finish()))
    }
    try encoder.checkComplete(of: "Letter")
    let first = RecordView(validated: parts[0], layout: layout)
    let second = RecordView(validated: parts[1], layout: layout)
    _ = encoder.encode(first, patchedBy: second, in: SlotSet(1))
    var failure: ContextError?
    do throws(ContextError) { try encoder.checkComplete(of: "Letter") } catch { failure = error }
    #expect(failure?.code == .wrongValue && failure?.message.contains("4,294,967,295 bytes") == true)
  }

  @Test func theOrderOfTheSlotsLeavesNoTraceInTheBytes() {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<200 {
      let kinds = (0..<random.generator.number(in: 0...20)).map { _ in
        random.generator.pick(AttributeKind.allCases)
      }
      let values = kinds.map { random.value($0, nilOneIn: 4) }
      var stored = RecordEncoder(layout: RecordLayout(kinds: kinds))
      stored.begin()
      for (slot, value) in values.enumerated() { _ = stored.set(value, at: slot) }
      let places = kinds.indices.shuffled(using: &random.generator)
      var other = RecordEncoder(layout: RecordLayout(kinds: places.map { kinds[$0] }, places: places))
      other.begin()
      for slot in other.layout.slotsByPlace { _ = other.set(values[places[slot]], at: slot) }
      let bytes = UnsafeRawBufferPointer(other.finish())
      #expect(bytes.elementsEqual(stored.finish()))
      let view = RecordView(validated: bytes, layout: other.layout)
      for (slot, place) in places.enumerated() { #expect(isSame(view.value(slot), values[place])) }
    }
  }

  @Test func theBytesAreAsTheLayoutSays() {
    let kinds: [AttributeKind] = [.string, .int16, .bool, .data, .uint32]
    var encoder = RecordEncoder(layout: RecordLayout(kinds: kinds))
    encoder.begin()
    let values: [(AttributeValue, Int)] = [
      (.string("Blue"), 0), (.int(-2), 1), (.data(Data([7, 8])), 3), (.int(0x0102_0304), 4),
    ]
    for (value, slot) in values {
      let isSet = encoder.set(value, at: slot)
      #expect(isSet)
    }
    let bytes = encoder.finish()
    RecordEncoder.stamp(bytes, commit: 0x1122)
    let expected: [UInt8] =
      [1, 0, 0, 0, 0, 0, 0, 0] + [0x22, 0x11, 0, 0, 0, 0, 0, 0]  // header and commit
      + [0b0000_0100]  // only the third value is nil
      + [0xFE, 0xFF] + [0] + [4, 3, 2, 1]  // fixed section
      + [4, 0, 0, 0, 6, 0, 0, 0]  // ends
      + Array("Blue".utf8) + [7, 8]
    #expect([UInt8](bytes) == expected)
  }

  @Test func keysFromARecordAreThoseOfItsValues() {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<2_000 {
      let kinds = AttributeKind.allCases.shuffled(using: &random.generator)
      var encoder = RecordEncoder(layout: RecordLayout(kinds: kinds))
      encoder.begin()
      let values = kinds.map { random.value($0) }
      for (slot, value) in values.enumerated() { _ = encoder.set(value, at: slot) }
      let view = RecordView(validated: UnsafeRawBufferPointer(encoder.finish()), layout: encoder.layout)
      for (slot, value) in values.enumerated() where !kinds[slot].isExternal {
        var (fromRecord, fromValue): ([UInt8], [UInt8]) = ([], [])
        KeyCoder.append(slot, of: view, to: &fromRecord)
        KeyCoder.append(value, to: &fromValue)
        #expect(fromRecord == fromValue)
      }
    }
  }

  @Test func copyingEverySlotCopiesTheRecord() {
    var random = RandomValues(generator: SeededGenerator())
    let kinds = AttributeKind.allCases + [.string, .data]
    var first = RecordEncoder(layout: RecordLayout(kinds: kinds))
    for _ in 0..<300 {
      var second = RecordEncoder(layout: first.layout)
      first.begin()
      for (slot, kind) in kinds.enumerated() { _ = first.set(random.value(kind), at: slot) }
      let original = first.finish()
      let view = RecordView(validated: UnsafeRawBufferPointer(original), layout: first.layout)
      second.begin()
      for slot in kinds.indices { second.copy(slot, from: view) }
      #expect(original.elementsEqual(second.finish()))
    }
  }

  @Test func aValueOfAnotherKindOrOutOfRangeIsRefused() {
    var encoder = RecordEncoder(layout: RecordLayout(kinds: [.int8, .uint64, .string]))
    encoder.begin()
    let values: [(AttributeValue, Int)] = [
      (.int(128), 0), (.string("1"), 0), (.int(-1), 1), (.data(Data()), 2),
    ]
    for (value, slot) in values {
      let isSet = encoder.set(value, at: slot)
      #expect(!isSet)
    }
    let refused = encoder.refused
    #expect(refused == RefusedSlots(unfitting: SlotSet(first: 3)))
    let view = RecordView(validated: UnsafeRawBufferPointer(encoder.finish()), layout: encoder.layout)
    #expect((0..<3).allSatisfy(view.isNull))
  }
}
