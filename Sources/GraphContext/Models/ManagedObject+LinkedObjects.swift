// Functions that the accessors call of properties which stand for the objects behind links.

extension ManagedObject {
  /// Returns the objects that links lead to, each once, in the order of the links.
  ///
  /// - Parameter name: the name of the property, which conditions know.
  public func _$linked<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ name: String,
    through links: ReferenceWritableKeyPath<Self, Links>,
    to target: ReferenceWritableKeyPath<Links.Element, Members.Element>
  ) -> Members {
    members(name, links) { $0[keyPath: target] }
  }

  /// Returns the objects that links lead to, where a link may lead nowhere.
  public func _$linked<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ name: String,
    through links: ReferenceWritableKeyPath<Self, Links>,
    to target: ReferenceWritableKeyPath<Links.Element, Members.Element?>
  ) -> Members {
    members(name, links) { $0[keyPath: target] }
  }

  /// Makes these the objects that links lead to: deletes the links to others, and makes a link to each that has none.
  /// In an ordered relationship the links get the order of the objects.
  public func _$setLinked<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ members: Members,
    through links: ReferenceWritableKeyPath<Self, Links>,
    to target: ReferenceWritableKeyPath<Links.Element, Members.Element>
  ) {
    setMembers(members, links, { $0[keyPath: target] }, { $0[keyPath: target] = $1 })
  }

  /// Makes these the objects that links lead to, where a link may lead nowhere.
  public func _$setLinked<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ members: Members,
    through links: ReferenceWritableKeyPath<Self, Links>,
    to target: ReferenceWritableKeyPath<Links.Element, Members.Element?>
  ) {
    setMembers(members, links, { $0[keyPath: target] }, { $0[keyPath: target] = $1 })
  }

  private func members<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ name: String,
    _ links: ReferenceWritableKeyPath<Self, Links>,
    _ target: (Links.Element) -> Members.Element?
  ) -> Members {
    if _$state.phase == .tracer {
      return Members(_relatedObjects: [tracer.touchMany(of: self, named: name)])
    }
    return Members(_relatedObjects: distinct(self[keyPath: links]._relatedObjects.compactMap(target)))
  }

  private func setMembers<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ members: Members,
    _ links: ReferenceWritableKeyPath<Self, Links>,
    _ target: (Links.Element) -> Members.Element?,
    _ setTarget: (Links.Element, Members.Element) -> Void
  ) {
    let members = distinct(members._relatedObjects)
    let wanted = Set(members.map(ObjectIdentifier.init))
    // A link that leads to no object stays.
    let all = self[keyPath: links]._relatedObjects
    let kept = all.filter { link in target(link).map { wanted.contains(ObjectIdentifier($0)) } ?? true }
    let known = Dictionary(grouping: kept) { target($0).map(ObjectIdentifier.init) }
    let lacking = members.filter { known[ObjectIdentifier($0)] == nil }
    let new = lacking.map { _ in Links.Element._$makeNew() }
    let ordered: [Links.Element]
    if Members._isOrdered {
      let added = Dictionary(uniqueKeysWithValues: zip(lacking.map(ObjectIdentifier.init), new))
      ordered =
        members.flatMap { member in
          let id = ObjectIdentifier(member)
          return known[id] ?? added[id].map { [$0] } ?? []
        } + (known[nil] ?? [])
    } else {
      ordered = kept + new
    }
    let remaining = Set(kept.map(ObjectIdentifier.init))
    for link in all where !remaining.contains(ObjectIdentifier(link)) { link.context?.delete(link) }
    self[keyPath: links] = Links(_relatedObjects: ordered)
    // A link is in the owner's context before it leads anywhere: an object of another context is refused there, and
    // gets no link.
    for (link, member) in zip(new, lacking) { setTarget(link, member) }
  }
}

/// Returns the objects, each once.
private func distinct<Object: ManagedObject>(_ objects: [Object]) -> [Object] {
  var seen: Set<ObjectIdentifier> = []
  return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
}
