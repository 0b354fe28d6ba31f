import Predicates

/// The entity in an object ID: the number, and a name for people.
///
/// Labels are equal if their numbers are equal, whatever the names. Labels without a number are equal if their names
/// are equal.
package enum EntityLabel: Sendable {
  /// An entity whose name this process knows. Copies count no references.
  case known(EntityIdentity)
  /// An entity that a text names and no schema in this process has. An ID of the form without numbers has only a name.
  indirect case read(EntityNumber?, name: String)

  init(_ number: EntityNumber?, name: String) {
    if let number, let tag = NameTags.knownTag(of: name) {
      self = .known(EntityIdentity(number: number.rawValue, nameTag: tag))
    } else {
      self = .read(number, name: name)
    }
  }

  var number: EntityNumber? {
    switch self {
    case .known(let identity): EntityNumber(rawValue: identity.number)
    case .read(let number, _): number
    }
  }

  var name: String {
    switch self {
    case .known(let identity): NameTags.name(identity.nameTag)
    case .read(_, let name): name
    }
  }
}

extension EntityLabel: Hashable {
  package static func == (left: EntityLabel, right: EntityLabel) -> Bool {
    left.number == right.number && (left.number != nil || left.name == right.name)
  }

  package func hash(into hasher: inout Hasher) {
    if let number { hasher.combine(number) } else { hasher.combine(name) }
  }
}

extension EntityLabel: CustomStringConvertible {
  /// `Song.7`; of an entity without a number, its name.
  package var description: String { number.map { "\(name).\($0.rawValue)" } ?? name }

  /// Makes the label of such a text. Nil for any other text.
  init?(_ text: Substring) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, !parts[0].isEmpty else { return nil }
    if parts.count == 1 {
      self = .read(nil, name: String(text))
    } else {
      guard let number = UInt32(parts[1]), number > 0 else { return nil }
      self.init(EntityNumber(rawValue: number), name: String(parts[0]))
    }
  }
}
