/// The first section of a name in a list that changes.
struct SectionOfName {
  let name: String
  /// The position of the section; nil if the list has no section of the name.
  private(set) var number: Int?
  /// True if the position must be searched for: after a reload, and where another section of the same name may be the
  /// first now.
  private(set) var isLost = false

  init(_ name: String, number: Int?) { (self.name, self.number) = (name, number) }

  /// Notes that the position must be searched for.
  mutating func lose() { isLost = true }

  /// Notes the result of the search.
  mutating func find(at number: Int?) { (self.number, isLost) = (number, false) }

  /// Follows a difference of the list. Returns true if it concerns the section. O(k) for k changes.
  mutating func follow(_ changes: ListChanges) -> Bool {
    if isLost || changes.isReload {
      isLost = true
      return true
    }
    let old = number
    let moved = old.flatMap { changes.newNumber(ofSection: $0) }
    let come = changes.insertedSections.first { $0.name.isSame(as: name) }?.section
    if old != nil, moved == nil {
      isLost = true
      return true
    }
    number = [moved, come].compactMap { $0 }.min()
    return number != moved
      || changes.changes.contains { change in
        old != nil && (change.oldPath?.section == old || change.newPath?.section == moved)
      }
  }
}
