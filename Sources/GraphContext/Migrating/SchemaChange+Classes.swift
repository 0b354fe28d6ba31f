import Predicates

// Classes that inherit from each other. A store may get more classes. Its existing classes stay as they are,
// because the numbers of their objects have the classes' tags. A stage that makes objects anew may change
// everything.

extension SchemaChange {
  /// Returns the classes of an entity after the change: first those that the store has, then new ones.
  mutating func classes(
    of match: SchemaMatching.Entity,
    _ entity: CataloguedEntity,
    among matching: SchemaMatching
  ) -> [CataloguedClass] {
    let known = match.old?.classes ?? []
    let described = match.description.classes
    guard !described.isEmpty else {
      if !known.isEmpty {
        note(entity.name, nil, "\(entity.name) has classes in the store and none in the models")
      }
      return []
    }
    // The root class belongs to the entity.
    let subclasses = Array(described.dropFirst())
    let matches = SchemaMatching.matches(
      subclasses.map { ($0.name, $0.originalName) },
      known: known.dropFirst().map(\.name)
    )
    let classes = match.classes(continuing: matches)
    noteTakenNames(of: described, entity, matching)
    for (member, known) in zip(subclasses, matches) where known == nil {
      noteLostEntity(of: member, entity, matching)
    }
    noteKnownClasses(subclasses, matches, entity)
    noteNewFlags(of: described, match, entity)
    if let old = match.old { noteChanges(from: old, to: classes, match, entity) }
    return classes
  }

  /// Notes that a separate entity can't become a subclass: the numbers and records of its objects belong to another
  /// tree.
  private mutating func noteTakenNames(
    of described: [ClassDescription],
    _ entity: CataloguedEntity,
    _ matching: SchemaMatching
  ) {
    for member in described.dropFirst() where !isMadeAnew(member, entity) {
      guard let taken = old.entity(named: member.name), !matching.continues(taken) else { continue }
      note(
        member.name,
        nil,
        "\(member.name) is an entity of its own in the store, and can't become a subclass of \(entity.name)"
      )
    }
  }

  /// Refuses a new class whose original name is that of a separate entity, if no other entity continues that
  /// entity: its objects would be lost.
  private mutating func noteLostEntity(
    of member: ClassDescription,
    _ entity: CataloguedEntity,
    _ matching: SchemaMatching
  ) {
    guard !isMadeAnew(member, entity), let original = member.originalName,
      let lost = old.entity(named: original), !matching.continues(lost)
    else { return }
    note(
      member.name,
      nil,
      "\(original) is an entity of its own in the store, and can't become the subclass \(member.name) of \(entity.name)"
    )
  }

  private func isMadeAnew(_ member: ClassDescription, _ entity: CataloguedEntity) -> Bool {
    madeAnew.contains(member.name) || madeAnew.contains(entity.name)
  }

  /// Refuses entities and classes that were a subclass of another entity in the store, by their names or original
  /// names: their objects would be lost, or stay where they are.
  mutating func noteLostClasses(_ matching: SchemaMatching, isEmpty: (CataloguedEntity) -> Bool) {
    for owner in old.entities where !owner.classes.isEmpty && !isEmpty(owner) {
      let continued = matching.entities.first { $0.old?.number == owner.number }?.description
      let kept = Set((continued?.classes ?? []).flatMap { [$0.name, $0.originalName ?? $0.name] })
      let lost = Set(owner.classes.dropFirst().map(\.name)).subtracting(kept)
      for match in matching.entities where match.old?.number != owner.number {
        let root = match.description
        // An original name doesn't count for an entity or class that continues one of the store.
        noteLost(lost, of: owner, (root.name, match.old == nil ? root.originalName : nil), in: root)
        let known = Set((match.old?.classes ?? []).map(\.name))
        for member in root.classes.dropFirst() {
          let original = known.contains(member.name) ? nil : member.originalName
          noteLost(lost, of: owner, (member.name, original), in: root)
        }
      }
    }
  }

  private mutating func noteLost(
    _ lost: Set<String>,
    of owner: CataloguedEntity,
    _ heir: (name: String, originalName: String?),
    in root: EntityDescription
  ) {
    guard !madeAnew.contains(heir.name), !madeAnew.contains(root.name),
      let former = [heir.name, heir.originalName].compactMap(\.self).first(where: lost.contains)
    else { return }
    let place = heir.name == root.name ? "an entity" : "a subclass of \(root.name)"
    note(
      heir.name,
      nil,
      "\(former) is a subclass of \(owner.name) in the store, and \(heir.name) can't become \(place)"
    )
  }

  /// Refuses to make a subclass anew if the store has it: a stage copies its objects with those of the other
  /// classes.
  private mutating func noteKnownClasses(
    _ members: [ClassDescription],
    _ matches: [Int?],
    _ entity: CataloguedEntity
  ) {
    for (member, match) in zip(members, matches) where match != nil && madeAnew.contains(member.name) {
      note(
        member.name,
        nil,
        "\(member.name) is a subclass of \(entity.name) in the store as well: only the whole of \(entity.name) can be made anew"
      )
    }
  }

  /// Refuses to make a required embedded value of a subclass optional. The flag that says whether the value is there is
  /// new then, and it would have to be set in the objects of this class alone.
  private mutating func noteNewFlags(
    of described: [ClassDescription],
    _ match: SchemaMatching.Entity,
    _ entity: CataloguedEntity
  ) {
    if match.isEmpty { return }
    for member in described.dropFirst() {
      for name in member.properties where match.property(named: name).map(match.wasAlwaysThere) ?? false {
        note(
          entity.name,
          name,
          "\(member.name).\(name) can't become optional: it is an embedded value of a subclass,"
            + " and the store may have objects with it"
        )
      }
    }
  }

  private mutating func noteAbstractRoot(
    of classes: [CataloguedClass],
    _ match: SchemaMatching.Entity,
    _ entity: CataloguedEntity
  ) {
    guard classes[0].isAbstract, !match.isEmpty else { return }
    note(entity.name, nil, "\(entity.name) can't become abstract: the store has objects of it")
  }

  /// Refuses changes that the classes of an entity of the store can't undergo.
  private mutating func noteChanges(
    from old: CataloguedEntity,
    to classes: [CataloguedClass],
    _ match: SchemaMatching.Entity,
    _ entity: CataloguedEntity
  ) {
    if old.classes.isEmpty {
      noteAbstractRoot(of: classes, match, entity)
    } else {
      noteChanges(of: old.classes, to: classes, match, entity)
    }
    if !match.isEmpty { noteMovedProperties(from: old, to: classes, entity) }
  }

  private mutating func noteChanges(
    of known: [CataloguedClass],
    to classes: [CataloguedClass],
    _ match: SchemaMatching.Entity,
    _ entity: CataloguedEntity
  ) {
    let byTag = classes.dictionary(by: \.tag)
    for former in known {
      guard let member = byTag[former.tag] else {
        note(
          entity.name,
          nil,
          "\(former.name) is a subclass of \(entity.name) in the store and not in the models"
        )
        continue
      }
      if member.parent != former.parent {
        note(entity.name, nil, "\(member.name) has another superclass than in the store")
      }
      if member.isAbstract, !former.isAbstract, !match.isEmpty {
        note(entity.name, nil, "\(member.name) can't become abstract: the store may have objects of it")
      }
      noteRequirements(of: former, member, match, entity)
    }
  }

  /// Refuses properties that move between classes: existing objects would keep values that their classes don't
  /// declare.
  private mutating func noteMovedProperties(
    from old: CataloguedEntity,
    to classes: [CataloguedClass],
    _ entity: CataloguedEntity
  ) {
    let owners = old.ownersOfProperties
    for member in classes {
      for number in member.properties where owners[number].map({ $0 != member.tag }) ?? false {
        let name = entity.property(number)?.name ?? ""
        note(entity.name, name, "\(member.name).\(name) is a property of another class in the store")
      }
    }
  }

  /// Refuses new requirements for which existing objects may have no values. In an entity that a custom stage
  /// rebuilds, notes a check of the values instead.
  private mutating func noteRequirements(
    of former: CataloguedClass,
    _ member: CataloguedClass,
    _ match: SchemaMatching.Entity,
    _ entity: CataloguedEntity
  ) {
    if match.isEmpty { return }
    for number in member.required
    where !former.required.contains(number) && entity.property(number)?.derivation == nil {
      if rebuilt.contains(entity.name) {
        checks.append(.noNil(entity: entity.number, number))
        continue
      }
      let name = entity.property(number)?.name ?? ""
      note(
        entity.name,
        name,
        "\(member.name).\(name) is required, and objects in the store may have no value for it"
      )
    }
  }
}

extension SchemaMatching.Entity {
  /// Returns the classes, by tag.
  ///
  /// - Parameter matches: for each subclass, the index of the subclass of the store that it continues; nil for a new
  ///   one.
  fileprivate func classes(continuing matches: [Int?]) -> [CataloguedClass] {
    let tags = tagsOfClasses(continuing: matches)
    var classes = description.classes.map { member in
      CataloguedClass(
        tag: tags[member.name, default: 0],
        name: member.name,
        parent: member.parent.flatMap { tags[$0] },
        isAbstract: member.isAbstract,
        properties: member.properties.compactMap { property(named: $0)?.number },
        required: member.required.compactMap { property(named: $0)?.number }
      )
    }
    .sorted { $0.tag < $1.tag }
    let known = (old?.classes ?? []).dictionary(by: \.tag)
    for place in classes.indices.dropFirst() { classes[place].keepFirstName(of: known[classes[place].tag]) }
    return classes
  }

  /// Returns the tags of the classes, by name: those of the store, and then new ones.
  private func tagsOfClasses(continuing matches: [Int?]) -> [String: UInt16] {
    let known = old?.classes ?? []
    let knownSubclasses = Array(known.dropFirst())
    var tags: [String: UInt16] = [description.name: 0]
    var nextTag = UInt16(max(known.count, 1))
    for (member, match) in zip(description.classes.dropFirst(), matches) {
      if let match {
        tags[member.name] = knownSubclasses[match].tag
      } else {
        tags[member.name] = nextTag
        nextTag += 1
      }
    }
    return tags
  }
}

extension CataloguedEntity {
  /// The tags of the classes that declare the properties. Without subclasses all properties are the root's.
  fileprivate var ownersOfProperties: [PropertyNumber: UInt16] {
    let owners =
      classes.isEmpty
      ? properties.map { ($0.number, 0) }
      : classes.flatMap { member in member.properties.map { ($0, member.tag) } }
    return Dictionary(owners, uniquingKeysWith: { first, _ in first })
  }

  /// Removes the values for existing objects from properties that are new to subclasses: objects of other classes
  /// would get these values, too. A new part of an embedded value that the store has, and that may be nil, keeps
  /// its value: only objects that have the embedded value get it.
  ///
  /// - Parameter old: the entity as the store has it; nil for a new one.
  mutating func forgetDefaultsOfSubclasses(continuing old: CataloguedEntity?) {
    let known = Set((old?.properties ?? []).map(\.number))
    let owned = Set(classes.dropFirst().flatMap(\.properties)).subtracting(known)
    for place in properties.indices where owned.contains(properties[place].number) {
      let flag = properties[place].flag(among: properties).map { properties[$0].number }
      if flag.map(known.contains) != true { properties[place].absentValue = .null }
    }
  }
}
