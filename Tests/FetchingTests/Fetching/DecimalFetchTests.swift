import Cambium
import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

@Model
final class Invoice {
  #Index<Invoice>([\.amount], [\.amount, \.number])

  @Attribute(.unique) var number: Int
  var amount: Decimal
  var paid: Decimal?
  var rate: Double = 0

  init(_ number: Int, _ amount: Decimal, paid: Decimal? = nil, rate: Double = 0) {
    self.number = number
    self.amount = amount
    self.paid = paid
    self.rate = rate
  }
}

struct DecimalFetchTests {
  private func container() async throws -> PersistentContainer {
    try await PersistentContainer("invoices", models: Invoice.self, at: .inMemory)
  }

  private static func isSame(_ a: Decimal, _ b: Decimal) -> Bool { a == b || (a.isNaN && b.isNaN) }

  @Test func aDecimalComesBackAsItWasAndIsFoundByItsValue() async throws {
    let container = try await container()
    let seed = SeededGenerator().seed
    try await container.performBackgroundTask { context in
      var random = SeededGenerator(seed: seed)
      let amounts = (0..<400).map { _ in random.decimal() }
      for (number, amount) in amounts.enumerated() {
        context.insert(Invoice(number, amount, paid: random.chance(1, in: 3) ? nil : random.decimal()))
      }
      for isSaved in [false, true] {
        if isSaved {
          try context.save()
          context.reset()
        }
        for invoice in try context.fetch(From<Invoice>()) {
          #expect(Self.isSame(invoice.amount, amounts[invoice.number]))
        }
        for bound in (0..<60).map({ _ in random.chance(1, in: 2) ? random.pick(amounts) : random.decimal() })
        {
          let expected = amounts.indices.filter { !amounts[$0].isNaN && !bound.isNaN && amounts[$0] < bound }
          let found = try context.fetch(From<Invoice>().where(\.amount < bound)).map(\.number).sorted()
          #expect(found == expected, "below \(bound)")
          let equal = amounts.indices.filter { !bound.isNaN && amounts[$0] == bound }
          #expect(
            try context.fetch(From<Invoice>().where { $0.amount == bound }).map(\.number).sorted() == equal
          )
        }
        let sorted = try context.fetch(From<Invoice>().orderBy(.ascending(\.amount))).map(\.amount)
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $1.isNaN || (!$0.isNaN && $0 <= $1) })
        let byPaid = try context.fetch(From<Invoice>().orderBy(.descending(\.paid))).map(\.paid)
        #expect(
          zip(byPaid, byPaid.dropFirst()).allSatisfy { a, b in
            guard let a, let b else { return b == nil }
            return a.isNaN || (!b.isNaN && a >= b)
          }
        )
      }
      let plan = try context.explain(From<Invoice>().where(\.amount == 3))
      #expect(
        plan.access == .indexRange && plan.description.contains("amount == CAST(\"3\", \"Decimal\")"),
        "\(plan)"
      )
    }
  }

  @Test func textIsNeverReadByWayOfADouble() async throws {
    let container = try await container()
    try await container.performBackgroundTask { context in
      let amounts = ["0.1", "0.3", "12345678901234567890.123456789", "9007199254740993", "1.50"]
      for (number, text) in amounts.enumerated() {
        context.insert(
          Invoice(number, try #require(Decimal(string: text)), rate: [0.1, 0.3, 0, 0, 1.5][number])
        )
      }
      context.insert(Invoice(5, .nan, rate: .nan))
      try context.save()
      func numbers(_ format: String, _ arguments: (any PredicateArgument)?...) throws -> [Int] {
        let condition = try Where<Invoice>(format: format, arguments: arguments)
        return try context.fetch(From<Invoice>().where(condition)).map(\.number).sorted()
      }
      #expect(try numbers("amount == 0.1") == [0])
      #expect(try numbers("amount == %@", 0.1) == [0])
      #expect(try numbers("amount == %f", Decimal(string: "0.1")) == [0])
      #expect(try numbers("amount == 12345678901234567890.123456789") == [2])
      #expect(try numbers("amount == CAST(\"12345678901234567890.123456789\", \"Decimal\")") == [2])
      #expect(try numbers("amount == 9007199254740993.0") == [3])
      #expect(try numbers("amount == %@", Int64(9_007_199_254_740_993)) == [3])
      #expect(try numbers("amount IN {1.5, 0.30, 7}") == [1, 4])
      #expect(try numbers("amount BETWEEN {0.1, 1.5}") == [0, 1, 4])
      #expect(try numbers("amount < 1e300") == [0, 1, 2, 3, 4], "everything but NaN")
      #expect(try numbers("amount > -1e300 AND amount < %@", Double.infinity) == [0, 1, 2, 3, 4])
      #expect(try numbers("amount BETWEEN {-1e300, 1e300}") == [0, 1, 2, 3, 4])
      #expect(try numbers("amount > 1e300 OR amount == 1e300") == [])
      #expect(try numbers("amount != 1e300") == [0, 1, 2, 3, 4, 5])
      #expect(try numbers("amount == %@ OR amount < %@", Decimal.nan, Double.nan) == [])
      // Exactly by value: the Double 0.1 is above a tenth, 0.3 below three tenths.
      #expect(try numbers("amount == rate") == [4])
      #expect(try numbers("amount < rate") == [0])
      #expect(try numbers("amount > number") == [0, 2, 3])
      #expect(try numbers("rate == CAST(\"0.1\", \"Decimal\")") == [0], "rounded once, to the Double")
      #expect(try numbers("number <= CAST(\"2.5\", \"Decimal\")") == [0, 1, 2])
      #expect(try numbers("CAST(0.1, \"Decimal\") == 0.1") == [0, 1, 2, 3, 4, 5])
      // Calculated as Decimals: as Doubles, 0.1 + 0.2 is not 0.3, and 3 × 0.1 isn't either.
      #expect(try numbers("amount + 0.2 == 0.3") == [0])
      #expect(try numbers("amount * 3 == 0.3 AND -amount == -0.1 AND abs:(amount) == 0.1") == [0])
      #expect(try numbers("amount / 3 == 0.1") == [1])
      #expect(try numbers("floor:(amount) == 12345678901234567890") == [2])
      #expect(try numbers("amount + 0.000000000000000000000000000001 > amount AND number < 2") == [0, 1])
      #expect(try numbers("sum:({amount, 0.1, 0.1}) == 0.3") == [0])
      expectMistake { try numbers("amount == \"0.1\"") }
      #expect(throws: QueryError.self) { try numbers("amount == CAST(\"0,1\", \"Decimal\")") }
    }
  }

  private struct Plain {
    let number: Int
    let amount: Decimal
    let paid: Decimal?
    var paidKey: DecimalParts?? { paid.map { DecimalParts($0)?.canonical } }
  }

  /// Few values in several spellings, whose sums and halves have few digits: Foundation's arithmetic is exact there.
  private static func amount(_ random: inout SeededGenerator) throws -> Decimal {
    if random.chance(1, in: 12) { return .nan }
    let zeros = random.number(in: 0...3)
    let parts = DecimalParts(
      isNegative: random.chance(1, in: 3),
      mantissa: (0..<zeros).reduce(UInt128(random.number(in: 0...6) * 5)) { mantissa, _ in mantissa * 10 },
      exponent: random.pick([-1, -2, 20]) - zeros
    )
    return try #require(parts.decimal)
  }

  /// The sum, average, least, greatest value and median.
  private static func summary(_ values: [Decimal]) -> [Decimal?] {
    let sorted = values.filter { !$0.isNaN }.sorted()
    let sum = sorted.reduce(0, +)
    if sorted.isEmpty { return [0, nil, nil, nil, nil] }
    let median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    return [sum, sum / Decimal(sorted.count), sorted.first, sorted.last, median]
  }

  /// Returns true if the values are equal except for the last digit, where Foundation's division doesn't round.
  private static func isNear(_ a: Decimal?, _ b: Decimal?) -> Bool {
    guard let a, let b else { return a == b }
    return (a - b).magnitude <= b.magnitude * Decimal(sign: .plus, exponent: -34, significand: 1)
  }

  @Test func decimalsAreGroupedAndSummedByValue() async throws {
    let container = try await container()
    let seed = SeededGenerator().seed
    try await container.performBackgroundTask { context in
      var random = SeededGenerator(seed: seed)
      var rows: [Plain] = []
      for number in 0..<300 {
        let paid = random.chance(1, in: 4) ? nil : try Self.amount(&random)
        rows.append(Plain(number: number, amount: try Self.amount(&random), paid: paid))
        context.insert(Invoice(number, rows[number].amount, paid: paid))
      }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for least in [0, 280, 299, 300] {
          let request = From<Invoice>().where { $0.number >= least }
          try Self.checkAggregates(context, request, Array(rows.dropFirst(least)))
          try Self.checkGroups(context, request, Array(rows.dropFirst(least)))
        }
      }
    }
  }

  private static func checkAggregates(
    _ context: ManagedObjectContext,
    _ request: From<Invoice>,
    _ rows: [Plain]
  ) throws {
    let (sum, average, least, greatest, median) = try context.aggregate(
      .sum(\.amount),
      .average(\.amount),
      .min(\.amount),
      .max(\.amount),
      .median(\.amount),
      in: request
    )
    let amounts = summary(rows.map(\.amount))
    #expect([sum, least, greatest, median] == [amounts[0], amounts[2], amounts[3], amounts[4]])
    #expect(isNear(average, amounts[1]))
    let paid = summary(rows.compactMap(\.paid))
    #expect(try context.sum(of: \.paid, in: request) == paid[0])
    #expect(try isNear(context.average(of: \.paid, in: request), paid[1]))
    #expect(try context.min(of: \.paid, in: request) == paid[2])
    #expect(try context.max(of: \.paid, in: request) == paid[3])
    #expect(try context.median(of: \.paid, in: request) == paid[4])
  }

  private static func checkGroups(
    _ context: ManagedObjectContext,
    _ request: From<Invoice>,
    _ rows: [Plain]
  ) throws {
    let groups = Dictionary(grouping: rows, by: \.paidKey)
    let grouped = request.groupBy(\.paid).aggregate(.count, .sum(\.amount), .median(\.amount))
    let found = try context.fetch(grouped)
    #expect(found.count == groups.count)
    for (key, count, sum, median) in found {
      let group = try #require(groups[key.map { DecimalParts($0)?.canonical }])
      let expected = summary(group.map(\.amount))
      #expect(count == group.count && sum == expected[0] && median == expected[4])
    }
    let large = grouped.having { $0.sum(\.amount) > 0.5 && $0.average(\.amount) != nil }
      .orderBy(.descending(.sum(\.amount)))
    let sums = groups.values.map { summary($0.map(\.amount)) }.filter { $0[1] != nil }.compactMap { $0[0] }
    #expect(try context.fetch(large).map(\.2) == sums.filter { $0 * 2 > 1 }.sorted(by: >))
    let distinct = try context.fetch(request.select(\.paid).distinct())
    #expect(distinct.count == groups.count)
    #expect(Set(distinct.map { $0.map { DecimalParts($0)?.canonical } }) == Set(groups.keys))
    // An index gives these counts.
    let byAmount = try context.fetch(request.groupBy(\.amount).aggregate(.count))
    let counts = Dictionary(grouping: rows) { DecimalParts($0.amount)?.canonical }.mapValues(\.count)
    #expect(byAmount.count == counts.count)
    for (key, count) in byAmount { #expect(counts[DecimalParts(key)?.canonical] == count) }
    #expect(zip(byAmount, byAmount.dropFirst()).allSatisfy { $1.0.isNaN || $0.0 < $1.0 })
    let pairs = try context.fetch(request.groupBy(\.amount, \.paid).aggregate(.max(\.amount)))
    #expect(pairs.count == Set(rows.map { [$0.paidKey, DecimalParts($0.amount)?.canonical] }).count)
    #expect(pairs.allSatisfy { $0.2 == ($0.0.isNaN ? nil : $0.0) })
  }

  @Test func toolsGroupByDecimals() async throws {
    let container = try await container()
    try await container.performBackgroundTask { context in
      for (number, text) in ["0.1", "0.2", "1.5", "-3"].enumerated() {
        let zeros = 1 + number % 2
        let paid = DecimalParts(isNegative: false, mantissa: zeros == 1 ? 10 : 100, exponent: -zeros)
        context.insert(Invoice(number, try #require(Decimal(string: text)), paid: paid.decimal))
      }
      context.insert(Invoice(4, 7))
      try context.save()
    }
    let store = try DynamicStore(container.store)
    var query = DynamicQuery("Invoice")
    query.groupBy = ["paid"]
    query.aggregates = try [
      "count", "sum(amount)", "avg(amount)", "min(amount)", "max(amount)", "median(amount)",
    ]
    .map { text in try DynamicQuery.Aggregate(text) }
    query.having = try PredicateTree(
      format: "`sum(amount)` == -1.2 AND `avg(amount)` < -0.2 AND `median(amount)` < 0.2 AND paid > 0.05"
    )
    let numbers = try ["1", "-1.2", "-0.3", "-3", "1.5", "0.15"].map { try #require(Decimal(string: $0)) }
    let row = numbers.map { AttributeValue.decimal($0) }
    #expect(try store.groups(of: query).map(\.values) == [[row[0], .int(4)] + row.dropFirst()])
  }

  @Test func bytesThatAreNoDecimalAreReported() async throws {
    let container = try await container()
    try await container.performBackgroundTask { context in
      context.insert(Invoice(1, 5))
      try context.save()
    }
    #expect(try await container.verify().isEmpty)
    let entity = try #require(container.coordinator.schema.entity(named: "Invoice"))
    let slot = try #require(entity.schema.storedProperty(named: "amount")?.slot)
    let position = entity.layout.fields[slot].position
    try await container.store.write { transaction in
      let tree = try transaction.tree(entity.treeName)
      var record = try #require(try tree.value(for: KeyCoder.key(of: 1)))
      record[position] = 0xEE
      _ = try tree.put(KeyCoder.key(of: 1), record)
    }
    let problems = try await container.verify().map(\.message)
    #expect(problems.contains("the amount of Invoice 1 is not a valid value of the kind decimal"))
    await #expect(throws: ContextError.self) {
      try await container.performBackgroundTask { context in
        try context.fetch(From<Invoice>().where(\.amount > 1 && \.rate == 0)).map(\.amount)
      }
    }
  }
}
