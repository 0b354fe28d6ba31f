import Predicates

/// What an object ID says of the object's entity: the number, and a name for people.
///
/// Labels are equal when their numbers are, whatever the names; labels without a number, when their names are.
package enum EntityLabel: Sendable {
  /// An entity whose name this process knows. Copies count no references.
  case known(EntityIdentity)
  /// What a text says of an entity that no schema in this process has. An ID of the form without numbers has a name alone.
  indirect case read(EntityNumber?, name: String)

  package init(_ number: EntityNumber?, name: String) {
    if let number, let tag = NameTags.knownTag(of: name) {
      self = .known(EntityIdentity(number: number.rawValue, nameTag: tag))
    } else {
      self = .read(number, name: name)
    }
  }

  package var number: EntityNumber? {
    switch self {
    case .known(let identity): EntityNumber(rawValue: identity.number)
    case .read(let number, _): number
    }
  }

  package var name: String {
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

  /// The label of such a text. Nil when it is none.
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
