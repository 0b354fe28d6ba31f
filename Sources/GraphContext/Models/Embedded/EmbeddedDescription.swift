import Predicates

/// A model's description of a property with an embedded value.
public struct EmbeddedDescription: Sendable {
  /// The property's name.
  public let name: String
  /// The parts, as attributes of the entity: `home.city`, or `home.position.latitude` where a part is an embedded value
  /// itself.
  public let attributes: [PropertyDescription]

  /// Describes a property of a type.
  ///
  /// - Parameters:
  ///   - name: the property's name.
  ///   - type: an embedded value, or an optional of one.
  ///   - originalName: the property's name in an earlier version of the schema; nil if it had no other.
  public init<Value: EmbeddedProperty>(_ name: String, _ type: Value.Type, originalName: String? = nil) {
    self.name = name
    attributes = Value._Parts.attributes.map { $0.embedded(in: name, originally: originalName) }
  }
}

extension PropertyDescription {
  /// Returns the name of an attribute that is a part of an embedded value. Because of its point, no property in Swift
  /// has this name.
  static func partName(_ name: String, in property: String) -> String {
    name.isEmpty ? property : "\(property).\(name)"
  }

  /// Returns the name of the property whose embedded value has a part of this name; nil for the name of no part.
  static func propertyName(ofPart name: String) -> Substring? {
    name.firstIndex(of: ".").map { name[..<$0] }
  }

  /// Returns true for the name of a part of an embedded value, of which `property` is the name.
  static func isPart(_ name: String, of property: String) -> Bool {
    propertyName(ofPart: name).map { $0 == property } ?? false
  }

  /// Returns the attribute of an entity that has the value as its property.
  fileprivate func embedded(in property: String, originally earlier: String?) -> PropertyDescription {
    guard case .attribute(var attribute) = self else { return self }
    if earlier != nil || attribute.originalName != nil {
      attribute.originalName = Self.partName(attribute.originalName ?? name, in: earlier ?? property)
    }
    attribute.name = Self.partName(name, in: property)
    return .attribute(attribute)
  }
}

extension EntityDescription {
  /// Returns the description with the parts of embedded values behind the other properties.
  func embedding(_ values: [EmbeddedDescription]) -> EntityDescription {
    var whole = self
    whole.properties += values.flatMap(\.attributes)
    return whole
  }
}
