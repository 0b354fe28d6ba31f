import Predicates

/// The changes that one undo takes back: the earlier values of changed objects, the pairs that were linked and
/// unlinked, and the earlier places of links.
struct UndoGroup {
  /// A change of a many-to-many link, seen from the owner. The other end is a pair of its own.
  struct Pair {
    let end: PairEnd
    let isLinked: Bool
  }

  /// An object as it was.
  struct Image {
    let object: any ManagedObject
    /// The values; nil for an object that did not exist.
    var values: Values?
    /// The slots that the group has set. Other changes of the object are not this group's.
    var slots = SlotSet.empty
    /// The slots that saves in the group have stored.
    var savedSlots = SlotSet.empty
    /// True if a save in the group has stored the insertion, or the deletion.
    var isInsertionSaved = false
    var isDeletionSaved = false
    /// True if a slot that the context itself may have set has another value after the group than before.
    var hasOtherValues = false
    /// True if the object exists after the group.
    var isThereAfter = true
    /// The slots of the references whose rules deny nothing when a replay deletes the object. For an object that the
    /// group has inserted, all references; for one that it has deleted, those that led nowhere then, or that were
    /// decided on before.
    var decidedReferences = SlotSet.all
    /// For an object that did not exist before the group: the targets of its references whose delete rules aren't
    /// `nullify`, as the group has set them, by slot.
    var leftReferences: [Int: ObjectNumber] = [:]

    /// The approximate number of bytes that the image takes in memory.
    var byteCount: Int { 160 + (values?.record.count ?? 0) + 32 * leftReferences.count }
  }

  struct Values {
    /// All values, as a record.
    var record: [UInt8]
    /// The slots that had unsaved changes.
    let changed: SlotSet
    let isSaved: Bool
    /// The number of saves before the image. A later save has stored the changes that were unsaved.
    let saveCount: Int
  }

  private static let pairByteCount = 48
  private static let placeByteCount = 96

  var name: String?
  private(set) var images: [ObjectKey: Image] = [:]
  private(set) var pairs: [Pair] = []
  /// The places that links in an order had before the first change by the group; nil for links that didn't exist.
  private(set) var places: [PairEnd: ListPlace?] = [:]
  /// The approximate number of bytes that the group takes in memory.
  private(set) var byteCount = 0

  var isEmpty: Bool { images.isEmpty && pairs.isEmpty && places.isEmpty }

  /// Returns whether the group has changed one of these objects, or would make an object lead to one. O(images).
  ///
  /// - Parameter unified: the numbers of the objects, by the entity's ordinal.
  func touches(_ unified: [[ObjectNumber: ObjectNumber]], _ schema: ResolvedSchema) -> Bool {
    func isUnified(_ number: ObjectNumber, _ ordinal: Int) -> Bool { unified[ordinal][number] != nil }
    func leads(_ end: PairEnd) -> Bool {
      let destination = schema.entities[end.entity].toManys[end.position].destination
      return isUnified(end.owner, end.entity) || isUnified(end.element, destination)
    }
    if pairs.contains(where: { leads($0.end) }) || places.keys.contains(where: leads) { return true }
    return images.contains { key, image in
      if isUnified(key.number, key.entity) { return true }
      guard let values = image.values else { return false }
      let entity = schema.entities[key.entity]
      return values.record.withUnsafeBytes { bytes in
        let record = RecordView(validated: bytes, layout: entity.layout)
        return entity.toOnes.contains { isUnified(record.reference($0.slot), $0.destination) }
      }
    }
  }

  /// Replaces unified objects by the existing ones among the targets of ``Image/leftReferences``. O(images).
  mutating func redirectReferences(_ unified: [[ObjectNumber: ObjectNumber]], _ schema: ResolvedSchema) {
    for (key, image) in images where !image.leftReferences.isEmpty {
      images[key]?.leftReferences = image.leftReferences.redirected(
        unified,
        from: schema.entities[key.entity]
      )
    }
  }

  func contains(_ key: ObjectKey) -> Bool { images[key] != nil }

  mutating func add(_ image: Image, _ key: ObjectKey) {
    images[key] = image
    byteCount += image.byteCount
  }

  private mutating func removeImage(of key: ObjectKey) {
    if let image = images.removeValue(forKey: key) { byteCount -= image.byteCount }
  }

  private mutating func replaceImage(of key: ObjectKey, by image: Image) {
    removeImage(of: key)
    add(image, key)
  }

  /// Reads the values that the images of changed objects only refer to, because a save may remove them.
  ///
  /// - Parameter goes: whether the object is about to be deleted below the context, and its values with it.
  mutating func loadExternals(
    in context: ManagedObjectContext,
    where goes: (ObjectKey) -> Bool = { _ in false }
  ) {
    for (key, image) in images where !context.entity(key.entity).externalSlots.isEmpty {
      var image = image
      let object = context.knownObject(key.number, of: context.entity(key.entity))
      let isGoing = object?._$state.phase == .deleted || goes(key)
      image.loadExternals(in: context, key, isGoing ? .all : object?._$state.changed ?? .empty)
      replaceImage(of: key, by: image)
    }
  }

  /// Notes, in the group of a replay, the decided references that the replayed group has of an object that it brings
  /// back.
  mutating func noteDecidedReferences(_ slots: SlotSet, of key: ObjectKey) {
    images[key]?.decidedReferences = slots
  }

  mutating func add(_ pair: Pair) {
    pairs.append(pair)
    byteCount += Self.pairByteCount
  }

  /// - Parameter place: nil for a link that isn't there.
  mutating func add(_ place: ListPlace?, of end: PairEnd) {
    guard places[end] == nil else { return }
    places.updateValue(place, forKey: end)
    byteCount += Self.placeByteCount
  }

  /// Notes which changes of the group a save stores: afterwards they are no longer unsaved. Called before the objects
  /// become saved ones. O(images).
  mutating func noteSave(in context: ManagedObjectContext) {
    for (key, image) in images {
      guard let object = context.knownObject(key.number, of: context.entity(key.entity)) else { continue }
      var image = image
      image.noteReferences(of: object, in: context)
      switch object._$state.phase {
      case .persistent: image.savedSlots.formUnion(object._$state.changed)
      case .inserted:
        image.isInsertionSaved = true
        if let values = image.values {
          image.savedSlots.formUnion(values.slots(thatDifferFrom: object, in: context, key))
        }
      case .deleted: image.isDeletionSaved = true
      default: continue
      }
      replaceImage(of: key, by: image)
    }
  }

  /// Notes which objects the delete rules of a save have deleted in the store: that is the group's work, too.
  /// O(images).
  mutating func noteDeletions(by rules: RuleChanges, _ schema: ResolvedSchema) {
    for key in images.keys
    where rules.objects[schema.entities[key.entity].number]?.deleted.contains(key.number) == true {
      images[key]?.isDeletionSaved = true
    }
  }

  /// Compares every object with its image: notes what the group has changed, and forgets objects and pairs that are as
  /// they were. Changes that others have saved while the group was open don't belong to it.
  ///
  /// - Returns: false if the context shows everything as before: then there is nothing to take back.
  mutating func close(in context: ManagedObjectContext, saveCount: Int) -> Bool {
    forgetPassingPairs()
    forgetKeptPlaces(in: context)
    var isChanged = !pairs.isEmpty || !places.isEmpty
    for (key, image) in images {
      var image = image
      image.isThereAfter = context.isThere(key)
      let known = context.knownObject(key.number, of: context.entity(key.entity))
      // A fault of an object that isn't there has no values.
      let object = image.isThereAfter || known?._$state.phase != .persistent ? known : nil
      if !image.isThereAfter, image.isDeletedByOthers(object) {
        removeImage(of: key)
        continue
      }
      if let object { image.noteReferences(of: object, in: context) }
      if let values = image.values, let object {
        // The values that the image refers to may have been removed with the object.
        let gone = image.isThereAfter ? .empty : context.entity(key.entity).externalSlots
        let own = image.ownSlots(values, of: object).subtracting(gone)
        let different = values.slots(among: own, thatDifferFrom: object, in: context, key)
        image.hasOtherValues = !different.isEmpty
        image.slots = different
        if values.isSaved, values.saveCount == saveCount, object._$state.phase == .persistent {
          image.slots.formUnion(values.changed.symmetricDifference(object._$state.changed))
        }
        // An embedded value that changes to or from nil changes in all its parts.
        for value in context.entity(key.entity).embeddedValues where image.slots.contains(value.flag) {
          image.slots.formUnion(value.slots)
        }
      }
      let isMoved = image.isThereAfter != (image.values != nil)
      if isMoved || !image.slots.isEmpty {
        image.loadExternals(in: context, key, image.isThereAfter ? image.slots : .all)
        replaceImage(of: key, by: image)
      } else {
        removeImage(of: key)
      }
      isChanged = isChanged || isMoved || image.hasOtherValues
    }
    return isChanged
  }

  /// Forgets the places of links that didn't exist before the group, or that have the same place as before.
  private mutating func forgetKeptPlaces(in context: ManagedObjectContext) {
    if places.isEmpty { return }
    let count = places.count
    defer { byteCount -= (count - places.count) * Self.placeByteCount }
    let unlinked = Set(pairs.lazy.filter { !$0.isLinked }.map(\.end))
    places = places.filter { end, place in
      place != nil && (unlinked.contains(end) || place != context.place(of: end))
    }
  }

  /// Forgets pairs that were linked and unlinked again, or the other way round. The last change of any other pair is as
  /// good as all of them.
  private mutating func forgetPassingPairs() {
    let count = pairs.count
    defer { byteCount -= (count - pairs.count) * Self.pairByteCount }
    // Two changes in a row may be the same, because others have taken the first one back. So the number of changes
    // doesn't tell whether the pair is as it was before the first one.
    var first: [PairEnd: Bool] = [:]
    for pair in pairs where first[pair.end] == nil { first[pair.end] = pair.isLinked }
    var kept: [Pair] = []
    for pair in pairs.reversed() {
      if first.removeValue(forKey: pair.end) == pair.isLinked { kept.append(pair) }
    }
    pairs = kept.reversed()
  }
}

extension UndoGroup.Image {
  /// Notes what a replay has to know of the references of an object that it deletes. Called before each save in the
  /// group, and at its end.
  fileprivate mutating func noteReferences(of object: any ManagedObject, in context: ManagedObjectContext) {
    if object._$state.phase == .deleted {
      decidedReferences = context.decidedReferences(ofDeleted: object)
    } else if isThereAfter, values == nil {
      // References that others have set since a save of the group are not as the group has left them.
      let own = isInsertionSaved ? object._$state.changed : .all
      for toOne in context.entity(of: object).toOnes
      where toOne.deleteRule != .nullify && own.contains(toOne.slot) {
        leftReferences[toOne.slot] = object.reference(at: toOne.slot)
      }
    }
  }

  /// Returns whether others have deleted the object, and the context hasn't.
  fileprivate func isDeletedByOthers(_ object: (any ManagedObject)?) -> Bool {
    guard values?.isSaved == true || isInsertionSaved else { return false }
    return !isDeletionSaved && object?._$state.phase != .deleted
  }

  /// Returns the slots that the context itself may have set since the image was made.
  fileprivate func ownSlots(_ values: UndoGroup.Values, of object: any ManagedObject) -> SlotSet {
    guard object._$state.phase == .persistent else { return .all }
    return object._$state.changed.union(savedSlots).union(values.changed)
  }

  /// Reads values that the image only refers to. A value that can't be read is not given back.
  fileprivate mutating func loadExternals(
    in context: ManagedObjectContext,
    _ key: ObjectKey,
    _ slots: SlotSet
  ) {
    let entity = context.entity(key.entity)
    guard !entity.externalSlots.isDisjoint(with: slots), let values else { return }
    // Others may have replaced what the group hadn't changed yet and the image refers to: until then the context has
    // shown theirs.
    let unchanged =
      values.isSaved ? entity.externalSlots.subtracting(values.changed.union(savedSlots)) : .empty
    var encoder = RecordEncoder(layout: entity.layout)
    // The encoder owns the bytes that are copied: it must not end before.
    defer { encoder.removeAll() }
    let loaded = context.deferringError([UInt8]?.none) { () throws(ContextError) in
      let present = unchanged.isEmpty ? nil : try context.source.record(key.number, of: entity)
      let result = values.record.withUnsafeBytes { bytes in
        Result { () throws(ContextError) in
          let record = RecordView(validated: bytes, layout: entity.layout)
          let foreign = SlotSet(unchanged.filter { record.externalReference($0) != nil })
          guard let present, !foreign.isEmpty else {
            // Others may have deleted the object, and the values that it referred to are removed.
            let isGone =
              !foreign.isEmpty && !context.canLoad(record, in: slots.intersection(foreign), of: entity)
            let readable = isGone ? slots.subtracting(foreign) : slots
            return try context.source.loaded(record, in: readable, of: entity, &encoder).map { [UInt8]($0) }
          }
          let theirs = RecordView(validated: present, layout: entity.layout)
          let patched = UnsafeRawBufferPointer(encoder.encode(record, patchedBy: theirs, in: foreign))
          let shown = RecordView(validated: patched, layout: entity.layout)
          return [UInt8](try context.source.loaded(shown, in: slots, of: entity, &encoder) ?? patched)
        }
      }
      return try result.get()
    }
    if let loaded { self.values?.record = loaded }
  }
}

extension ManagedObjectContext {
  /// Returns whether the values can be read that a record refers to.
  fileprivate func canLoad(_ record: RecordView, in slots: SlotSet, of entity: StoredEntity) -> Bool {
    var encoder = RecordEncoder(layout: entity.layout)
    defer { encoder.removeAll() }
    do throws(ContextError) {
      _ = try source.loaded(record, in: slots, of: entity, &encoder)
      return true
    } catch {
      return error.code != .corrupt
    }
  }
}

extension UndoGroup.Values {
  /// Returns the slots that have other values in an object now. Derived values are left out: they are no
  /// changes of the object's own.
  ///
  /// - Parameter slots: the slots to compare. Other slots may refer to values that are no longer stored.
  func slots(
    among slots: SlotSet = .all,
    thatDifferFrom object: any ManagedObject,
    in context: ManagedObjectContext,
    _ key: ObjectKey
  ) -> SlotSet {
    let entity = context.entity(key.entity)
    guard let now = context.recordOfValues(of: object, entity) else { return .empty }
    return record.withUnsafeBytes { old in
      now.withUnsafeBytes { new in
        let (old, new) = (
          RecordView(validated: old, layout: entity.layout),
          RecordView(validated: new, layout: entity.layout)
        )
        let own = slots.subtracting(entity.derivedSlots)
        return context.source.slots(in: own, of: new, thatDifferFrom: old, entity)
      }
    }
  }
}

extension ManagedObjectContext {
  /// Returns all values of an object as a record; nil if they can't be read.
  func recordOfValues(of object: any ManagedObject, _ entity: StoredEntity) -> [UInt8]? {
    if object._$state.phase == .persistent, object._$state.changed.isEmpty {
      return object.findRecord().map { Array($0) }
    }
    // One that others have deleted has the attributes of its class, and leads nowhere where it isn't changed.
    let attributes = entity.ownSlots(of: object._$state.number).subtracting(entity.referenceSlots)
    let isLoaded = entity.slotsByPlace.allSatisfy { slot in
      !attributes.contains(slot) || object._$state.isLoaded(slot)
    }
    if !isLoaded, object.findRecord() == nil { return nil }
    var encoder = RecordEncoder(layout: entity.layout)
    encoder.begin()
    encoder.setValues(of: object, entity)
    let record = Array(encoder.finish())
    // The encoder owns the bytes that were copied: it must not end before.
    encoder.removeAll()
    return record
  }
}
