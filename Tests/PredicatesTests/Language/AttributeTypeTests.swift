import Foundation
import Predicates
import Testing

/// A type that had no raw value, and is given one for the store.
private struct Version: Equatable {
  var major: Int
  var minor: Int
}

extension Version: RawRepresentable, AttributeType {
  var rawValue: String { "\(major).\(minor)" }

  init?(rawValue: String) {
    let numbers = rawValue.split(separator: ".").compactMap { Int($0) }
    guard numbers.count == 2 else { return nil }
    self.init(major: numbers[0], minor: numbers[1])
  }

  static var tracerValue: Version? { Version(major: 1, minor: 0) }
}

struct AttributeTypeTests {
  private func comesBack<T: AttributeType & Equatable>(_ values: T...) -> Bool {
    values.allSatisfy { T(_attributeValue: $0._attributeValue) == $0 }
  }

  @Test func everyTypeComesBackFromItsValue() {
    #expect(comesBack(Int.min, -1, 0, .max))
    #expect(comesBack(Int8.min, .max) && comesBack(Int16.min, .max) && comesBack(Int32.min, .max))
    #expect(comesBack(UInt8.max) && comesBack(UInt16.max) && comesBack(UInt32.max))
    #expect(comesBack(UInt64.max, 0, 1 << 63) && comesBack(UInt.max) && comesBack(Int64.min))
    #expect(comesBack(0.1, -0.0, .infinity, .leastNonzeroMagnitude) && comesBack(Float(0.1), .infinity))
    #expect(comesBack(Decimal(1), -0.5, .greatestFiniteMagnitude) && comesBack(Decimal?.none, 1))
    #expect(comesBack(true, false) && comesBack("", "é", "🎉"))
    #expect(comesBack(Data([1, 2])) && comesBack(UUID()) && comesBack(Date()))
    #expect(comesBack(Int?.none, 5) && comesBack(String?.none, ""))
    #expect(comesBack(Cabin.economy, .first) && comesBack(Status.planned, .cancelled))
    #expect(comesBack(Status?.none, .departed))
  }

  @Test func equalNumbersAreEqualValues() {
    #expect(UInt64(5)._attributeValue == Int8(5)._attributeValue)
    #expect(UInt64.max._attributeValue == .uint(.max))
    #expect(Float(0.5)._attributeValue == 0.5._attributeValue)
  }

  @Test func whatIsNoValueOfTheTypeIsRefused() {
    #expect(Int8(_attributeValue: .int(128)) == nil)
    #expect(UInt8(_attributeValue: .int(-1)) == nil)
    #expect(Int(_attributeValue: .uint(.max)) == nil)
    #expect(Int(_attributeValue: .null) == nil)
    #expect(Int(_attributeValue: .double(1)) == nil)
    #expect(Float(_attributeValue: .double(0.1)) == nil)
    #expect(Cabin(_attributeValue: .int(7)) == nil)
    #expect(Status(_attributeValue: .string("lost")) == nil)
    #expect(Status?(_attributeValue: .string("lost")) == nil)
  }

  @Test func aTypeIsStoredByTheRawValueThatItIsGiven() {
    #expect(comesBack(Version(major: 2, minor: 10), Version(major: 0, minor: 0)))
    #expect(Version(major: 2, minor: 10)._attributeValue == .string("2.10"))
    #expect(Version(_attributeValue: .string("two")) == nil)
    #expect(Version._attributeKind == .string && Version?.tracerValue == Version(major: 1, minor: 0))
  }

  @Test func tracerValuesExist() {
    #expect(Cabin.tracerValue == .economy)
    #expect(Status.tracerValue == .planned)
    #expect(Int?.tracerValue == 0)
    #expect(Status?._attributeKind == .string && Status?._isOptionalAttribute && !Status._isOptionalAttribute)
  }
}
