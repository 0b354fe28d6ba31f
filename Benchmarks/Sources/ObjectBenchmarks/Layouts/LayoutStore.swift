import BenchmarkHarness
import Cambium
import Foundation

/// A store of samples, and the queries of it through one of the two models.
struct LayoutStore<Model: LayoutModel> {
  private static var saveCount: Int { 50_000 }

  let container: PersistentContainer

  init(folder: String) async throws {
    container = try await PersistentContainer(
      "Samples",
      models: Model.self,
      at: URL(fileURLWithPath: folder + "/samples.cambium")
    )
  }

  func fill(_ count: Int) async throws {
    for first in stride(from: 0, to: count, by: Self.saveCount) {
      try await container.performBackgroundTask { context in
        for number in first..<min(count, first + Self.saveCount) {
          context.insert(Model(SampleData(number: number)))
        }
        try context.save()
      }
    }
  }

  private func ask(
    _ body: @escaping @Sendable (ManagedObjectContext, inout Checksum) throws -> Void
  ) async throws -> Checksum {
    try await container.performBackgroundTask { context in
      var sum = Checksum()
      try body(context, &sum)
      return sum
    }
  }

  func filter() async throws -> Checksum {
    try await ask { context, sum in
      sum.add(try context.count(From<Model>().where(1...SampleData.rankCount / 100 ~= Model.rankPath)))
    }
  }

  func total() async throws -> Checksum {
    try await ask { context, sum in
      sum.add(try context.aggregate(.sum(Model.rankPath), in: From<Model>()) ?? 0)
    }
  }

  func groups() async throws -> Checksum {
    try await ask { context, sum in
      let kinds = From<Model>().groupBy(Model.kindPath).aggregate(.sum(Model.rankPath), .count)
      for (kind, total, count) in try context.fetch(kinds) {
        sum.add(kind)
        sum.add(total ?? 0)
        sum.add(count)
      }
    }
  }

  func everything() async throws -> Checksum {
    try await ask { context, sum in
      for sample in try context.fetch(From<Model>()) {
        sum.add(sample.code)
        sum.add(sample.rank)
      }
    }
  }

  /// - Parameter count: how many objects there are.
  func lookups(_ lookups: Int, of count: Int) async throws -> Checksum {
    try await ask { context, sum in
      var generator = SeededGenerator(seed: 1)
      for _ in 0..<lookups {
        let code = SampleData.code(Int(generator.next() % UInt64(count)))
        let sample = try context.fetch(From<Model>().where([code] ~= Model.codePath)).first
        sum.add(sample?.code ?? "")
        sum.add(sample?.rank ?? 0)
      }
    }
  }
}
