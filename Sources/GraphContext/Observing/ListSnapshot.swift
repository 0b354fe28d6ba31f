import Foundation
import Predicates

/// The objects of a list at one moment, as IDs: a value to keep, to compare and to send anywhere. 8 bytes for each
/// object.
public struct ListSnapshot<Object: ManagedObject>: Sendable {
  private let numbers: [ObjectNumber]
  private let entity: StoredEntity
  private let storeID: UUID
  private let runs: SectionRuns?

  init(_ numbers: [ObjectNumber], _ entity: StoredEntity, _ storeID: UUID, _ runs: SectionRuns?) {
    (self.numbers, self.entity, self.storeID, self.runs) = (numbers, entity, storeID, runs)
  }
}

extension ListSnapshot: RandomAccessCollection {
  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { numbers.count }

  /// Returns the ID of the object at a position, which must exist.
  public subscript(position: Int) -> ManagedObjectID {
    entity.objectID(numbers[position], in: storeID)
  }
}

extension ListSnapshot {
  /// Returns the ID of the object at a position; nil if there is none.
  public subscript(safe position: Int) -> ManagedObjectID? {
    indices.contains(position) ? self[position] : nil
  }

  /// Returns the ID of the object at a path, which must exist: `snapshot[section: 1, item: 2]`. O(√sections).
  public subscript(section section: Int, item item: Int) -> ManagedObjectID {
    guard let id = self[safe: ListPath(section: section, item: item)] else {
      fatalError("the snapshot has no item \(item) in a section \(section)")
    }
    return id
  }

  /// Returns the ID of the object at a path, which must exist. O(√sections).
  public subscript(path: ListPath) -> ManagedObjectID { self[section: path.section, item: path.item] }

  /// Returns the ID of the object at a path; nil if there is none. O(√sections).
  public subscript(safe path: ListPath) -> ManagedObjectID? {
    guard path.section >= 0, path.section < sectionCount else { return nil }
    let range = section(path.section).range
    return path.item >= 0 && path.item < range.count ? self[range.lowerBound + path.item] : nil
  }

  /// Returns the position of an object; nil if it isn't in the snapshot. O(n).
  public func position(of id: ManagedObjectID) -> Int? {
    numbers.firstIndex(of: id.number).flatMap { self[$0] == id ? $0 : nil }
  }

  /// Returns the path of an object; nil if it isn't in the snapshot. O(n).
  public func path(of id: ManagedObjectID) -> ListPath? { position(of: id).map(path(of:)) }

  /// Returns the objects of a section, which must exist, as a snapshot without sections. O(objects of the section).
  public func snapshot(ofSection section: Int) -> ListSnapshot {
    ListSnapshot(Array(numbers[self.section(section).range]), entity, storeID, nil)
  }
}

extension ListSnapshot {
  /// The number of sections: one for a list that isn't divided.
  public var sectionCount: Int { runs?.count ?? 1 }

  /// Returns the name of a section, which must exist, and the positions of its objects. O(√sections).
  public func section(_ index: Int) -> (name: String, range: Range<Int>) {
    guard let runs else { return ("", 0..<numbers.count) }
    // A damaged index may count more objects than there are.
    let (run, start) = (runs[index], Swift.min(runs.start(of: index), numbers.count))
    return (run.name, start..<Swift.min(start + run.count, numbers.count))
  }

  /// Returns the path of a position, which must exist. O(√sections).
  public func path(of position: Int) -> ListPath { runs?.path(of: position) ?? ListPath(item: position) }

  /// Returns the changes that turn another snapshot of the list into this one. Changed values aren't known: objects
  /// that keep their position among the others and their section are in no change. Sections of one name that keep their
  /// order stay; others go and come, and their objects move. O(n log n) for the part between the common beginning and
  /// the common end of the two, and O(n) for a list with sections.
  public func changes(from old: ListSnapshot) -> ListChanges {
    var result = ListChanges([], origin: .store)
    (result.deletedSections, result.insertedSections) = Self.sections(of: old.allNames, to: allNames)
    let touched = numbersInOtherSections(than: old, result)
    let positions = PositionDifference.changes(from: old.numbers, to: numbers, touched: touched)
    result.changes = positions.map { change in
      ListChanges.Change(
        objectID: entity.objectID(change.number, in: storeID),
        oldPath: change.old.map { old.path(of: $0) },
        newPath: change.new.map { path(of: $0) },
        oldPosition: change.old,
        newPosition: change.new,
        isMove: change.isMove || touched.contains(change.number),
        changedProperties: []
      )
    }
    return result
  }

  /// Returns the sections that go and those that come. Sections of one name that ascend in both orders stay.
  private static func sections(
    of old: [String],
    to new: [String]
  ) -> (gone: [ListChanges.SectionChange], come: [ListChanges.SectionChange]) {
    // A name may come again: the first section of a name is the first in the other order, too.
    var places: [[UInt8]: [Int]] = [:]
    for (section, name) in new.enumerated().reversed() {
      places[Array(name.utf8), default: []].append(section)
    }
    let common = old.enumerated().compactMap { section, name in
      places[Array(name.utf8)]?.popLast().map { (old: section, new: $0) }
    }
    let isKept = LongestAscent.indices(of: common.map(\.new))
    let stays = zip(common, isKept).filter { $0.1 }.map { $0.0 }
    func changes(_ names: [String], without staying: [Int]) -> [ListChanges.SectionChange] {
      let staying = Set(staying)
      return names.enumerated().filter { !staying.contains($0.offset) }
        .map { ListChanges.SectionChange(section: $0.offset, name: $0.element) }
    }
    return (changes(old, without: stays.map(\.old)), changes(new, without: stays.map(\.new)))
  }

  /// Returns the objects that both snapshots have, but in different sections.
  private func numbersInOtherSections(than old: ListSnapshot, _ changes: ListChanges) -> Set<ObjectNumber> {
    if runs == nil, old.runs == nil { return [] }
    var sections: [ObjectNumber: Int?] = [:]
    for index in 0..<old.sectionCount {
      let new = changes.newNumber(ofSection: index)
      for number in old.numbers[old.section(index).range] { sections[number] = .some(new) }
    }
    var others: Set<ObjectNumber> = []
    for index in 0..<sectionCount {
      for number in numbers[section(index).range] {
        if let new = sections[number], new != index { others.insert(number) }
      }
    }
    return others
  }

  /// The names of the sections; a list that isn't divided has one name, too.
  private var allNames: [String] { runs?.names ?? [""] }

  /// The names of the sections; none for a list that isn't divided. A name comes again where the list's order separates
  /// its objects.
  public var sectionNames: [String] { runs?.names ?? [] }
}

extension ListSnapshot: Hashable {
  /// Returns whether the objects, their order and the sections are the same.
  public static func == (left: ListSnapshot, right: ListSnapshot) -> Bool {
    left.storeID == right.storeID && left.entity.number == right.entity.number
      && left.numbers == right.numbers
      && left.runs?.all == right.runs?.all
  }

  /// Feeds the store, the entity and the objects.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(storeID)
    hasher.combine(entity.number)
    hasher.combine(numbers)
  }
}
