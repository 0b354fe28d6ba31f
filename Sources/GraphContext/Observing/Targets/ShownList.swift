/// A list as a surface shows it: while the list changes, in the last state that was reported to the surface.
final class ShownList<Object: ManagedObject> {
  let list: FetchedResults<Object>
  /// True if the surface shows the list's own sections; false for one section of all objects.
  private let isDivided: Bool
  /// The state that the surface shows while the list has a newer one; nil while the surface shows the list's state.
  private var held: ListArrangement?
  /// The closure that is called after each change of the list, with the difference between what the surface shows and
  /// the list.
  var onChange: (ListChanges) -> Void = { _ in }

  init(_ list: FetchedResults<Object>, isDivided: Bool) {
    (self.list, self.isDivided) = (list, isDivided)
    list.addObserver(self)
  }

  var arrangement: ListArrangement { held ?? list.arrangement(isDivided: isDivided) }

  /// Returns a section; nil if there is none. If the store can't be read, the context throws the error later.
  func section(_ section: Int) -> SectionRuns.Run? {
    asking(for: section) { state throws(ContextError) in try state.section(section)?.run }
  }

  /// Reads something of a section in the state that the surface shows. The sections that are read for that are kept,
  /// because surfaces ask for neighbours next.
  private func asking<Answer>(
    for section: Int,
    _ question: (inout ListArrangement) throws(ContextError) -> Answer?
  ) -> Answer? {
    guard let context = list.context else { return nil }
    if held == nil, isDivided, !list.hasSection(section) { return nil }
    return context.deferringError(nil) { () throws(ContextError) in
      var state = arrangement
      defer { if held != nil { held = state } }
      return try question(&state)
    }
  }

  /// Returns the ID of the object at a path; nil if there is none.
  func objectID(at path: ListPath) -> ManagedObjectID? {
    asking(for: path.section) { state throws(ContextError) in try state.number(at: path) }.flatMap { number in
      list.context?.id(number, list.list.entity)
    }
  }

  /// Returns the object at a path; nil if there is none, or it was deleted.
  func object(at path: ListPath) -> Object? {
    if held == nil {
      return isDivided ? list[safe: path] : path.section == 0 ? list[safe: path.item] : nil
    }
    guard let context = list.context, let id = objectID(at: path) else { return nil }
    return try? context.existingObject(with: id)
  }

  /// Makes the surface show the state of the list from now on.
  func catchUp() { held = nil }

  /// Tells a target of a difference, and has it show the new state.
  ///
  /// - Parameters:
  ///   - inStages: whether the target receives the difference in several batches.
  ///   - section: the list's section in the target, if it is one.
  func show(_ changes: ListChanges, in target: any ListTarget, inStages: Bool, section: Int? = nil) {
    let batches = inStages ? changes.stages : [changes.batch]
    for (index, batch) in batches.enumerated() {
      let next = index + 1 == batches.count ? nil : arrangement.after(batch, of: changes)
      var told = section.map(batch.inSection) ?? batch
      told.updatedItems.removeAll { !target.isItemVisible(at: $0) }
      if told.isEmpty {
        held = next
        continue
      }
      target.performBatchUpdates {
        held = next
        target.tell(told)
      }
    }
  }
}

extension ShownList: ListObserver {
  func listWillChange(_ list: FetchedResults<Object>) { held = list.arrangement(isDivided: isDivided) }

  func listDidChange(_ list: FetchedResults<Object>, _ changes: ListChanges) {
    onChange(isDivided ? changes : changes.undivided)
    held = nil
  }
}
