import Predicates

// Values by the names along a key path.

extension ManagedObject {
  /// Returns the value at the end of a key path of names: an attribute of this object, or of one that to-one
  /// relationships lead to.
  ///
  /// ```swift
  /// let artist = try song.value(forKeyPath: "album.artist.name")
  /// ```
  ///
  /// A part of an embedded value is an attribute, too: `"home.city"`. The value is `null` for nil, and if a
  /// relationship on the way leads nowhere. A to-one relationship at the end gives the `reference` to its object.
  ///
  /// - Throws: `unknownProperty` for a name that the entity there doesn't have, and for a to-many relationship;
  ///   `otherContext` for an object in no context; the store's error when it can't be read.
  public func value(forKeyPath keyPath: String) throws(ContextError) -> AttributeValue {
    guard let context = _$state.host as? ManagedObjectContext else {
      throw ManagedObjectContext.isOutside(self)
    }
    var names = keyPath.split(separator: ".", omittingEmptySubsequences: false)[...]
    var object: any ManagedObject = self
    // Several names together may be that of a part of an embedded value.
    while names.count > 1, object._$objectModel.place(of: names.joined(separator: ".")) == nil {
      let slot = try object.slot(named: String(names.removeFirst()), of: keyPath, isOnTheWay: true)
      object.noteReading(.slot(slot))
      let number = object.reference(at: slot)
      try context.checkUsable()
      if number.isNone || !object.hasTarget(number, slot) { return .null }
      object = context.object(number, of: context.destination(of: object, property: slot))
    }
    let slot = try object.slot(named: names.joined(separator: "."), of: keyPath)
    object.noteReading(.slot(slot))
    let value = object.attributeValue(at: slot)
    try context.checkUsable()
    return value
  }

  /// - Parameter isOnTheWay: whether further names follow.
  private func slot(
    named name: String,
    of keyPath: String,
    isOnTheWay: Bool = false
  ) throws(ContextError) -> Int {
    let model = _$objectModel
    if let place = model.place(of: name), place < model.slotCount, !model.visitedProperties[place].isPlace,
      !isOnTheWay || model.visitedProperties[place].isRelationship
    {
      return place
    }
    let sort = isOnTheWay ? "to-one relationship" : "attribute or to-one relationship"
    throw ContextError(
      .unknownProperty,
      "\(model.entity.name) has no \(sort) named “\(name)”, which stands in “\(keyPath)”",
      context: .init(entity: model.entity.name, objectID: objectID, properties: [name])
    )
  }
}
