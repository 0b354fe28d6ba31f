import Foundation

/// JSON of any content, as an attribute whose content queries can't test. A program that knows the content's type
/// declares a ``CodableAttribute`` instead: both are stored in the same way.
public struct JSONText: Sendable, Hashable {
  /// The JSON.
  public let text: String

  /// Makes the JSON of a text; nil for a text that is no JSON. O(length).
  public init?(_ text: String) {
    guard (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil else {
      return nil
    }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }
}

extension JSONText: AttributeType {
  public static var _attributeKind: AttributeKind { .coded }
  /// `null`.
  public static var tracerValue: JSONText? { JSONText(unchecked: "null") }
  public var _attributeValue: AttributeValue { .string(text) }

  public init?(_attributeValue stored: AttributeValue) {
    guard case .string(let text) = stored else { return nil }
    self.init(text)
  }
}
