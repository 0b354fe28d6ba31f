import Foundation
import TestSupport

@testable import Predicates

/// Random queries for flights, and others of the same shape.
struct RandomQueries {
  var random: SeededGenerator

  private static let paths: [String] = [
    "month", "day", "seats", "depTime", "delay", "distance", "fare", "tailnum", "title", "status", "departed",
    "landed", "token", "blob", "isLate", "isFull", "origin", "dest", "origin.faa", "origin.altitude",
    "origin.city.title", "dest.objectID", "objectID",
  ]

  /// Returns a query of a new or an earlier shape.
  mutating func query() -> NamedQuery {
    let depth = random.number(in: 0...3)
    var sort: [NamedSort] = []
    for _ in 0..<random.pick([0, 0, 1, 2]) {
      sort.append(NamedSort(names(), ascending: random.chance(1, in: 2)))
    }
    return NamedQuery(
      predicate: tree(depth: depth),
      sort: sort,
      limit: random.chance(1, in: 2) ? random.number(in: 0...20) : nil,
      offset: random.pick([0, 0, 7])
    )
  }

  /// The same query with other values.
  mutating func another(_ query: NamedQuery) -> NamedQuery {
    var query = query
    query.predicate = another(query.predicate)
    query.limit = random.chance(1, in: 2) ? random.number(in: 0...20) : nil
    return query
  }

  // MARK: Trees

  private mutating func tree(depth: Int) -> PredicateTree {
    if depth == 0 || random.chance(1, in: 4) { return leaf() }
    let children = (0..<random.number(in: 2...4)).map { _ in tree(depth: depth - 1) }
    return switch random.number(in: 0...2) {
    case 0: .not(tree(depth: depth - 1))
    case 1: .all(children)
    default: .any(children)
    }
  }

  private mutating func leaf() -> PredicateTree {
    // Few paths, so that brackets have several conditions on one.
    let names = random.chance(1, in: 2) ? random.pick([["month"], ["title"], ["delay"]]) : names()
    let path = PredicateOperand.path(names)
    let isString = ["title", "status", "tailnum", "faa"].contains(names.last)
    let options: StringOptions =
      isString && random.chance(1, in: 3) ? StringOptions(rawValue: UInt8(random.number(in: 1...7))) : []
    switch random.number(in: 0...11) {
    case 0:
      return .membership(path, values(names, random.pick([0, 1, 2, 5])), options)
    case 1: return .between(path, value(names), value(names))
    case 2: return .comparison(path, .equal, .path(random.chance(1, in: 2) ? names : self.names()), [])
    case 3 where isString:
      let comparison = random.pick([.beginsWith, .endsWith, .contains, .like] as [ComparisonOperator])
      return .comparison(path, comparison, value(names), options)
    case 4:
      let comparison = random.pick([.equal, .less, .greaterOrEqual] as [ComparisonOperator])
      return .comparison(value(names), comparison, path, options)
    default:
      let isReference = ["origin", "dest", "objectID"].contains(names.last)
      let comparisons: [ComparisonOperator] =
        isReference
        ? [.equal, .notEqual] : [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
      return .comparison(path, random.pick(comparisons), value(names), options)
    }
  }

  private mutating func names() -> [String] {
    random.pick(Self.paths).split(separator: ".").map(String.init)
  }

  // MARK: Values

  private mutating func another(_ tree: PredicateTree) -> PredicateTree {
    switch tree {
    case .comparison(let left, let comparison, let right, let options):
      return switch (left.content, right.content) {
      case (.path(let names), _) where right.isLiteral:
        .comparison(left, comparison, value(names), options)
      case (_, .path(let names)) where left.isLiteral: .comparison(value(names), comparison, right, options)
      default: tree
      }
    case .membership(let operand, _, let options):
      guard case .path(let names) = operand.content else { return tree }
      return .membership(operand, values(names, random.pick([0, 1, 2, 5])), options)
    case .between(let operand, _, _):
      guard case .path(let names) = operand.content else { return tree }
      return .between(operand, value(names), value(names))
    case .not(let child): return .not(another(child))
    case .and(let children): return .and(children.map { another($0) })
    case .or(let children): return .or(children.map { another($0) })
    case .constant, .quantified: return tree
    }
  }

  private mutating func values(_ names: [String], _ count: Int) -> [PredicateOperand] {
    (0..<count).map { _ in value(names) }
  }

  /// Returns a value that usually suits the path. Values at which normal forms differ are frequent.
  private mutating func value(_ names: [String]) -> PredicateOperand {
    if random.chance(1, in: 8) { return .value(.null) }
    if random.chance(1, in: 100) { return .value(RandomValues.value(&random)) }
    switch names.last {
    case "month", "depTime", "day", "seats", "altitude": return number()
    case "delay", "distance", "fare":
      return random.chance(1, in: 3) ? number() : .value(.double(RandomValues.double(&random)))
    case "title", "status", "tailnum", "faa":
      return .value(
        .string(random.chance(1, in: 2) ? RandomValues.text(&random) : random.pick(["", "a", "É", "é"]))
      )
    case "departed", "landed":
      if random.chance(1, in: 6) {
        return .value(.string(random.pick(["2013-01-01", "2013-01-01T10:00:00Z"])))
      }
      return .value(.date(Date(timeIntervalSinceReferenceDate: RandomValues.double(&random))))
    case "token": return .value(.uuid(RandomValues.uuid(&random)))
    case "blob": return .value(.data(Data(random.bytes(random.number(in: 0...3)))))
    case "isLate", "isFull": return .value(random.pick([.bool(true), .bool(false), .int(0), .int(1)]))
    default:
      let isFlight = names == ["objectID"]
      let number = ObjectNumber(rawValue: random.pick([0, 1, 2, .max]))
      return .reference(ObjectReference(entity: isFlight ? "Flight" : "Airport", number: number))
    }
  }

  private mutating func number() -> PredicateOperand {
    switch random.number(in: 0...5) {
    case 0: .value(.int(random.pick([.min, .max, -128, 127, 128, -129])))
    case 1: .value(.unsigned(random.pick([.max, 1 << 63])))
    case 2: .value(.double(random.pick([2.5, -0.0, 1e300, .nan, .infinity, -.infinity])))
    case 3: .value(.decimal(random.decimal()))
    case 4:
      DecimalDigits(random.pick(["2.5", "-1e400", "1e-400", "3.0"])).map { PredicateOperand(.digits($0)) }
        ?? .value(.int(3))
    default: .value(.int(Int64(random.number(in: -2...5))))
    }
  }
}
