import Foundation
import Predicates

/// The type of a record's attributes, whatever their kinds: the entity's description has those.
struct RecordValue: AttributeType {
  let attributeValue: AttributeValue

  init(_ value: AttributeValue) { attributeValue = value }

  init?(attributeValue: AttributeValue) { self.init(attributeValue) }

  init?(record: borrowing RecordView, slot: Int) { self.init(record.value(slot)) }

  /// Asked of the attributes of classes that a container is made with, which have no attribute of this type.
  static var attributeKind: AttributeKind { fatalError("a record's attributes have no common kind") }
  static var isOptionalAttribute: Bool { true }
  static var tracerValue: RecordValue? { RecordValue(.null) }
}

extension AttributeKind {
  /// The value as an attribute of this kind has it; nil where it is of another kind or out of range.
  func value(from value: AttributeValue) -> AttributeValue? {
    func converted<Value: AttributeType>(_ type: Value.Type) -> AttributeValue? {
      Value(attributeValue: value)?.attributeValue
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
    case .string: converted(String.self)
    case .data: converted(Data.self)
    case .reference: nil
    }
  }
}
