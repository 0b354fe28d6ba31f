import Foundation
import Predicates

/// What becomes of an attribute's values when the attribute is of another kind from now on.
///
/// A value is converted if the new kind has it: numbers with the same value, and between text and numbers, `Bool` or `UUID` what Swift writes and
/// reads. A list is converted element by element, and a JSON value becomes a list if it is one of such elements: a list with one other element is another
/// value. The rules differ in what they do with other values.
public struct ConversionRule: Sendable {
  private enum Form: Sendable {
    case refusing, clamping, orNil
    case custom(@Sendable (AttributeValue) -> AttributeValue?)
  }
  private let form: Form

  /// An object with another value keeps the store from being migrated. Such objects are all listed before the migration begins.
  public static let refusing = ConversionRule(form: .refusing)
  /// A number becomes the nearest one that the new kind has. What is no number, or can't be one, becomes nil.
  public static let clamping = ConversionRule(form: .clamping)
  /// Another value becomes nil.
  public static let orNil = ConversionRule(form: .orNil)
  /// Every value becomes what `convert` returns: of the new kind, or nil.
  public static func custom(
    _ convert: @escaping @Sendable (AttributeValue) -> AttributeValue?
  ) -> ConversionRule { ConversionRule(form: .custom(convert)) }

  var refusesValues: Bool { if case .refusing = form { true } else { false } }

  /// The value, which is not nil, as an attribute has it; nil if it has none.
  ///
  /// - Parameter elementKind: of the value, if it is a list.
  func convert(
    _ value: AttributeValue,
    ofElements elementKind: AttributeKind?,
    to attribute: AttributeDescription
  ) -> AttributeValue? {
    if case .custom(let convert) = form { return convert(value) }
    guard let kind = attribute.elementKind else { return convert(value, to: attribute.kind) }
    guard case .string(let json) = value,
      let elements = try? ListElements.values(of: json, elementKind ?? kind)
    else { return nil }
    var converted: [AttributeValue] = []
    for element in elements {
      guard let element = element.isNull ? .null : convert(element, to: kind) else { return nil }
      converted.append(element)
    }
    return .string(ListText.json(of: converted, kind))
  }

  /// The value, which is neither nil nor a list, as one of this kind; nil if it is none.
  func convert(_ value: AttributeValue, to kind: AttributeKind) -> AttributeValue? {
    switch form {
    case .refusing, .orNil: kind.converted(value)
    case .clamping: kind.converted(value) ?? kind.nearest(to: value)
    case .custom(let convert): convert(value)
    }
  }
}

/// A conversion of one attribute.
struct AttributeConversion: Sendable {
  /// By its old name.
  let entity: String
  let attribute: String
  let newName: String
  let rule: ConversionRule

  func convert(_ batch: MigrationBatch) throws {
    for object in batch.objects {
      let value = try object[attribute]
      // The attribute may belong to subclasses from now on: other objects lose their values.
      guard let successor = try batch.successor(of: object), successor.hasProperty(newName) else { continue }
      let attribute = successor.entity.attribute(named: newName)
      // A nil that can't stay one becomes the default, which the successor has.
      if value.isNull, attribute?.isOptional != true || attribute?.isRequiredPart == true { continue }
      var converted: AttributeValue?
      if !value.isNull, let attribute {
        let elementKind = object.entity.attribute(named: self.attribute)?.elementKind
        converted = rule.convert(value, ofElements: elementKind, to: attribute)
      }
      try successor.set(newName, to: converted ?? .null)
    }
  }

  /// The entity and the slot of the old values, and the new attribute.
  ///
  /// - Throws: `unknownEntity` or `unknownProperty` where one of the schemas lacks what the conversion names.
  func resolved(
    in old: StoredSchema,
    _ target: CataloguedSchema,
    _ new: Schema
  ) throws(ContextError) -> (StoredEntity, slot: Int, AttributeDescription) {
    guard let known = old.entity(named: entity), let successor = target.entity(known.number) else {
      throw ContextError(
        .unknownEntity,
        "a conversion is of \(entity), which is not in both schemas",
        context: .init(entity: entity)
      )
    }
    guard let property = known.schema.storedProperty(named: attribute), property.kind != .reference else {
      throw unknown(attribute, "old")
    }
    guard let attribute = new.entity(named: successor.name)?.attribute(named: newName) else {
      throw unknown(newName, "new")
    }
    return (known, property.slot, attribute)
  }

  private func unknown(_ name: String, _ schema: String) -> ContextError {
    ContextError(
      .unknownProperty,
      "a conversion is of \(entity).\(name), which is no attribute of the \(schema) schema",
      context: .init(entity: entity, properties: [name])
    )
  }
}
