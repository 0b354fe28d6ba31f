import GraphContext

// Names: which of them identify the correct properties and entities for the library.

extension RandomSchema {
  /// An item with a name, now and in the store.
  private struct Named {
    let key: Int
    let name: String
    let originalName: String?
  }

  /// True if names and original names identify everything: each continuing item is found, and no new item is taken
  /// for an old one.
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

  /// Returns true if the store lacks the name, or if the item that had it continues under a name that was given up in
  /// turn.
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
