import Foundation
import Predicates

/// The type of a record's attributes, whatever their kinds: the entity's description has those.
struct RecordValue: AttributeType {
  let _attributeValue: AttributeValue

  init(_ value: AttributeValue) { _attributeValue = value }

  init?(_attributeValue stored: AttributeValue) { self.init(stored) }

  init?(_record record: borrowing RecordView, slot: Int) {
    let value = record.value(slot)
    // A value that is stored externally isn't in the record.
    if value.isNull, !record.isNull(slot) { return nil }
    self.init(value)
  }

  /// No kind: the kind is asked of the attributes of classes that a container is made with, which have no attribute of
  /// this type.
  static var _attributeKind: AttributeKind { fatalError("a record's attributes have no common kind") }
  static var _isOptionalAttribute: Bool { true }
  static var tracerValue: RecordValue? { RecordValue(.null) }
}

extension AttributeKind {
  /// Returns the value as an attribute of this kind has it; nil where it is of another kind or out of range.
  func value(from value: AttributeValue) -> AttributeValue? {
    func converted<Value: AttributeType>(_ type: Value.Type) -> AttributeValue? {
      Value(_attributeValue: value)?._attributeValue
    }
    return switch self {
    case .bool: converted(Bool.self)
    case .int8: converted(Int8.self)
    case .int16: converted(Int16.self)
    case .int32: converted(Int32.self)
    case .int64: converted(Int64.self)
    case .uint8: converted(UInt8.self)
    case .uint16: converted(UInt16.self)
    case .uint32: converted(UInt32.self)
    case .uint64: converted(UInt64.self)
    case .float: converted(Float.self)
    case .double: converted(Double.self)
    case .decimal: converted(Decimal.self)
    case .date: converted(Date.self)
    case .uuid: converted(UUID.self)
    case .string, .externalString: converted(String.self)
    case .data, .externalData: converted(Data.self)
    case .coded: value.isJSON ? value : nil
    case .place: converted(ListPlace.self)
    case .reference: nil
    }
  }
}

extension AttributeKind {
  /// The value of a required derived attribute of this kind in a new object. The first save derives the real one.
  var emptyValue: AttributeValue {
    switch self {
    case .string, .externalString: .string("")
    case .float, .double: .double(0)
    case .decimal: .decimal(0)
    default: .int(0)
    }
  }
}

extension AttributeValue {
  /// True if the value is a string that a coded attribute can have.
  fileprivate var isJSON: Bool {
    guard case .string(let text) = self else { return false }
    return (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
  }
}
