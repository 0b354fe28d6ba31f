import Predicates

/// The changes of the objects that a context shows, between one event and the next, or in a save.
///
/// An object counts as updated if an attribute, a to-one relationship, or a link of a many-to-many relationship has
/// changed. The members of a to-many relationship whose inverse is a to-one are changes of the members. An object that
/// came and went between two events is in no list. Each list ascends by entity, in the schema's order, and by number.
/// An ID is in one of the lists only.
///
/// ``changedProperties`` names the properties that code has set in a context, even to an equal value, and those that a
/// commit has stored with other values. A commit of another context may have stored a property that has an unsaved
/// change here: it is named, and the context continues to show its own value. An object that was deleted and came back
/// by an undo or in one of several commits may have other values in each property that is named.
public struct ObjectChanges: Sendable, Equatable {
  /// The origin of changes.
  public enum Origin: Sendable, Hashable {
    /// Code that works in the context.
    case context
    /// A child context that has saved to this one.
    case child
    /// The parent context, which has changed in one of these ways.
    case parent
    /// Commits that were made outside the context and that it now shows.
    case store
    /// ``ManagedObjectContext/undo()`` and ``ManagedObjectContext/redo()``.
    case undo
    /// ``ManagedObjectContext/rollback()``.
    case rollback
    /// ``ManagedObjectContext/reset()``.
    case reset
  }

  /// The origin of the changes.
  public internal(set) var origin: Origin
  /// The ``ManagedObjectContext/name`` of the context whose event this is.
  public internal(set) var contextName: String?
  /// The ``ManagedObjectContext/author`` of the commits that the changes come from, where all have the same one; of a
  /// save, that of its context. nil for changes that no commit has stored. With an author of its own in its context, a
  /// program tells its changes from those of others.
  public internal(set) var author: String?
  /// Objects that exist now and did not before.
  public internal(set) var inserted: [ManagedObjectID] = []
  /// Objects with other values or links.
  public internal(set) var updated: [ManagedObjectID] = []
  /// Of each updated object, the names of the attributes and relationships that have changed, sorted. See
  /// ``ObjectChanges``.
  public internal(set) var changedProperties: [ManagedObjectID: [String]] = [:]
  /// Objects that existed before and no longer do.
  public internal(set) var deleted: [ManagedObjectID] = []
  /// Objects whose values are read anew, although they were not set in the context: after a rollback, when the program
  /// asked for it, or when a save has unified a new object with one of them.
  public internal(set) var refreshed: [ManagedObjectID] = []
  /// Of a save: the IDs of new objects that it has unified with existing ones, and the IDs of the existing ones.
  public internal(set) var aliases: [ManagedObjectID: ManagedObjectID] = [:]
  /// True after a reset: every object has left the context, and the lists are empty.
  public internal(set) var invalidatesAll = false

  init(origin: Origin, contextName: String?) {
    self.origin = origin
    self.contextName = contextName
  }

  /// True if there is nothing to tell.
  public var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && !invalidatesAll
  }
}

/// The changes that a child saves to its parent. The child isn't told of these again. It is told of other changes that
/// they cause in the parent, which may have changed since the child read its objects.
final class HandedOver {
  let child: ManagedObjectContext
  /// The changes by object and property. They are computed when a listener needs them.
  private(set) lazy var changes = child.changes(of: request)
  private let request: SaveRequest
  /// Objects whose references the parent has set otherwise than the child.
  fileprivate private(set) var changedFurther: Set<ManagedObjectID> = []

  init(_ request: SaveRequest, of child: ManagedObjectContext) {
    self.request = request
    self.child = child
  }

  /// Notes that the parent sets a reference to keep an inverse. O(log n).
  func noteReference(at slot: Int, of number: ObjectNumber, _ entity: StoredEntity) {
    let changes = request.entities[entity.ordinal]
    if let index = changes.patchIndex(of: number), changes.updated[index].slots.contains(slot) {
      return
    }
    changedFurther.insert(child.id(number, entity))
  }
}

extension ObjectChanges {
  /// Adds the changes of the next event. An object may be in several lists then.
  mutating func append(_ others: ObjectChanges) {
    origin = others.origin
    if author != others.author { author = nil }
    let names = namesTogether(others)
    inserted += others.inserted
    updated += others.updated
    deleted += others.deleted
    refreshed += others.refreshed
    changedProperties = names
    invalidatesAll = invalidatesAll || others.invalidatesAll
  }

  /// Returns the names of the properties that two events have changed. There are none for an object that one event
  /// inserts, deletes or refreshes: any of its properties may differ.
  private func namesTogether(_ others: ObjectChanges) -> [ManagedObjectID: [String]] {
    var names = changedProperties
    let unnamed = others.changedProperties.isEmpty ? [] : Set(inserted + deleted + refreshed)
    for (id, others) in others.changedProperties where !unnamed.contains(id) {
      names[id] = names[id].map { Set($0).union(others).sorted() } ?? others
    }
    for id in others.inserted + others.deleted + others.refreshed { names[id] = nil }
    return names
  }

  /// Takes objects out of the updated ones.
  mutating func removeUpdated(where isRemoved: (ManagedObjectID) -> Bool) {
    updated.removeAll { id in
      guard isRemoved(id) else { return false }
      changedProperties[id] = nil
      return true
    }
  }

  /// Returns the changes without those that a child has handed over. If the child has deleted objects, delete rules may
  /// have changed more of an updated object here than the child knows of.
  func without(_ handedOver: HandedOver) -> ObjectChanges {
    let others = handedOver.changes
    let ids = Set(others.inserted + others.deleted + (others.deleted.isEmpty ? others.updated : []))
    var rest = self
    rest.inserted.removeAll(where: ids.contains)
    rest.removeUpdated { ids.contains($0) && !handedOver.changedFurther.contains($0) }
    rest.deleted.removeAll(where: ids.contains)
    return rest
  }
}

/// The change of an object from one state of a context to a later one.
enum ObjectChange {
  case inserted
  case updated(ChangedProperties)
  case deleted
  case refreshed
}

extension ManagedObjectContext {
  func changes(
    _ changes: some Sequence<(key: ObjectKey, value: ObjectChange)>,
    _ origin: ObjectChanges.Origin
  ) -> ObjectChanges {
    var result = ObjectChanges(origin: origin, contextName: name)
    var names = ChangedPropertyNames()
    for (key, change) in changes.sorted(by: { $0.key < $1.key }) {
      let id = id(key.number, entity(key.entity))
      switch change {
      case .inserted: result.inserted.append(id)
      case .updated(let properties):
        result.updated.append(id)
        result.changedProperties[id] = names.names(of: properties, entity(key.entity))
      case .deleted: result.deleted.append(id)
      case .refreshed: result.refreshed.append(id)
      }
    }
    return result
  }

  /// Returns the combined changes of commits.
  func changes(_ changeSets: [ChangeSet], _ origin: ObjectChanges.Origin) -> ObjectChanges {
    var combined = CombinedChanges(in: coordinator.schema)
    for changes in changeSets {
      // Links first: an object that this commit deletes isn't updated by the links that it loses.
      for (relationship, links) in changes.links { note(links, of: relationship, in: &combined) }
      for (number, objects) in changes.objects {
        guard let entity = coordinator.schema.entity(number)?.ordinal else { continue }
        for number in objects.deleted { combined.note(ObjectKey(entity: entity, number: number), .deleted) }
        for number in objects.inserted { combined.note(ObjectKey(entity: entity, number: number), .inserted) }
        for update in objects.updated {
          let properties = ChangedProperties(slots: update.slots)
          combined.note(ObjectKey(entity: entity, number: update.number), .updated(properties))
        }
      }
    }
    var changes = self.changes(combined.changes, origin)
    let authors = Set(changeSets.lazy.filter { !$0.isEmpty }.map(\.author))
    if authors.count == 1 { changes.author = authors.first ?? nil }
    return changes
  }

  /// Returns the changes that a child hands over to its parent.
  func changes(of request: SaveRequest) -> ObjectChanges {
    var combined = CombinedChanges(in: coordinator.schema)
    for changes in request.entities {
      let ordinal = changes.entity.ordinal
      func note(_ number: ObjectNumber, _ change: ObjectChange) {
        combined.note(ObjectKey(entity: ordinal, number: number), change)
      }
      for record in changes.inserted { note(record.number, .inserted) }
      for patch in changes.updated { note(patch.number, .updated(ChangedProperties(slots: patch.slots))) }
      for number in changes.deleted { note(number, .deleted) }
    }
    // A link is pending at both of its ends.
    for pairs in request.pairs where !pairs.relationship.isHidden {
      for owner in pairs.owners {
        combined.noteLinked(
          ObjectKey(entity: pairs.source.ordinal, number: owner),
          by: pairs.relationship.ordinal
        )
      }
    }
    return changes(combined.changes, .context)
  }

  /// The unsaved changes of the context. Hooks, delete rules and merge policies may add to them during a save.
  var unsavedChanges: ObjectChanges {
    var combined = CombinedChanges(in: coordinator.schema)
    for ordinal in entities.indices {
      let changed = entities[ordinal].changes
      func note(_ objects: [any ManagedObject], _ change: (any ManagedObject) -> ObjectChange) {
        for object in objects {
          combined.note(ObjectKey(entity: ordinal, number: object._$state.number), change(object))
        }
      }
      note(changed.inserted) { _ in .inserted }
      note(updatedObjects(of: ordinal)) { object in
        let pairs = entities[ordinal].relinkedPositions(of: object._$state.number)
        return .updated(ChangedProperties(slots: object._$state.changed, pairs: pairs))
      }
      note(changed.deleted) { _ in .deleted }
    }
    return changes(combined.changes, .context)
  }

  private func note(
    _ links: ChangeSet.Links,
    of relationship: ChangeSet.Relationship,
    in combined: inout CombinedChanges
  ) {
    links.forEachEnd(of: relationship, in: coordinator.schema) { key, position in
      combined.noteLinked(key, by: position)
    }
  }
}

extension ChangeSet.Links {
  /// Calls `body` with both ends of each link, as far as programs see a relationship there: the object, and the
  /// relationship's position. O(links).
  func forEachEnd(
    of relationship: ChangeSet.Relationship,
    in schema: ResolvedSchema,
    _ body: (ObjectKey, _ position: Int) -> Void
  ) {
    forEachLink(of: relationship, in: schema) { end, _ in
      body(ObjectKey(entity: end.entity, number: end.owner), end.position)
    }
    // The order is the owner's.
    guard let (source, toMany, _) = schema.pairs(of: relationship), !toMany.isHidden else { return }
    for owner in reordered { body(ObjectKey(entity: source.ordinal, number: owner), toMany.ordinal) }
  }

  /// Calls `body` with both ends of each link that was added or removed, as far as programs see a relationship there.
  /// O(links).
  func forEachLink(
    of relationship: ChangeSet.Relationship,
    in schema: ResolvedSchema,
    _ body: (PairEnd, _ isLinked: Bool) -> Void
  ) {
    guard let (source, toMany, trees) = schema.pairs(of: relationship) else { return }
    for (links, isLinked) in [(added, true), (removed, false)] {
      for link in links {
        let (owner, element) = (link.owner, link.element)
        let end = PairEnd(entity: source.ordinal, position: toMany.ordinal, owner: owner, element: element)
        if !toMany.isHidden { body(end, isLinked) }
        guard let inverse = trees.inverse, !toMany.hasHiddenInverse else { continue }
        let other = PairEnd(entity: toMany.destination, position: inverse, owner: element, element: owner)
        // An object may be linked to itself by a relationship that is its own inverse.
        if other != end { body(other, isLinked) }
      }
    }
  }
}

/// The changes of several commits, in their order, as one change of each object.
struct CombinedChanges {
  private(set) var changes: [ObjectKey: ObjectChange] = [:]
  private let schema: ResolvedSchema

  init(in schema: ResolvedSchema) { self.schema = schema }

  mutating func note(_ key: ObjectKey, _ change: ObjectChange) {
    switch (changes[key], change) {
    case (.inserted, .deleted): changes[key] = nil
    case (.inserted, _): break
    case (.deleted, .inserted): changes[key] = .updated(.all(of: schema.entities[key.entity]))
    case (.updated(var properties), .updated(let others)):
      properties.formUnion(others)
      changes[key] = .updated(properties)
    default: changes[key] = change
    }
  }

  /// Notes an end of a link as updated, unless it was inserted or deleted.
  mutating func noteLinked(_ key: ObjectKey, by position: Int) {
    switch changes[key] {
    case .inserted, .deleted: break
    case nil, .updated, .refreshed: note(key, .updated(ChangedProperties(pairs: [position])))
    }
  }
}
