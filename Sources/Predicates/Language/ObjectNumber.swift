/// The number of an object: final from its insertion on, unique among the objects of its entity, never used twice.
///
/// | bits | meaning |
/// |---|---|
/// | 0..<50 | the sequence: objects of an entity count from 1 |
/// | 50..<62 | the class tag: 0 without entity inheritance; with it, the concrete class |
/// | 62..<64 | zero |
///
/// A reference tells the class of its object without a read, and the objects of one class are a range of keys.
/// Numbers order by class tag first, then by sequence.
///
/// `init(rawValue:)` takes any 64 bits, because numbers come from disk. A store gives only numbers that
/// ``init(sequence:classTag:)`` makes.
@frozen
public struct ObjectNumber: RawRepresentable, Sendable, Hashable, Codable {
  /// The class tag and the sequence.
  public let rawValue: UInt64

  /// Makes the number of any 64 bits.
  @inlinable
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The bits of the sequence.
  @inlinable
  public static var sequenceBitCount: Int { 50 }
  /// The bits of the class tag.
  @inlinable
  public static var classTagBitCount: Int { 12 }
  /// The greatest sequence, 2^50 − 1: at a million objects a second, an entity reaches it in 35 years.
  @inlinable
  public static var greatestSequence: UInt64 { 1 << sequenceBitCount - 1 }
  /// The greatest class tag, 2^12 − 1.
  @inlinable
  public static var greatestClassTag: UInt16 { 1 << classTagBitCount - 1 }

  /// The number that names no object: the number of a nil reference.
  @inlinable
  public static var none: ObjectNumber { ObjectNumber(rawValue: 0) }

  /// Makes the number of an object of a class.
  ///
  /// Nil when the sequence is 0 or above ``greatestSequence``, or the class tag is above ``greatestClassTag``.
  @inlinable
  public init?(sequence: UInt64, classTag: UInt16 = 0) {
    guard sequence > 0, sequence <= Self.greatestSequence, classTag <= Self.greatestClassTag else {
      return nil
    }
    rawValue = UInt64(classTag) << Self.sequenceBitCount | sequence
  }

  /// The position in the order of insertion, from 1; 0 in ``none``.
  @inlinable
  public var sequence: UInt64 { rawValue & Self.greatestSequence }

  /// The class of the object; 0 without entity inheritance.
  @inlinable
  public var classTag: UInt16 {
    UInt16(truncatingIfNeeded: rawValue >> Self.sequenceBitCount) & Self.greatestClassTag
  }

  /// True if this is ``none``.
  @inlinable
  public var isNone: Bool { rawValue == 0 }
}

extension ObjectNumber: Comparable {
  @inlinable
  public static func == (left: ObjectNumber, right: ObjectNumber) -> Bool { left.rawValue == right.rawValue }

  @inlinable
  public static func < (left: ObjectNumber, right: ObjectNumber) -> Bool { left.rawValue < right.rawValue }
}

extension ObjectNumber: CustomStringConvertible {
  /// The raw value in decimal, as in URIs and messages.
  public var description: String { "\(rawValue)" }
}

extension ObjectNumber {
  /// True if the number can be that of an object of some entity: it has a sequence, and no bit without a meaning is
  /// set.
  @inlinable
  package var isSound: Bool { sequence > 0 && rawValue >> 62 == 0 }

  /// Returns the number of an object of another class that has this number's sequence.
  package func tagged(_ classTag: UInt16) -> ObjectNumber {
    ObjectNumber(
      rawValue: sequence | UInt64(classTag & Self.greatestClassTag) << UInt64(Self.sequenceBitCount)
    )
  }
}
