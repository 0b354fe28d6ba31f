import Predicates

// The unsaved changes of an object, and its values in the context's snapshot.

extension ManagedObject {
  /// The context that the object lives in; nil before its insertion, and after its deletion was saved or the context
  /// was reset.
  public var context: ManagedObjectContext? { _$state.host as? ManagedObjectContext }

  /// The attributes and to-one relationships that were set since the object was inserted, read or saved, with their
  /// current values, by name. For an object that was never saved, all are included. To-many relationships are not
  /// included: their changes are changes of the objects at the other end, or, if many-to-many, of the links between
  /// both.
  public var changedValues: [String: AttributeValue] {
    switch _$state.phase {
    case .inserted: values(in: .all)
    case .persistent, .deleted: values(in: _$state.changed)
    case .new, .gone, .tracer: [:]
    }
  }

  /// All attributes and to-one relationships as the context's snapshot has them, without unsaved changes, by name; of a
  /// child's object, as the parent has them. Empty for an object that doesn't exist in the snapshot.
  ///
  /// If the record can't be read, this is empty, and the context's next fetch or save throws.
  public var committedValues: [String: AttributeValue] {
    guard let context, _$state.phase != .inserted else { return [:] }
    return context.committedValues(of: self, in: .all)
  }

  /// True if a value of the object differs from the one in the context's snapshot. Setting a property to the value that
  /// it had makes no difference. O(properties).
  public var hasPersistentChanges: Bool {
    guard hasChanges, _$state.phase == .persistent else { return hasChanges }
    if context?.hasRelinked(self) == true { return true }
    let committed = context?.committedValues(of: self, in: _$state.changed) ?? [:]
    return changedValues.contains { committed[$0.key] != $0.value } || context?.hasMoved(self) ?? false
  }

  private func values(in slots: SlotSet) -> [String: AttributeValue] {
    guard let properties = context?.entity(of: self).schema.stored else { return [:] }
    var values: [String: AttributeValue] = [:]
    for slot in properties.indices where slots.contains(slot) && properties[slot].kind != .place {
      values[properties[slot].name] = attributeValue(at: slot)
    }
    return values
  }
}

extension ManagedObjectContext {
  /// Returns whether an object has another place in an ordered relationship than in the snapshot.
  fileprivate func hasMoved(_ object: some ManagedObject) -> Bool {
    let entity = entity(of: object)
    if object._$state.changed.isDisjoint(with: entity.placeSlots) { return false }
    return deferringError(false) { () throws(ContextError) in
      guard let bytes = try source.record(object._$state.number, of: entity) else { return false }
      let record = RecordView(validated: bytes, layout: entity.layout)
      return entity.toOnes.compactMap(\.list?.slots.place).contains {
        record.value($0) != object.attributeValue(at: $0)
      }
    }
  }

  /// - Parameter slots: the slots whose values are wanted.
  fileprivate func committedValues(
    of object: some ManagedObject,
    in slots: SlotSet
  ) -> [String: AttributeValue] {
    let entity = entity(of: object)
    return deferringError([:]) { () throws(ContextError) in
      guard let bytes = try source.record(object._$state.number, of: entity) else { return [:] }
      let record = RecordView(validated: bytes, layout: entity.layout)
      var values: [String: AttributeValue] = [:]
      for slot in entity.slots(slots.subtracting(entity.placeSlots)) {
        values[entity.schema.stored[slot].name] = try source.value(of: record, at: slot, entity)
      }
      return values
    }
  }
}
