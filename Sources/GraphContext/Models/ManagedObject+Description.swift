import Foundation
import Predicates

extension ManagedObject {
  /// The object for a debugger or a log, with the attributes that it has in memory:
  /// `Song/42 title: "Carey", seconds: 182`.
  ///
  /// Reads nothing from the store: an object whose record is not at hand is shown as a `fault`. Values that are stored
  /// externally are left out, and long ones are cut after 40 characters.
  public var debugDescription: String {
    let number = _$state.number.isNone ? "new" : "\(_$state.number)"
    return "\(entityLabel.name)/\(number)\(phaseText) \(attributesText)".trimmed
  }

  private var phaseText: String {
    switch _$state.phase {
    case .inserted: " inserted"
    case .deleted: " deleted"
    case .gone: " gone"
    case .new, .persistent, .tracer: ""
    }
  }

  private var attributesText: String {
    if _$state.phase == .tracer { return "" }
    let hasRecord = _$state.currentRecord != nil
    let values = _$objectModel.visitedProperties.enumerated().compactMap { slot, property -> String? in
      guard case .attribute(let attribute) = property, !attribute.kind.isExternal else { return nil }
      guard hasRecord || _$state.isLoaded(slot) else { return nil }
      return "\(property.name): \(attributeValue(at: slot).shortText)"
    }
    let isFault = _$state.phase == .persistent && !hasRecord && values.isEmpty
    return isFault ? "fault" : values.joined(separator: ", ")
  }
}

extension AttributeValue {
  /// The value for people, cut after 40 characters.
  fileprivate var shortText: String {
    switch self {
    case .uuid(let value): value.uuidString.lowercased()
    case .string(let value) where value.count > 40: "\"\(value.prefix(40))…\""
    case .reference(let number): "\(number)"
    default: description
    }
  }
}

extension String {
  fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
