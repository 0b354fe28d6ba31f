import BenchmarkHarness
import Cambium

/// The cost of getting from a condition of two terms, written as a closure, to a plan. Only Cambium takes part.
extension CambiumObjectPeer {
  /// P1: the trees alone.
  func makeTrees(_ count: Int) -> Checksum {
    for number in 0..<count { keep(Self.byRange(number)) }
    return Checksum()
  }

  /// P2: the tree, its names resolved, its terms merged to one range of the index, the plan made. Planning counts the
  /// range, and that count is the answer, so nothing else runs.
  func countRanges(_ count: Int) async throws -> Checksum {
    try await container.performBackgroundTask { context in
      var sum = Checksum()
      for number in 0..<count { sum.add(try context.count(Self.byRange(number))) }
      return sum
    }
  }

  /// P3: the same for a range and a filter, and the plan's text. Nothing runs.
  func explainFilters(_ count: Int) async throws -> Checksum {
    try await container.performBackgroundTask { context in
      var sum = Checksum()
      for number in 0..<count { sum.add(try context.explain(Self.byRangeAndFilter(number)).rowCount) }
      return sum
    }
  }

  private static func byRange(_ number: Int) -> From<Person> {
    let age = number % 90
    return From<Person>().where { $0.age >= age && $0.age < age + 5 }
  }

  private static func byRangeAndFilter(_ number: Int) -> From<Person> {
    let age = number % 90
    return From<Person>().where { $0.age >= age && $0.score > 0.99 }
  }
}

/// Keeps the compiler from optimising the result away.
@inline(never)
private func keep<Value>(_ value: Value) {}
