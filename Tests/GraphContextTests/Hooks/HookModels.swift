import Cambium

@testable import GraphContext

// A model with every hook and one that lacks them, and a record of the calls.

/// The calls of hooks in one test, in their order.
// Sendable: a test is one task, and its hooks run in it.
final class HookCalls: @unchecked Sendable {
  @TaskLocal static var current: HookCalls?

  private var list: [String] = []
  /// The actions of hooks, by the call's text.
  private var actions: [String: (Trip) throws -> Void] = [:]

  func take() -> [String] {
    defer { list = [] }
    return list
  }

  func on(_ call: String, _ action: @escaping (Trip) throws -> Void) { actions[call] = action }

  static func note(_ call: String, _ trip: Trip) throws {
    current?.list.append(call)
    try current?.actions[call]?(trip)
  }
}

@Model final class Trip {
  @Attribute(.min(0), .max(5)) var stars: Double?
  @Attribute(.length(1...20), .pattern("[A-Z].*")) var title: String
  var changeCount: Int = 0
  @Relationship(deleteRule: .cascade, inverse: \TripStop.trip) var stops: [TripStop] = []
  @Relationship(deleteRule: .cascade, inverse: \Trip.parts) var whole: Trip?
  @Relationship(deleteRule: .cascade) var parts: ToMany<Trip> = []

  init(_ title: String) { self.title = title }

  private func note(_ hook: String) throws { try HookCalls.note("\(hook) \(title)", self) }

  func awakeFromInsert() { try? note("awakeFromInsert") }
  func awakeFromFetch() { try? note("awakeFromFetch") }
  func willSave() { try? note("willSave") }
  func prepareForDeletion() { try? note("prepareForDeletion") }
  func validateForInsert() throws { try note("validateForInsert") }
  func validateForUpdate() throws { try note("validateForUpdate") }
  func validateForDelete() throws { try note("validateForDelete") }
}

extension Trip {
  /// A hook in an extension is called like any other.
  func didSave() { try? HookCalls.note("didSave \(title)", self) }
}

@Model final class TripStop {
  var name: String
  @Relationship var trip: Trip?

  init(_ name: String) { self.name = name }

  func validateForInsert() throws {
    if name.isEmpty { throw ValidationError("a stop needs a name", properties: ["name"]) }
  }
}
