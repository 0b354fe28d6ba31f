// What the accessors call of properties that stand for the objects behind links.

extension ManagedObject {
  /// The objects that links lead to, each once, in the order of the links.
  ///
  /// - Parameter name: the name of the property, which conditions know.
  public func _$linked<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ name: String,
    through links: ReferenceWritableKeyPath<Self, Links>,
    to target: ReferenceWritableKeyPath<Links.Element, Members.Element>
  ) -> Members {
    members(name, links) { $0[keyPath: target] }
  }

  /// The same of links that may lead nowhere.
  public func _$linked<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ name: String,
    through links: ReferenceWritableKeyPath<Self, Links>,
    to target: ReferenceWritableKeyPath<Links.Element, Members.Element?>
  ) -> Members {
    members(name, links) { $0[keyPath: target] }
  }

  /// Makes these the objects that links lead to: deletes the links to others, and makes a link to each that has none. In an ordered relationship the links get
  /// the order of the objects.
  public func _$setLinked<Links: RelationshipCollection, Members: RelationshipCollection>(
    _ members: Members,
    through links: ReferenceWritableKeyPath<Self, Links>,
    to target: ReferenceWritableKeyPath<Links.Element, Members.Element>
  ) {
    setMembers(members, links, { $0[keyPath: target] }, { $0[keyPath: target] = $1 })
  }

  /// The same of links that may lead nowhere.
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
    let known = Dictionary(grouping: self[keyPath: links]._relatedObjects) {
      target($0).map(ObjectIdentifier.init)
    }
    let wanted = Set(members.map(ObjectIdentifier.init))
    for (id, links) in known where id.map(wanted.contains) != true {
      for link in links { link.context?.delete(link) }
    }
    self[keyPath: links] = Links(
      _relatedObjects: members.flatMap { member -> [Links.Element] in
        if let links = known[ObjectIdentifier(member)] { return links }
        let link = Links.Element._$makeNew()
        setTarget(link, member)
        return [link]
      }
    )
  }
}

/// The objects, each once.
private func distinct<Object: ManagedObject>(_ objects: [Object]) -> [Object] {
  var seen: Set<ObjectIdentifier> = []
  return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
}
