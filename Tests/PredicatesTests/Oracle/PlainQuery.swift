import TestSupport

@testable import Predicates

/// A sort of the oracle's: keys, then the object's number in the direction of the last key.
struct PlainSort {
  var path: [String]
  var isAscending: Bool
}

/// A query of the oracle's, and its answer.
struct PlainQuery {
  var predicate: PlainPredicate
  var sort: [PlainSort]
  var limit: Int?
  var offset: Int
  /// All objects that match, by number.
  var matches: [UInt64]
  /// The numbers of the matching objects, in order, within the limit.
  var answer: [UInt64]

  init(_ world: PlainWorld, _ random: inout SeededGenerator) {
    predicate = world.predicate(depth: random.pick([0, 1, 1, 2]), using: &random)
    sort = world.sort(using: &random)
    limit = random.chance(1, in: 2) ? random.number(in: 0...12) : nil
    // Most of the queries get an additional condition, so that each access path pays for every kind of condition.
    switch random.number(in: 0...8) {
    case 0: predicate = .all([world.someObjects(using: &random), predicate])
    case 1: predicate = .all([world.point(using: &random), predicate])
    case 2:
      predicate = .any([
        .all([world.point(using: &random), predicate]), .all([world.point(using: &random), predicate]),
      ])
    case 5: predicate = .all([world.point(using: &random), world.point(using: &random), predicate])
    case 4: predicate = .all([world.foldedCondition(using: &random), predicate])
    case 3:
      sort = [PlainSort(path: world.ownPath(using: &random).names, isAscending: random.chance(1, in: 2))]
      limit = random.number(in: 0...3)
    default: break
    }
    offset = random.chance(1, in: 3) ? random.number(in: 0...20) : 0
    let matching = world.things.filter { [predicate] in predicate.holds(PlainScene(world, $0)) }
    matches = matching.map(\.number)
    let rest = world.sorted(matching, by: sort).dropFirst(offset)
    answer = (limit.map { rest.prefix($0) } ?? rest).map(\.number)
  }

  /// Whether it matches neither nothing nor everything.
  func isPartial(in world: PlainWorld) -> Bool { !matches.isEmpty && matches.count < world.things.count }
}

extension PlainWorld {
  fileprivate func sorted(_ things: [PlainObject], by sort: [PlainSort]) -> [PlainObject] {
    let isIDAscending = sort.last?.isAscending ?? true
    let rows = things.map { thing in
      (thing: thing, keys: sort.map { PlainScene(self, thing).value($0.path) })
    }
    return rows.sorted { a, b in
      for (place, key) in sort.enumerated() {
        if Plain.precedes(a.keys[place], b.keys[place]) { return key.isAscending }
        if Plain.precedes(b.keys[place], a.keys[place]) { return !key.isAscending }
      }
      return isIDAscending ? a.thing.number < b.thing.number : a.thing.number > b.thing.number
    }.map(\.thing)
  }
}
