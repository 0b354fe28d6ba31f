import Foundation
import Predicates
import Testing

@Suite struct AttributeTypeTests {
  private func comesBack<T: AttributeType & Equatable>(_ values: T...) -> Bool {
    values.allSatisfy { T(attributeValue: $0.attributeValue) == $0 }
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
    #expect(UInt64(5).attributeValue == Int8(5).attributeValue)
    #expect(UInt64.max.attributeValue == .uint(.max))
    #expect(Float(0.5).attributeValue == 0.5.attributeValue)
  }

  @Test func whatIsNoValueOfTheTypeIsRefused() {
    #expect(Int8(attributeValue: .int(128)) == nil)
    #expect(UInt8(attributeValue: .int(-1)) == nil)
    #expect(Int(attributeValue: .uint(.max)) == nil)
    #expect(Int(attributeValue: .null) == nil)
    #expect(Int(attributeValue: .double(1)) == nil)
    #expect(Float(attributeValue: .double(0.1)) == nil)
    #expect(Cabin(attributeValue: .int(7)) == nil)
    #expect(Status(attributeValue: .string("lost")) == nil)
    #expect(Status?(attributeValue: .string("lost")) == nil)
  }

  @Test func tracerValuesExist() {
    #expect(Cabin.tracerValue == .economy)
    #expect(Status.tracerValue == .planned)
    #expect(Int?.tracerValue == 0)
    #expect(Status?.attributeKind == .string && Status?.isOptionalAttribute && !Status.isOptionalAttribute)
  }
}
