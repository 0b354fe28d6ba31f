import Foundation
import Predicates

// Kinds that widen: another kind has all their values, too. An attribute may change to the other kind without a
// check of its values.

extension AttributeKind {
  /// Returns whether every value of this kind is one of `other`, exactly.
  func canWiden(to other: AttributeKind) -> Bool {
    if self == other { return true }
    if other == .decimal { return isInteger }
    if self == .float { return other == .double }
    guard isInteger, let bits = fixedByteCount.map({ 8 * $0 }) else { return false }
    if other == .double { return bits <= 32 }
    if other == .float { return bits <= 16 }
    guard other.isInteger, let otherBits = other.fixedByteCount.map({ 8 * $0 }) else { return false }
    // An unsigned integer also fits into a longer signed one; never the other way round.
    return isSigned == other.isSigned ? otherBits >= bits : other.isSigned && otherBits > bits
  }

  private var isSigned: Bool { self.rawValue <= AttributeKind.int64.rawValue }

  /// Returns whether values of both kinds have the same components in keys (``KeyCoder``), so that an index needs
  /// no other entries.
  func hasSameKeys(as other: AttributeKind) -> Bool {
    self == other || (isInteger && other.isInteger) || (self == .float && other == .double)
  }
}

extension AttributeDescription {
  /// Returns whether the other attribute can take over the stored values. If queries compare the elements of the
  /// other attribute, the stored elements must be of a known kind, and that kind must widen to the other one.
  func canContinue(as other: AttributeDescription) -> Bool {
    guard let wanted = other.elementKind else { return kind.canWiden(to: other.kind) }
    return elementKind?.canWiden(to: wanted) ?? false
  }
}

extension AttributeValue {
  /// Returns the value in the wider kind; nil for a value of a kind that can't widen.
  func widened(to kind: AttributeKind) -> AttributeValue? {
    switch (self, kind) {
    case (.null, _): self
    case (.int(let value), .decimal): .decimal(Decimal(value))
    case (.uint(let value), .decimal): .decimal(Decimal(value))
    case (.int(let value), .double), (.int(let value), .float): .double(Double(value))
    case (.int, _), (.uint, _): kind.isInteger ? self : nil
    case (.double, .double): self
    default: fits(kind) ? self : nil
    }
  }
}
