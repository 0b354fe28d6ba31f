import Predicates

/// The changes of a context that can be taken back, and those that were taken back.
///
/// The view context has one; another context has one from when the program sets ``ManagedObjectContext/undoManager``.
/// It keeps the earlier values of changed objects, in groups: ``ManagedObjectContext/undo()`` takes one group back,
/// ``ManagedObjectContext/redo()`` makes it again.
///
/// A group holds the changes of one turn (of the main actor, or of a block of a background context), or the changes
/// between ``beginUndoGrouping()`` and ``endUndoGrouping()``. It includes the consequences of a change: the work of
/// delete rules, the former partner of a one-to-one relationship, objects that enter the context with an inserted one,
/// and what a child saves. It includes no change by another context. If another context has changed the same property
/// in between, undoing overwrites that value only where this context had an unsaved or later saved change.
///
/// Undoing after a save changes the objects again, for the next save to store; a deleted object comes back with its ID.
/// A rollback and a reset forget all groups.
public final class ContextUndoManager {
  /// The greatest number of groups that are kept; 0 for any number. The oldest ones go first.
  public var levelsOfUndo = 0 { didSet { trim() } }
  /// The greatest number of bytes that groups may take in memory, about; 64 MiB unless it is set. The oldest ones go
  /// first. A group that needs more by itself can't be undone.
  public var byteLimit = 64 << 20 { didSet { trim() } }
  /// True if changes are registered. Changes made while it is false are in no group, and undoing leaves them alone
  /// where it can.
  public var isRegistrationEnabled = true {
    // Objects announce only the first change of a turn, which may have been before.
    didSet { if isRegistrationEnabled, !oldValue { context?.announceChanges() } }
  }

  private var undoGroups = UndoStack()
  private var redoGroups = UndoStack()
  private var open = UndoGroup()
  /// The depth of explicit groups.
  private var depth = 0
  private var direction = Direction.forward
  private var saveCount = 0
  /// True while hooks change objects that no change of the current group has led to.
  private var ignoresHooks = false
  /// The context whose undo manager this is.
  private(set) weak var context: ManagedObjectContext?

  private enum Direction {
    case forward
    case undoing
    case redoing
  }

  /// Makes a manager, to be set as the ``ManagedObjectContext/undoManager`` of a context.
  public init() {}

  /// True if ``ManagedObjectContext/undo()`` takes something back. A change that makes no difference counts until its
  /// turn is over.
  public var canUndo: Bool { !undoGroups.isEmpty || !open.isEmpty }
  /// True if ``ManagedObjectContext/redo()`` makes something again.
  public var canRedo: Bool { !redoGroups.isEmpty && open.isEmpty }
  /// The number of groups that can be undone. The current changes are not a group yet.
  public var undoCount: Int { undoGroups.count }
  /// The number of groups that can be made again.
  public var redoCount: Int { redoGroups.count }
  /// The name of the group that the next undo takes back.
  public var undoActionName: String? { open.isEmpty ? undoGroups.last?.name : open.name }
  /// The name of the group that the next redo makes again.
  public var redoActionName: String? { redoGroups.last?.name }

  /// Names the group of the current changes.
  public func setActionName(_ name: String?) {
    open.name = name
    // A turn that changes nothing ends, too, and the name with it.
    context?.outermost.scheduleEvent?()
  }

  /// Begins a group that ends with ``endUndoGrouping()``, however many turns pass. Groups may be nested: an inner one
  /// is a part of the outermost.
  public func beginUndoGrouping() {
    if depth == 0 {
      let name = open.isEmpty ? open.name : nil
      context?.processPendingChanges()
      open.name = name
    }
    depth += 1
  }

  /// Ends the group that was begun last. Does nothing if there is none.
  public func endUndoGrouping() {
    guard depth > 0 else { return }
    depth -= 1
    if depth == 0 { context?.processPendingChanges() }
  }

  /// Forgets all groups.
  public func removeAllActions() {
    undoGroups = UndoStack()
    redoGroups = UndoStack()
    open = UndoGroup()
    depth = 0
    context?.announceChanges()
  }
}

// MARK: - Calls by the context

extension ContextUndoManager {
  /// Makes this the manager of a context. Another context that has the manager loses it.
  func enter(_ context: ManagedObjectContext) {
    if let former = self.context, former !== context { former.undoManager = nil }
    self.context = context
    removeAllActions()
  }

  func leave() {
    removeAllActions()
    context = nil
  }

  /// Captures an object before it changes.
  func capture(_ object: any ManagedObject, in context: ManagedObjectContext) {
    let key = context.key(of: object)
    guard registers, !open.contains(key) else { return }
    let phase = object._$state.phase
    guard phase == .inserted || phase == .persistent else {
      var image = UndoGroup.Image(object: object, values: nil)
      if phase == .deleted { image.decidedReferences = context.decidedReferences(ofDeleted: object) }
      return open.add(image, key)
    }
    guard let record = context.recordOfValues(of: object, context.entity(key.entity)) else { return }
    let values = UndoGroup.Values(
      record: record,
      changed: object._$state.changed,
      isSaved: phase == .persistent,
      saveCount: saveCount
    )
    open.add(UndoGroup.Image(object: object, values: values), key)
  }

  /// Captures the entry of an object, after it has entered the context.
  func captureEntry(of object: any ManagedObject, _ key: ObjectKey) {
    guard registers, !open.contains(key) else { return }
    open.add(UndoGroup.Image(object: object, values: nil), key)
  }

  /// Notes the decided references of an object that a replay has brought back: the group that takes the replay back
  /// deletes the object again, under the same rules.
  func noteDecidedReferences(_ slots: SlotSet, of key: ObjectKey) {
    open.noteDecidedReferences(slots, of: key)
  }

  func capture(_ pair: UndoGroup.Pair) { if registers { open.add(pair) } }

  /// Captures the place of a link of an ordered relationship, before the link is added, removed or moved.
  ///
  /// - Parameter place: the place that the link has; nil for a link that isn't there.
  func capture(_ place: ListPlace?, of end: PairEnd) { if registers { open.add(place, of: end) } }

  private var registers: Bool { isRegistrationEnabled && !ignoresHooks }

  /// Runs hooks before a save. Their changes belong to the current group. If that group is empty, the changes follow
  /// from those of earlier groups, and are in no group. A group of their own would have to be undone first, and would
  /// end redo.
  func includingHooks<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result
  {
    ignoresHooks = open.isEmpty
    defer {
      ignoresHooks = false
      // Objects announce only the first change of a turn, which may have been a hook's.
      context?.announceChanges()
    }
    return try body()
  }

  /// Forgets the groups up to the last one that touches new objects which a save has unified with existing ones. The
  /// later ones stay.
  ///
  /// - Parameter unified: the numbers of the objects, by the entity's ordinal.
  func forgetGroups(touching unified: [[ObjectNumber: ObjectNumber]], _ schema: ResolvedSchema) {
    if open.touches(unified, schema) {
      (undoGroups, redoGroups, open) = (UndoStack(), UndoStack(), UndoGroup())
    }
    undoGroups.forget(throughLast: { $0.touches(unified, schema) })
    redoGroups.forget(throughLast: { $0.touches(unified, schema) })
  }

  /// Replaces unified objects by the existing ones among the targets of references that the groups have set. Called
  /// after ``noteSave(in:)``, which notes the targets of the open group as they were before the save.
  func redirectReferences(_ unified: [[ObjectNumber: ObjectNumber]], _ schema: ResolvedSchema) {
    undoGroups.redirectReferences(unified, schema)
    redoGroups.redirectReferences(unified, schema)
    open.redirectReferences(unified, schema)
  }

  /// Ends explicit groups that are open.
  func endGroups() { depth = 0 }

  /// Notes that a save stores the unsaved changes. Called before the objects become saved ones.
  func noteSave(in context: ManagedObjectContext) {
    open.noteSave(in: context)
    saveCount += 1
  }

  /// Returns true if a save lies between an image of these values and now.
  func wasSaved(since values: UndoGroup.Values) -> Bool { values.saveCount != saveCount }

  /// Notes that the delete rules of a save have deleted objects in the store.
  func noteDeletions(by rules: RuleChanges, _ schema: ResolvedSchema) {
    open.noteDeletions(by: rules, schema)
  }

  /// Loads values that the images of changed objects only refer to, before the context moves to a state that may lack
  /// them.
  func willMove(in context: ManagedObjectContext, _ changeSets: [ChangeSet], _ rules: RuleChanges) {
    open.loadExternals(in: context) { key in
      let number = context.entity(key.entity).number
      if rules.objects[number]?.deleted.contains(key.number) == true { return true }
      return changeSets.contains {
        $0.objects[number]?.deleted.contains(sorted: key.number, by: \.self) == true
      }
    }
  }

  /// Ends a turn: its changes are a group, unless they belong to one that is still open.
  func endEvent(in context: ManagedObjectContext) {
    if depth == 0 { closeGroup(in: context) } else { open.loadExternals(in: context) }
  }

  private func closeGroup(in context: ManagedObjectContext) {
    if open.isEmpty, direction == .forward { return open = UndoGroup() }
    var group = open
    // Changes by hooks of the objects that are read belong to the next group.
    open = UndoGroup()
    let isChanged = group.close(in: context, saveCount: saveCount)
    switch direction {
    case .forward:
      if !isChanged { return }
      redoGroups = UndoStack()
      undoGroups.append(group)
    // Empty if the replay made no difference: others have deleted the objects.
    case .redoing: if !group.isEmpty { undoGroups.append(group) }
    case .undoing: if !group.isEmpty { redoGroups.append(group) }
    }
    trim()
  }

  /// Forgets the oldest groups that are beyond the limits.
  private func trim() {
    undoGroups.trim(levels: levelsOfUndo, byteLimit: byteLimit)
    redoGroups.trim(levels: levelsOfUndo, byteLimit: byteLimit)
  }

  /// Takes the last group back. Returns false if there is none.
  func undo(in context: ManagedObjectContext) -> Bool {
    guard let group = undoGroups.popLast() else { return false }
    replay(group, .undoing, in: context)
    return true
  }

  /// Makes the group again that was taken back last. Returns false if there is none.
  func redo(in context: ManagedObjectContext) -> Bool {
    guard let group = redoGroups.popLast() else { return false }
    replay(group, .redoing, in: context)
    return true
  }

  /// Replays a group. The changes of the replay are the group that takes it back.
  private func replay(_ group: UndoGroup, _ direction: Direction, in context: ManagedObjectContext) {
    self.direction = direction
    let wasEnabled = isRegistrationEnabled
    isRegistrationEnabled = true
    defer {
      self.direction = .forward
      isRegistrationEnabled = wasEnabled
    }
    open.name = group.name
    UndoReplay(context, group, self).run()
    closeGroup(in: context)
  }
}

@available(*, unavailable, message: "an undo manager stays with its context")
extension ContextUndoManager: Sendable {}
