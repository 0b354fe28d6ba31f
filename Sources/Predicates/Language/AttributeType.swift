import Foundation

/// A type that an attribute of a model can have.
///
/// The standard library's and Foundation's value types conform here, optionals of them too. An enum or struct
/// with a raw value conforms by saying so: `enum Cabin: Int, AttributeType { case economy, first }`; it is
/// stored, compared and indexed as its raw value. An enum that is also `CaseIterable` takes its first case as
/// ``tracerValue``. A struct whose initialiser refuses some raw values must say which value it does take:
///
/// ```swift
/// struct Email: RawRepresentable, AttributeType {
///   let rawValue: String
///   init?(rawValue: String) { if rawValue.contains("@") { self.rawValue = rawValue } else { return nil } }
///   static var tracerValue: Email? { Email(rawValue: "a@b.c") }
/// }
/// ```
///
/// A type without a raw value conforms once it is given one. Equal values must have equal raw values, and a raw
/// value must give back the value that it was made from:
///
/// ```swift
/// extension Version: RawRepresentable, AttributeType {
///   var rawValue: String { "\(major).\(minor)" }
///   init?(rawValue: String) { … }
///   static var tracerValue: Version? { Version(major: 1, minor: 0) }
/// }
/// ```
///
/// A type that queries don't compare can be stored as its encoding instead: ``CodableAttribute``.
///
/// A stored value whose raw value is refused makes its object's next fetch or save throw `corrupt`.
///
/// The requirements with an underscore are for the library itself: types of a program get them from their raw
/// values. A program may declare only `tracerValue`.
public protocol AttributeType: ColumnType, PredicateArgument {
  /// The type without nil: for an optional its wrapped type, else the type itself.
  associatedtype _Present: AttributeType = Self
  /// The kind in which values are stored. An optional has the kind of its wrapped type.
  static var _attributeKind: AttributeKind { get }
  /// The kind of each element of a list or set; nil for another type, or if queries don't compare the elements.
  static var _elementKind: AttributeKind? { get }
  /// True if nil is a value of the type.
  static var _isOptionalAttribute: Bool { get }
  /// The value outside a record; `null` for nil.
  var _attributeValue: AttributeValue { get }
  /// Makes the value of a stored one. Nil when that is not one of this type: another kind, out of range, or a raw value
  /// that no case has.
  init?(_attributeValue stored: AttributeValue)
  /// Reads the value at a slot of a record. Nil when it is missing, or not one of this type.
  ///
  /// The default uses ``init(_attributeValue:)``; types with a fixed width read their bytes.
  init?(_record record: borrowing RecordView, slot: Int)
  /// Any value. An attribute of a tracer object has it while a key path is converted into names, and a getter
  /// returns it if the store fails and the type has no nil. It is never stored.
  ///
  /// Nil if the type's initialiser accepts none of the values that the default tries: for a `RawRepresentable` type
  /// that refuses its raw type's zero or empty value, and isn't an enum. No container accepts a model with such an
  /// attribute, so the type must declare a value itself:
  /// `static var tracerValue: Email? { Email(rawValue: "a@b.c") }`.
  static var tracerValue: Self? { get }
}

extension AttributeType {
  public static var _isOptionalAttribute: Bool { false }
  public static var _elementKind: AttributeKind? { nil }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    self.init(_attributeValue: record.value(slot))
  }
}

// MARK: - Numbers

extension AttributeType where Self: FixedWidthInteger & BitwiseCopyable {
  /// 0.
  public static var tracerValue: Self? { 0 }

  @inlinable
  public var _attributeValue: AttributeValue {
    Int64(exactly: self).map(AttributeValue.int) ?? .uint(UInt64(self))
  }

  public init?(_attributeValue stored: AttributeValue) {
    switch stored {
    case .int(let value): self.init(exactly: value)
    case .uint(let value): self.init(exactly: value)
    default: return nil
    }
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == Self._attributeKind else {
      self.init(_attributeValue: record.value(slot))
      return
    }
    if record.isNull(slot) { return nil }
    self = record.fixed(slot, as: Self.self)
  }
}

extension Int: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .int64 } }
extension Int8: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .int8 } }
extension Int16: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .int16 } }
extension Int32: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .int32 } }
extension Int64: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .int64 } }
extension UInt: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .uint64 } }
extension UInt8: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .uint8 } }
extension UInt16: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .uint16 } }
extension UInt32: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .uint32 } }
extension UInt64: AttributeType { @inlinable public static var _attributeKind: AttributeKind { .uint64 } }

extension Double: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .double }
  /// 0.
  public static var tracerValue: Double? { 0 }
  @inlinable
  public var _attributeValue: AttributeValue { .double(self) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .double(let value) = stored else { return nil }
    self = value
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == .double else {
      self.init(_attributeValue: record.value(slot))
      return
    }
    if record.isNull(slot) { return nil }
    self.init(bitPattern: record.fixed(slot, as: UInt64.self))
  }
}

extension Float: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .float }
  /// 0.
  public static var tracerValue: Float? { 0 }
  /// The number as a Double: every Float is one.
  public var _attributeValue: AttributeValue { .double(Double(self)) }

  /// Makes the Float of a stored Double. Nil for a Double that no Float equals. Any NaN is a NaN.
  public init?(_attributeValue stored: AttributeValue) {
    guard case .double(let value) = stored else { return nil }
    if value.isNaN { self = .nan } else { self.init(exactly: value) }
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == .float, !record.isNull(slot) else { return nil }
    self.init(bitPattern: record.fixed(slot, as: UInt32.self))
  }
}

extension Decimal: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .decimal }
  /// 0.
  public static var tracerValue: Decimal? { 0 }
  public var _attributeValue: AttributeValue { .decimal(self) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .decimal(let value) = stored else { return nil }
    self = value
  }

  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == .decimal, !record.isNull(slot),
      let value = record.decimal(slot)
    else { return nil }
    self = value
  }
}

extension Bool: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .bool }
  /// False.
  public static var tracerValue: Bool? { false }
  @inlinable
  public var _attributeValue: AttributeValue { .bool(self) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .bool(let value) = stored else { return nil }
    self = value
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == .bool, !record.isNull(slot) else { return nil }
    self = record.fixed(slot, as: UInt8.self) != 0
  }
}

// MARK: - Text, bytes, instants, identifiers

extension String: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .string }
  /// The empty string.
  public static var tracerValue: String? { "" }
  @inlinable
  public var _attributeValue: AttributeValue { .string(self) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .string(let value) = stored else { return nil }
    self = value
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == .string else {
      self.init(_attributeValue: record.value(slot))
      return
    }
    if record.isNull(slot) { return nil }
    self.init(decoding: record.variable(slot), as: UTF8.self)
  }
}

extension Data: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .data }
  /// No bytes.
  public static var tracerValue: Data? { Data() }
  public var _attributeValue: AttributeValue { .data(self) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .data(let value) = stored else { return nil }
    self = value
  }
}

extension Date: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .date }
  /// 1 January 2001, 0:00 UTC.
  public static var tracerValue: Date? { Date(timeIntervalSinceReferenceDate: 0) }
  public var _attributeValue: AttributeValue { .date(self) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .date(let value) = stored else { return nil }
    self = value
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    guard record.field(slot).kind == .date, !record.isNull(slot) else { return nil }
    self.init(timeIntervalSinceReferenceDate: Double(bitPattern: record.fixed(slot, as: UInt64.self)))
  }
}

extension UUID: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .uuid }
  /// Zeros.
  public static var tracerValue: UUID? { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
  public var _attributeValue: AttributeValue { .uuid(self) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .uuid(let value) = stored else { return nil }
    self = value
  }
}

/// A URL is stored, compared and sorted as its `absoluteString`: a relative one is resolved against its base.
extension URL: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { .string }
  /// The root directory.
  public static var tracerValue: URL? { URL(filePath: "/", directoryHint: .isDirectory) }
  public var _attributeValue: AttributeValue { .string(absoluteString) }

  /// Makes the URL of a stored string. Nil for a string that is no URL.
  public init?(_attributeValue stored: AttributeValue) {
    guard case .string(let text) = stored else { return nil }
    self.init(string: text, encodingInvalidCharacters: false)
  }
}

// MARK: - Optionals

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  public var _predicateArgument: FormatArgument { self?._predicateArgument ?? .value(.null) }
}

extension Optional: AttributeType where Wrapped: AttributeType {
  /// The wrapped type.
  public typealias _Present = Wrapped
  @inlinable public static var _attributeKind: AttributeKind { Wrapped._attributeKind }
  public static var _elementKind: AttributeKind? { Wrapped._elementKind }
  public static var _isOptionalAttribute: Bool { true }
  /// A value that isn't nil, because a key path through the optional has to find one.
  public static var tracerValue: Wrapped?? { Wrapped.tracerValue.map { .some($0) } }
  @inlinable
  public var _attributeValue: AttributeValue { self?._attributeValue ?? .null }

  public init?(_attributeValue stored: AttributeValue) {
    if stored.isNull {
      self = .none
      return
    }
    guard let wrapped = Wrapped(_attributeValue: stored) else { return nil }
    self = .some(wrapped)
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    if record.isNull(slot) {
      self = .none
      return
    }
    guard let wrapped = Wrapped(_record: record, slot: slot) else { return nil }
    self = .some(wrapped)
  }
}

// MARK: - Raw values

extension AttributeType where Self: RawRepresentable, RawValue: AttributeType {
  @inlinable public static var _attributeKind: AttributeKind { RawValue._attributeKind }
  public var _attributeValue: AttributeValue { rawValue._attributeValue }

  public init?(_attributeValue stored: AttributeValue) {
    guard let rawValue = RawValue(_attributeValue: stored) else { return nil }
    self.init(rawValue: rawValue)
  }

  @inlinable
  public init?(_record record: borrowing RecordView, slot: Int) {
    guard let rawValue = RawValue(_record: record, slot: slot) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// The value of the raw type's zero; for an enum that has no such case, its first case. Nil for a type that
  /// refuses zero and holds more than plain bytes.
  public static var tracerValue: Self? {
    if let value = RawValue.tracerValue.flatMap(Self.init(rawValue:)) { return value }
    return zeroBytes()
  }
}

/// Returns the value whose bytes are all zero: the first case of an enum, or a struct of zeros. It is only passed
/// to a key path, never stored. Nil for a type that is more than plain bytes.
func zeroBytes<Value>(of type: Value.Type = Value.self) -> Value? {
  guard _isPOD(type) else { return nil }
  return withUnsafeTemporaryAllocation(
    byteCount: max(MemoryLayout<Value>.size, 1),
    alignment: MemoryLayout<Value>.alignment
  ) { bytes in
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    return bytes.load(as: Value.self)
  }
}

extension AttributeType where Self: RawRepresentable & CaseIterable, RawValue: AttributeType {
  /// The first case; nil for a type without cases.
  public static var tracerValue: Self? { allCases.first }
}
