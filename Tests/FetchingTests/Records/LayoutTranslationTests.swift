import Foundation
import GraphTestSupport
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// The translation by copies of bytes has the same results as the plain translation, field by field.
struct LayoutTranslationTests {
  private static let changeCount = TestEffort.times(500, long: 5_000)

  @Test func recordsAreTranslatedAsFieldByField() throws {
    var random = RandomValues(generator: SeededGenerator())
    for _ in 0..<Self.changeCount {
      let change = LayoutChange(&random)
      let translator = RecordTranslator(try #require(change.translation))
      // The records are translated one after the other: no bytes of an earlier record may be left.
      for _ in 0..<20 {
        let record = change.record(&random)
        let translated = onItsOwn(record) { translator.translate($0).map { [UInt8]($0) } }
        #expect(translated == change.plain(record))
        #expect(translated != nil)
      }
    }
  }

  @Test func hostileBytesAreNoRecordOrHaveTheSameValues() throws {
    var random = RandomValues(generator: SeededGenerator())
    var (refused, read) = (0, 0)
    for _ in 0..<Self.changeCount {
      let change = LayoutChange(&random)
      let translator = RecordTranslator(try #require(change.translation))
      for _ in 0..<20 {
        var bytes = change.record(&random)
        random.damage(&bytes)
        let translated = onItsOwn(bytes) { translator.translate($0).map { [UInt8]($0) } }
        let plain = change.plain(bytes)
        #expect((translated == nil) == (plain == nil))
        guard let translated, let plain else {
          refused += 1
          continue
        }
        read += 1
        #expect(change.haveSameValues(translated, plain))
      }
    }
    #expect(refused > Self.changeCount && read > Self.changeCount)
  }

  @Test func theValuesThatAreReadAreTranslatedWithoutTheOthers() throws {
    var random = RandomValues(generator: SeededGenerator())
    var (compared, refused) = (0, 0)
    for _ in 0..<Self.changeCount {
      let change = LayoutChange(&random)
      let wanted = SlotSet(rawValue: random.generator.next() & random.generator.next())
      let translator = RecordTranslator(try #require(change.translation(reading: wanted)))
      for round in 0..<20 {
        var bytes = change.record(&random)
        if round % 2 == 1 { random.damage(&bytes) }
        let translated = onItsOwn(bytes) { translator.translate($0).map { [UInt8]($0) } }
        guard let plain = change.plain(bytes) else {
          refused += 1
          continue
        }
        compared += 1
        #expect(change.haveSameValues(try #require(translated), plain, at: wanted))
      }
    }
    #expect(compared > 10 * Self.changeCount && refused > Self.changeCount)
  }

  @Test func aValueForNilOfAnotherKindMakesNoTranslation() {
    let number = PropertyNumber(rawValue: 1)
    let newest = RecordLayout(kinds: [.int32], places: [0], number: 1)
    let added = CataloguedProperty(
      number: number,
      name: "a",
      content: .attribute(.int32, isOptional: false),
      absentValue: .string("one")
    )
    let empty = CataloguedLayout(number: 0, fields: [])
    #expect(LayoutTranslation(empty, to: newest, slots: [added]) == nil)
    let filled = CataloguedLayout(
      number: 0,
      fields: [.init(property: number, kind: .int16, nilValue: .int(1 << 40))]
    )
    #expect(LayoutTranslation(filled, to: newest, slots: [added]) == nil)
  }

  /// Runs the body with the bytes in memory of exactly their size, so that a sanitizer detects reads beyond them.
  private func onItsOwn<R>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    return body(UnsafeRawBufferPointer(memory))
  }
}

/// A layout of a few properties, and a later one that has some of them: wider, in another order, with others among them.
private struct LayoutChange {
  let earlier: CataloguedLayout
  let newest: RecordLayout
  private(set) var slots: [CataloguedProperty] = []

  init(_ random: inout RandomValues) {
    var fields: [CataloguedLayout.Field] = []
    var kinds: [AttributeKind] = []
    for number in 0..<UInt32(random.generator.number(in: 0...random.generator.pick([3, 12, 40]))) {
      let property = PropertyNumber(rawValue: number + 1)
      let kind = random.generator.pick(AttributeKind.allCases)
      let isNew = random.generator.chance(1, in: 4)
      let isGone = !isNew && random.generator.chance(1, in: 6)
      let newKind =
        random.generator.chance(1, in: 3)
        ? random.generator.pick(AttributeKind.allCases.filter(kind.canWiden)) : kind
      if !isNew {
        let nilValue = random.generator.chance(1, in: 4) && !isGone ? random.value(newKind) : .null
        fields.append(.init(property: property, kind: kind, nilValue: nilValue.isNull ? nil : nilValue))
      }
      if isGone { continue }
      kinds.append(newKind)
      slots.append(
        CataloguedProperty(
          number: property,
          name: "p\(number)",
          content: .attribute(newKind, isOptional: true),
          absentValue: random.value(newKind, nilOneIn: 3)
        )
      )
    }
    if random.generator.chance(1, in: 2), let flag = slots.indices.randomElement(using: &random.generator) {
      Self.embed(flag, of: &slots, &fields, &random)
    }
    if random.generator.chance(1, in: 3) { fields.shuffle(using: &random.generator) }
    let places =
      random.generator.chance(1, in: 3)
      ? kinds.indices.shuffled(using: &random.generator) : Array(kinds.indices)
    earlier = CataloguedLayout(number: 3, fields: fields)
    newest = RecordLayout(kinds: kinds, places: places, number: 7)
  }

  /// Makes some properties parts of an embedded value, and one property the flag that says whether the value is there.
  private static func embed(
    _ flag: Int,
    of slots: inout [CataloguedProperty],
    _ fields: inout [CataloguedLayout.Field],
    _ random: inout RandomValues
  ) {
    slots[flag].name = "g"
    for slot in slots.indices where slot != flag && random.generator.chance(1, in: 2) {
      slots[slot].name = "g." + slots[slot].name
    }
    for place in fields.indices where fields[place].property == slots[flag].number {
      fields[place].nilValue = nil
    }
  }

  var translation: LayoutTranslation? { LayoutTranslation(earlier, to: newest, slots: slots) }

  func translation(reading wanted: SlotSet) -> LayoutTranslation? {
    LayoutTranslation(earlier, to: newest, slots: slots, reading: wanted)
  }

  private var layout: RecordLayout {
    let kinds = earlier.fields.map(\.kind)
    return RecordLayout(kinds: kinds, places: Array(kinds.indices), number: earlier.number)
  }

  /// A record of the earlier layout.
  func record(_ random: inout RandomValues) -> [UInt8] {
    var encoder = RecordEncoder(layout: layout)
    encoder.begin()
    let flag = earlier.fields.firstIndex { $0.property == slots.first { $0.name == "g" }?.number }
    var values = earlier.fields.map { random.value($0.kind, nilOneIn: 4) }
    if let flag, values[flag].isNull {
      for (place, field) in earlier.fields.enumerated() where isPart(field.property) { values[place] = .null }
    }
    for (place, value) in values.enumerated() {
      let isSet = encoder.set(value, at: place)
      #expect(isSet)
    }
    let record = encoder.finish()
    RecordEncoder.stamp(record, commit: random.generator.next())
    record[2] = UInt8(truncatingIfNeeded: random.generator.next())
    return [UInt8](record)
  }

  /// The record in the newest layout, each value read and written by itself. Nil for bytes that are no record of the earlier one.
  func plain(_ bytes: [UInt8]) -> [UInt8]? {
    // A view doesn't own its layout, and the property makes one.
    let layout = layout
    return withExtendedLifetime(layout) { plain(bytes, layout) }
  }

  private func plain(_ bytes: [UInt8], _ layout: RecordLayout) -> [UInt8]? {
    bytes.withUnsafeBytes { bytes -> [UInt8]? in
      guard let record = RecordView(bytes, layout: layout) else { return nil }
      var encoder = RecordEncoder(layout: newest)
      encoder.begin()
      for slot in newest.slotsByPlace {
        let isSet = encoder.set(value(slot, of: record), at: slot)
        #expect(isSet)
      }
      let translated = encoder.finish()
      for place in [2, 3] + Array(8..<16) { translated[place] = bytes[place] }
      return [UInt8](translated)
    }
  }

  private func isPart(_ property: PropertyNumber) -> Bool {
    slots.contains { $0.number == property && $0.name.hasPrefix("g.") }
  }

  /// Returns true if a slot belongs to a part of an embedded value that is nil.
  private func isPartOfNil(_ slot: Int, _ record: RecordView) -> Bool {
    guard isPart(slots[slot].number), let flag = slots.first(where: { $0.name == "g" }) else { return false }
    let field = earlier.fields.firstIndex { $0.property == flag.number }
    return field.map(record.isNull) ?? flag.absentValue.isNull
  }

  private func value(_ slot: Int, of record: RecordView) -> AttributeValue {
    let isPartOfNil = isPartOfNil(slot, record)
    guard let field = earlier.fields.firstIndex(where: { $0.property == slots[slot].number }) else {
      return isPartOfNil ? .null : slots[slot].absentValue
    }
    let nilValue = earlier.fields[field].nilValue
    // A record with a part of an embedded value that is nil is read nevertheless.
    let hasFlag = slots.first { $0.name == "g" }.map { flag in
      earlier.fields.contains { $0.property == flag.number }
    }
    if isPartOfNil, nilValue != nil, hasFlag == true { return .null }
    if record.isNull(field) { return isPartOfNil ? .null : nilValue ?? .null }
    return record.value(field).widened(to: newest.fields[slot].kind) ?? .null
  }

  /// Returns true if a query reads the same values of the slots.
  func haveSameValues(_ translated: [UInt8], _ plain: [UInt8], at wanted: SlotSet) -> Bool {
    translated.withUnsafeBytes { translated in
      plain.withUnsafeBytes { plain in
        let translated = RecordView(validated: translated, layout: newest)
        let plain = RecordView(validated: plain, layout: newest)
        return newest.fields.indices.allSatisfy { slot in
          !wanted.contains(slot) || translated.value(slot) == plain.value(slot)
        }
      }
    }
  }

  func haveSameValues(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        guard let left = RecordView(left, layout: newest), let right = RecordView(right, layout: newest)
        else {
          return false
        }
        return newest.fields.indices.allSatisfy { left.value($0) == right.value($0) }
      }
    }
  }
}

extension RandomValues {
  /// Changes a few bytes, or their number.
  fileprivate mutating func damage(_ bytes: inout [UInt8]) {
    switch generator.number(in: 0...3) {
    case 0: bytes.removeLast(generator.number(in: 0...bytes.count))
    case 1: bytes += generator.bytes(generator.number(in: 1...9))
    default:
      for _ in 0..<generator.number(in: 1...4) {
        bytes[generator.number(in: 0...bytes.count - 1)] = UInt8(truncatingIfNeeded: generator.next())
      }
    }
  }
}
