import GraphContext

// Names: which of them lead the library to what is meant.

extension RandomSchema {
  /// What has a name, now and in the store.
  private struct Named {
    let key: Int
    let name: String
    let originalName: String?
  }

  /// Whether names and original names say everything: what goes on is found, and what is new takes nobody's place.
  var isRecognisable: Bool {
    let entities = draft.entities.map { Named(key: $0.key, name: $0.name, originalName: $0.originalName) }
    return isRecognisable(entities) && areClassesRecognisable
      && draft.entities.allSatisfy { entity in
        isRecognisable(
          entity.properties.map { Named(key: $0.key, name: $0.name, originalName: $0.originalName) },
          among: entity.key
        )
          && isRecognisable(
            entity.classes.map { Named(key: $0.key, name: $0.name, originalName: $0.originalName) },
            among: Self.ownerOfClasses(entity.key)
          )
      }
  }

  /// Returns true if no new class has the name of one that the store has in another entity.
  private var areClassesRecognisable: Bool {
    let known = storedNames.filter { storedOwners[$0.key].map { $0 < 0 } ?? false }
    return draft.entities.allSatisfy { entity in
      entity.classes.allSatisfy { member in
        known.allSatisfy { key, name in
          name != member.name || storedOwners[key] == Self.ownerOfClasses(entity.key)
        }
      }
    }
  }

  private func isRecognisable(_ items: [Named], among entity: Int? = nil) -> Bool {
    let hints = items.compactMap { $0.originalName == $0.name ? nil : $0.originalName }
    guard Set(items.map(\.name)).count == items.count, Set(hints).count == hints.count else { return false }
    let known = storedKeys(among: entity)
    return items.allSatisfy { item in
      let stored = storedNames[item.key]
      if stored == item.name { return true }
      if let stored, item.originalName != stored { return false }
      return isGivenUp(item.name, items, known)
    }
  }

  /// The keys of the entities that the store has, or of an entity's properties, by name.
  private func storedKeys(among entity: Int?) -> [String: Int] {
    let owners = storedOwners
    var keys: [String: Int] = [:]
    for (key, name) in storedNames where owners[key] == entity { keys[name] = key }
    return keys
  }

  /// Whether the store lacks the name, or what had it goes on under one of which the same holds.
  private func isGivenUp(_ name: String, _ items: [Named], _ known: [String: Int]) -> Bool {
    var name = name
    for _ in 0...items.count {
      guard let owner = known[name] else { return true }
      guard let item = items.first(where: { $0.key == owner }), item.name != name else { return false }
      name = item.name
    }
    return false
  }
}
