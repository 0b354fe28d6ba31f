import Predicates
import TestSupport

/// An index of the oracle's: the columns, and how the strings among them are folded.
struct PlainIndex {
  var columns: [String]
  var folding = PlainFolding.none
  var isUnique = false
}

/// The ways in which the fetched entity is indexed.
enum PlainIndexing: CaseIterable {
  case none, each, compound, folded, unique

  func indexes(_ world: PlainWorld, _ random: inout SeededGenerator) -> [PlainIndex] {
    let attributes = world.attributes[PlainWorld.fetched] ?? []
    let names = attributes.map(\.name) + ["place"]
    func compound(_ count: Int) -> [PlainIndex] {
      (0..<count).map { _ in
        let columns = Array(names.shuffled(using: &random).prefix(random.number(in: 2...3)))
        return PlainIndex(columns: columns, folding: random.pick(PlainFolding.allCases))
      }
    }
    switch self {
    case .none: return []
    case .each: return names.map { PlainIndex(columns: [$0]) }
    case .compound: return compound(6)
    case .folded:
      let strings = attributes.filter { $0.kind == .string }.map(\.name)
      return compound(2)
        + strings.flatMap { name in
          PlainFolding.allCases.map { PlainIndex(columns: [name], folding: $0) }
        } + names.filter { !strings.contains($0) }.map { PlainIndex(columns: [$0]) }
    case .unique:
      let others = names.filter { $0 != PlainWorld.serial }
      return [
        PlainIndex(columns: [PlainWorld.serial], isUnique: true),
        PlainIndex(columns: [PlainWorld.serial, random.pick(others)], isUnique: true),
      ] + others.map { PlainIndex(columns: [$0, PlainWorld.serial], isUnique: true) }
    }
  }
}
