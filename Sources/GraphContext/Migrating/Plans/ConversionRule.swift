import Foundation
import Predicates

/// A rule for the conversion of an attribute's values when the kind of the attribute changes.
///
/// A value is converted if the new kind can hold it. Numbers keep their value. Between text and numbers, `Bool` or
/// `UUID`, the text is the one that Swift writes and reads, wherever it is stored.
///
/// A `Float` or `Double` becomes the `Decimal` with the digits that Swift writes: the shortest digits that are read
/// as the same `Float` or `Double`. So `Float(0.1)` becomes 0.1, and 0.1 becomes `Float(0.1)`. A whole number that 64
/// bits hold keeps all of its digits.
///
/// A list is converted element by element. A JSON value becomes a list if it is a list of such elements. A list with
/// one element that can't be converted can't be converted as a whole. The rules differ in the treatment of values that
/// can't be converted.
public struct ConversionRule: Sendable {
  private enum Form: Sendable {
    case refusing, clamping, orNil
    case custom(@Sendable (AttributeValue) -> AttributeValue?)
  }
  private let form: Form

  /// An object with a value that can't be converted prevents the migration of the store. All such objects are
  /// listed before the migration begins.
  public static let refusing = ConversionRule(form: .refusing)
  /// A number becomes the nearest number of the new kind. A value that is no number, or can't be converted to one,
  /// becomes nil.
  public static let clamping = ConversionRule(form: .clamping)
  /// A value that can't be converted becomes nil.
  public static let orNil = ConversionRule(form: .orNil)
  /// Makes every value become what `convert` returns: a value of the new kind, or nil.
  public static func custom(
    _ convert: @escaping @Sendable (AttributeValue) -> AttributeValue?
  ) -> ConversionRule { ConversionRule(form: .custom(convert)) }

  var refusesValues: Bool { if case .refusing = form { true } else { false } }

  /// Returns a value, which is not nil, converted for an attribute; nil if the attribute gets none.
  ///
  /// - Parameter source: the attribute that has the value; nil if it isn't known.
  func convert(
    _ value: AttributeValue,
    of source: AttributeDescription?,
    to attribute: AttributeDescription
  ) -> AttributeValue? {
    if case .custom(let convert) = form { return convert(value) }
    guard let kind = attribute.elementKind else {
      return convert(value, of: source?.kind, to: attribute.kind)
    }
    let elementKind = source?.elementKind
    guard case .string(let json) = value,
      let elements = try? ListElements.values(of: json, elementKind ?? kind)
    else { return nil }
    var converted: [AttributeValue] = []
    for element in elements {
      guard let element = element.isNull ? .null : convert(element, of: elementKind, to: kind) else {
        return nil
      }
      converted.append(element)
    }
    return .string(ListText.json(of: converted, kind))
  }

  /// Returns a value, which is neither nil nor a list, converted to a kind; nil if it can't be converted.
  ///
  /// - Parameter source: the kind that the value has; nil if it isn't known.
  func convert(
    _ value: AttributeValue,
    of source: AttributeKind? = nil,
    to kind: AttributeKind
  ) -> AttributeValue? {
    switch form {
    case .refusing, .orNil: kind.converted(value, of: source)
    case .clamping: kind.converted(value, of: source) ?? kind.nearest(to: value)
    case .custom(let convert): convert(value)
    }
  }
}

/// A conversion of one attribute.
struct AttributeConversion: Sendable {
  /// The entity, by its old name.
  let entity: String
  let attribute: String
  let newName: String
  let rule: ConversionRule

  func convert(_ batch: MigrationBatch) throws {
    for object in batch.objects {
      let value = try object[attribute]
      // In the new schema only subclasses may have the attribute: other objects lose their values.
      guard let successor = try batch.successor(of: object), successor.hasProperty(newName) else { continue }
      let attribute = successor.entity.attribute(named: newName)
      // A nil that can't stay one becomes the default, which the successor has.
      if value.isNull, attribute?.isOptional != true || attribute?.isRequiredPart == true { continue }
      var converted: AttributeValue?
      if !value.isNull, let attribute {
        converted = rule.convert(value, of: object.entity.attribute(named: self.attribute), to: attribute)
      }
      try successor.set(newName, to: converted ?? .null)
    }
  }

  /// Returns the entity and the slot of the old values, and the new attribute.
  ///
  /// - Throws: `unknownEntity` or `unknownProperty` if one of the schemas lacks a name of the conversion.
  func resolved(
    in old: ResolvedSchema,
    _ target: CataloguedSchema,
    _ new: Schema
  ) throws(ContextError) -> (StoredEntity, slot: Int, AttributeDescription) {
    guard let known = old.entity(named: entity), let successor = target.entity(known.number) else {
      throw ContextError(
        .unknownEntity,
        "a conversion names \(entity), which is not in both schemas",
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
      "a conversion names \(entity).\(name), which is no attribute of the \(schema) schema",
      context: .init(entity: entity, properties: [name])
    )
  }
}
