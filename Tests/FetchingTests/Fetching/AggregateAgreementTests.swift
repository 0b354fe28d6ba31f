import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext
@testable import Predicates

@Model final class Gauge {
  @Attribute(.unique) var code: Int
  @Relationship(inverse: \Reading.gauge) var readings: [Reading] = []

  init(_ code: Int) { self.code = code }
}

/// A value of every kind of number.
@Model final class Reading {
  var int8: Int8?
  var int16: Int16?
  var int32: Int32?
  var int64: Int64?
  var uint8: UInt8?
  var uint16: UInt16?
  var uint32: UInt32?
  var uint64: UInt64?
  var float: Float?
  var double: Double?
  var decimal: Decimal?
  @Relationship var gauge: Gauge?

  init(_ gauge: Gauge) { self.gauge = gauge }

  static let numbers = [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double", "decimal",
  ]
}

/// An aggregate in a predicate, over the elements of a relationship, has the value that a query for it has over the same objects: bit for
/// bit, and of the same kind.
struct AggregateAgreementTests {
  private static let gaugeCount = TestEffort.times(20)

  @Test func aPredicateAQueryAndAGroupHaveOneValue() async throws {
    let container = try await PersistentContainer("gauges", models: Gauge.self, Reading.self, at: .inMemory)
    let seed = SeededGenerator().seed
    try await container.performBackgroundTask { context in
      var random = SeededGenerator(seed: seed)
      for code in 0..<Self.gaugeCount {
        let gauge = Gauge(code)
        context.insert(gauge)
        for _ in 0..<random.pick([0, 1, 2, 3, 5, 12]) {
          let reading = Reading(gauge)
          context.insert(reading)
          reading.fill(isFinite: code % 3 > 0, &random)
        }
      }
      for isSaved in [false, true] {
        if isSaved {
          try context.save()
          context.reset()
        }
        for name in Reading.numbers {
          for function in AggregateFunction.allCases {
            // Unsaved values are added in any order, so the last bit of a sum of Doubles may differ.
            let isOfOrder = ["float", "double"].contains(name) && [.sum, .average].contains(function)
            if isSaved || !isOfOrder { try check(function, name, context) }
          }
        }
      }
    }
  }

  private func check(_ function: AggregateFunction, _ name: String, _ context: ManagedObjectContext) throws {
    let aggregate = DynamicQuery.Aggregate(function, name)
    var grouped = DynamicQuery("Reading", where: try PredicateTree(format: "gauge != nil"))
    grouped.groupBy = ["gauge.code"]
    grouped.aggregates = [aggregate]
    let groups = Dictionary(
      uniqueKeysWithValues: try context.rows(grouped).map { ($0[0], $0[1]) }
    )
    for code in 0..<Self.gaugeCount {
      var query = DynamicQuery(
        "Reading",
        where: try PredicateTree(format: "gauge.code == %@", arguments: [code])
      )
      query.aggregates = [aggregate]
      let value = try context.rows(query)[0][0]
      let group = groups[.int(Int64(code))]
      #expect(group == nil || group?.bits == value.bits, "\(function) of \(name), gauge \(code)")
      try checkPredicate("readings.@\(function.rawValue).\(name)", is: value, of: code, context)
    }
  }

  /// Compares the texts of the values, which differ if their kinds, zeros or bits differ.
  private func checkPredicate(
    _ aggregate: String,
    is value: AttributeValue,
    of code: Int,
    _ context: ManagedObjectContext
  ) throws {
    let tree =
      if case .string(let text) = PredicateFunction.toText.value(of: [value]) {
        try PredicateTree(
          format: "code == %@ AND CAST(\(aggregate), 'String') == %@",
          arguments: [code, text]
        )
      } else {
        try PredicateTree(format: "code == %@ AND \(aggregate) == nil", arguments: [code])
      }
    let request = From<Gauge>().where(Where<Gauge>(tree))
    let count = try context.count(request)
    #expect(count == 1, "\(aggregate) of gauge \(code) is not \(value)")
  }
}

extension AttributeValue {
  /// A text that distinguishes the value from other values that are equal to it.
  fileprivate var bits: String {
    switch self {
    case .double(let value): "double \(value.isNaN ? 0 : value.bitPattern) \(value)"
    default: "\(self)"
    }
  }
}

extension ManagedObjectContext {
  fileprivate func rows(_ query: DynamicQuery) throws -> [[AttributeValue]] {
    let groups = try query.resolvedGroups(in: coordinator.schema.schema, store: storeID)
    return try groups.rows(in: source.another(), over: layers(for: groups.query))
  }
}

extension Reading {
  /// Small values, the ends of each kind, and nil.
  fileprivate func fill(isFinite: Bool, _ random: inout SeededGenerator) {
    int8 = Self.integer(&random)
    int16 = Self.integer(&random)
    int32 = Self.integer(&random)
    int64 = Self.integer(&random)
    uint8 = Self.integer(&random)
    uint16 = Self.integer(&random)
    uint32 = Self.integer(&random)
    uint64 = Self.integer(&random)
    let edges: [Double] = isFinite ? [] : [.infinity, -.infinity]
    let floats: [Float?] = [nil, .nan, 0, -0.0, 0.1, 3, .greatestFiniteMagnitude, -.greatestFiniteMagnitude]
    float = random.chance(1, in: 2) ? Float(random.number(in: -999...999)) / 7 : random.pick(floats)
    let greatest = Double.greatestFiniteMagnitude
    let doubles: [Double?] = [
      nil, .nan, 0, -0.0, 1, 1e100, -1e100, greatest, -greatest, greatest / 3, .leastNonzeroMagnitude,
    ]
    double =
      switch random.number(in: 0...2) {
      case 0: Double(random.number(in: -999...999)) / 7
      case 1: random.pick(doubles)
      default: random.pick(edges + [0.1, 1e16, -1e16])
      }
    decimal = random.chance(1, in: 5) ? nil : random.decimal()
  }

  private static func integer<Integer: FixedWidthInteger>(_ random: inout SeededGenerator) -> Integer? {
    let small = Integer(random.number(in: 0...99))
    return random.pick([
      nil, small, .min, .max, 0 &- small, .max - small, Integer.random(in: .min ... .max, using: &random),
    ])
  }
}
