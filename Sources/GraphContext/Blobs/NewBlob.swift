import Predicates

/// A value that a batch gives to an attribute that is stored externally.
enum NewBlob: Sendable {
  /// A value that fits into one commit. Nothing of it is stored.
  case value(AttributeValue)
  /// A value that is staged.
  case reference(ExternalReference)
}
