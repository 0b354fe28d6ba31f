import Cambium
import CambiumImport
import Foundation
import TestSupport

@testable import GraphContext

@Model final class Disc {
  #Unique<Disc>([\.number])
  var number: Int
  var title: String
  @Relationship(deleteRule: .cascade, inverse: \Tune.disc) var tunes: [Tune]

  init(_ number: Int, _ title: String = "") {
    self.number = number
    self.title = title
    tunes = []
  }
}

@Model final class Tune {
  #Index<Tune>([\.code])
  var code: String
  var title: String
  var plays: Int
  @Relationship var disc: Disc?
  /// Set only by an initialiser.
  var origin: String = "declared"

  init(_ code: String, _ title: String = "", plays: Int = 0) {
    self.code = code
    self.title = title
    self.plays = plays
    origin = "initialised"
  }
}

extension Disc: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Disc, Int> { \.number }
}

extension Tune: UniqueIdentifiable {
  static var uniqueIDKeyPath: ReferenceWritableKeyPath<Tune, String> { \.code }
}

/// A line of an import.
struct TuneRecord: Codable, Hashable, Sendable {
  var code: String
  var title: String
  var disc: Int?
}

extension TuneRecord: ManagedObjectUpdatable, ManagedObjectInitialisable {
  typealias Object = Tune
  var uniqueIDValue: String { code }

  static var updateProperties: PropertiesUpdate? {
    { record, tune in
      tune.title = record.title
      tune.plays += 1
    }
  }

  static var updateRelationships: RelationshipsUpdate? {
    { record, tune, context, cache in
      tune.disc = try record.disc.map { try context.fetchOrInsertObject(Disc.self, with: $0, cache: cache) }
    }
  }

  init(with tune: Tune) {
    self.init(code: tune.code, title: tune.title, disc: tune.disc?.number)
  }
}

/// Imports without the pass of relationships.
struct PlainRecord: Codable, Hashable, Sendable, ManagedObjectUpdatable {
  typealias Object = Tune
  var code: String
  var title: String
  var uniqueIDValue: String { code }

  static var updateProperties: PropertiesUpdate? { { $1.title = $0.title } }
}

/// A store of tunes.
struct Tunes: Sendable {
  let container: PersistentContainer

  init() async throws {
    container = try await PersistentContainer("Tunes", models: [Disc.self, Tune.self], at: .inMemory)
  }

  func commit() throws -> UInt64 { try container.coordinator.engine.newestSource().commit }

  /// Stores tunes of these codes.
  func store(_ codes: some Sequence<String> & Sendable) async throws {
    try await container.write { context in
      for code in codes { context.insert(Tune(code, "old")) }
    }
  }

  /// Returns the stored values of each tune, by code.
  func rows() async throws -> [String] {
    try await container.query { context in
      let all = From<Tune>().orderBy(\.code, \.title)
      return try context.fetch(all).map { tune in
        "\(tune.code) \(tune.title) \(tune.plays) \(tune.disc.map { String($0.number) } ?? "-")"
      }
    }
  }
}

extension PersistentContainer {
  /// A context that belongs to the test.
  func context() throws -> ManagedObjectContext { try ManagedObjectContext(coordinator: coordinator) }
}

/// Texts that the tests add in closures on any thread.
final class Notes: Sendable {
  private let lines = Locked<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

final class Locked<Value: Sendable>: @unchecked Sendable {
  // Safety: the value is touched with the lock held alone.
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}
