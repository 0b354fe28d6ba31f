import Predicates

// Relationships by name. Only objects in one context are linked; a record that is in none leads nowhere.

extension ManagedRecord {
  // MARK: To-one

  /// Returns the object that a to-one relationship leads to; nil for none.
  ///
  /// - Parameters:
  ///   - name: the relationship's name.
  ///   - type: the destination's class where the container has one.
  /// - Throws: `unknownProperty` when the entity has no to-one relationship of this name; `wrongDestination` when it
  ///   leads to objects of another class; the store's error when it can't be read.
  public func object<Object: ManagedObject>(
    _ name: String,
    as type: Object.Type = ManagedRecord.self
  ) throws(ContextError) -> Object? {
    let slot = try toOneSlot(name)
    guard let context else { return nil }
    let destination = try context.destination(of: self, property: slot, name, as: type)
    let number = try target(at: slot, in: context)
    if number.isNone || !hasTarget(number, slot) { return nil }
    try check([number], name, destination, type, in: context)
    return context.object(type, number: number, destination.ordinal)
  }

  /// Sets a to-one relationship to an object or to nil; the inverse follows. A required relationship may be nil until
  /// it is saved.
  ///
  /// - Throws: `unknownProperty` when the entity has no to-one relationship of this name; `wrongDestination` for an
  ///   object of another entity; `otherContext` where one of the two is in another context or in none; `objectNotFound`
  ///   where one is gone.
  public func setObject(_ name: String, to object: (any ManagedObject)?) throws(ContextError) {
    let slot = try toOneSlot(name)
    // A link that an earlier program has made can be removed.
    guard object == nil || hasProperty(name) else { throw unknown(name, "to-one relationship") }
    let context = try linkingContext()
    if let object { try context.checkLink(from: self, property: slot, to: object) }
    let (old, new) = (try target(at: slot, in: context), object?._$state.number ?? .none)
    guard old != new else { return }
    setReference(at: slot, to: new)
    context.didSetToOne(of: self, slot: slot, from: old, to: new)
  }

  /// Throws `wrongDestination` for a link to an object of another class than the one asked for: an earlier program may
  /// have made it.
  private func check(
    _ numbers: [ObjectNumber],
    _ name: String,
    _ destination: StoredEntity,
    _ type: any ManagedObject.Type,
    in context: ManagedObjectContext
  ) throws(ContextError) {
    for number in numbers where !context.isClass(of: number, type, destination.ordinal) {
      let label = destination.label(of: number).name
      throw error(.wrongDestination, name, "leads to \(label) \(number), which is no \(type)")
    }
  }

  private func target(at slot: Int, in context: ManagedObjectContext) throws(ContextError) -> ObjectNumber {
    let value = value(at: slot)
    if !_$state.isLoaded(slot) { try context.checkUsable() }
    return if case .reference(let number) = value { number } else { .none }
  }

  private func toOneSlot(_ name: String) throws(ContextError) -> Int {
    guard let place = _$objectModel.place(of: name), place < _$objectModel.slotCount,
      _$objectModel.visitedProperties[place].isRelationship
    else { throw unknown(name, "to-one relationship") }
    return place
  }

  // MARK: To-many

  /// Returns the objects that a to-many relationship leads to, in their order or that of their insertion: faults, of
  /// which no values are read. O(objects); of many, a query with
  /// ``ManagedObjectContext/forEach(_:inBatchesOf:_:)-(DynamicQuery,_,_)`` keeps few in memory.
  ///
  /// - Parameters:
  ///   - name: the relationship's name.
  ///   - type: the destination's class where the container has one.
  /// - Throws: `unknownProperty` when the entity has no to-many relationship of this name; `wrongDestination` when it
  ///   leads to objects of another class; the store's error when it can't be read.
  public func objects<Object: ManagedObject>(
    _ name: String,
    as type: Object.Type = ManagedRecord.self
  ) throws(ContextError) -> [Object] {
    let place = try toManyPlace(name)
    return try members(of: name, place, type) { $0.elements(of: self, toMany: place) }
  }

  /// Returns the objects at some positions of an ordered relationship, fewer where the list ends. O(log n + positions).
  ///
  /// - Throws: as ``objects(_:as:)``; `unknownProperty` also for a relationship without an order.
  public func objects<Object: ManagedObject>(
    _ name: String,
    at positions: Range<Int>,
    as type: Object.Type = ManagedRecord.self
  ) throws(ContextError) -> [Object] {
    let place = try orderedPlace(name)
    return try members(of: name, place, type) { $0.elements(of: self, toMany: place, at: positions) }
  }

  /// Returns the objects whose numbers `readNumbers` returns, members of a to-many relationship.
  private func members<Object: ManagedObject>(
    of name: String,
    _ place: Int,
    _ type: Object.Type,
    _ readNumbers: (ManagedObjectContext) -> [ObjectNumber]
  ) throws(ContextError) -> [Object] {
    guard let context else { return [] }
    let property = _$objectModel.slotCount + place
    let destination = try context.destination(of: self, property: property, name, as: type)
    noteReading(.toMany(place))
    let numbers = readNumbers(context)
    try context.checkUsable()
    try check(numbers, name, destination, type, in: context)
    return numbers.map { context.object(type, number: $0, destination.ordinal) }
  }

  /// Returns the number of objects that a to-many relationship leads to. O(log n).
  public func count(of name: String) throws(ContextError) -> Int {
    let place = try toManyPlace(name)
    guard let context else { return 0 }
    noteReading(.toMany(place))
    let count = context.elementCount(of: self, toMany: place)
    try context.checkUsable()
    return count
  }

  /// Adds an object to a to-many relationship; one that is a member stays one. O(log n).
  ///
  /// - Throws: `unknownProperty` when the entity has no to-many relationship of this name; `wrongDestination` for an
  ///   object of another entity; `otherContext` where one of the two is in another context or in none; `objectNotFound`
  ///   where one is gone.
  public func add(_ object: any ManagedObject, to name: String) throws(ContextError) {
    let (place, context) = try checkMember(object, name)
    context.add(object, to: self, toMany: place)
  }

  /// Adds an object to an ordered relationship at a position, or moves a member there: the position is that among the
  /// other members. If there are fewer, the object becomes the last one. O(log n).
  ///
  /// - Throws: as ``add(_:to:)``; `unknownProperty` also for a relationship without an order.
  public func insert(
    _ object: any ManagedObject,
    into name: String,
    at position: Int
  ) throws(ContextError) {
    _ = try orderedPlace(name)
    let (place, context) = try checkMember(object, name)
    context.add(object, to: self, toMany: place)
    let others = context.elementCount(of: self, toMany: place) - 1
    context.move([object], to: max(0, min(position, others)), of: self, toMany: place)
    try context.checkUsable()
  }

  /// Removes an object from a to-many relationship, if it is a member. O(log n). Throws as ``add(_:to:)``.
  public func remove(_ object: any ManagedObject, from name: String) throws(ContextError) {
    let place = try toManyPlace(name)
    let context = try linkingContext()
    let property = _$objectModel.slotCount + place
    let destination = context.destination(of: self, property: property)
    // A link that an earlier program has made can be removed, whatever the object's class.
    if object._$state.host === context, context.entity(of: object) === destination {
      return context.remove(object, from: self, toMany: place)
    }
    try context.checkLink(from: self, property: property, to: object)
  }

  private func checkMember(
    _ object: any ManagedObject,
    _ name: String
  ) throws(ContextError) -> (Int, ManagedObjectContext) {
    let place = try toManyPlace(name)
    guard hasProperty(name) else { throw unknown(name, "to-many relationship") }
    let context = try linkingContext()
    try context.checkLink(from: self, property: _$objectModel.slotCount + place, to: object)
    return (place, context)
  }

  private func toManyPlace(_ name: String) throws(ContextError) -> Int {
    guard let place = _$objectModel.place(of: name), place >= _$objectModel.slotCount else {
      throw unknown(name, "to-many relationship")
    }
    return place - _$objectModel.slotCount
  }

  private func orderedPlace(_ name: String) throws(ContextError) -> Int {
    let place = try toManyPlace(name)
    guard
      case .relationship(let relationship) = _$objectModel.visitedProperties[_$objectModel.slotCount + place],
      relationship.isOrdered
    else { throw unknown(name, "ordered to-many relationship") }
    return place
  }

  private func linkingContext() throws(ContextError) -> ManagedObjectContext {
    if let context { return context }
    throw ManagedObjectContext.isOutside(self)
  }
}

extension ManagedObjectContext {
  /// Returns the entity that a relationship of a record in this context leads to.
  ///
  /// - Throws: `wrongDestination` when its objects are of another class than `type`.
  fileprivate func destination(
    of record: ManagedRecord,
    property: Int,
    _ name: String,
    as type: any ManagedObject.Type
  ) throws(ContextError) -> StoredEntity {
    let destination = destination(of: record, property: property)
    let declared = record.entity.property(named: name)?.relationship?.destination ?? destination.name
    guard coordinator.models.hasObjects(of: declared, destination, as: type) else {
      let known = coordinator.models.types[destination.ordinal]
      throw record.error(
        .wrongDestination,
        name,
        "leads to objects of the class \(known), which is no \(type)"
      )
    }
    return destination
  }

  /// Makes the error for an object in no context, which was to be linked.
  static func isOutside(_ object: any ManagedObject) -> ContextError {
    if object._$state.phase != .new { return isGone(object) }
    let name = object._$objectModel.entity.name
    return ContextError(
      .otherContext,
      "a \(name) that is in no context can't be linked by name; insert it first",
      context: .init(entity: name)
    )
  }
}
