import Cambium

@testable import GraphContext

// A model with every hook and one that lacks them, and a record of the calls.

/// The calls of hooks in one test, in their order.
// Sendable: a test is one task, and its hooks run in it.
package final class HookCalls: @unchecked Sendable {
  @TaskLocal package static var current: HookCalls?

  private var list: [String] = []
  /// The actions of hooks, by the call's text.
  private var actions: [String: (Trip) throws -> Void] = [:]

  package init() {}

  package func take() -> [String] {
    defer { list = [] }
    return list
  }

  package func on(_ call: String, _ action: @escaping (Trip) throws -> Void) { actions[call] = action }

  package static func note(_ call: String, _ trip: Trip) throws {
    current?.list.append(call)
    try current?.actions[call]?(trip)
  }
}

@Model package final class Trip {
  @Attribute(.min(0), .max(5)) package var stars: Double?
  @Attribute(.length(1...20), .pattern("[A-Z].*")) package var title: String
  package var changeCount: Int = 0
  @Relationship(deleteRule: .cascade, inverse: \TripStop.trip) package var stops: [TripStop] = []
  @Relationship(deleteRule: .cascade, inverse: \Trip.parts) package var whole: Trip?
  @Relationship(deleteRule: .cascade) package var parts: ToMany<Trip> = []

  package init(_ title: String) { self.title = title }

  private func note(_ hook: String) throws { try HookCalls.note("\(hook) \(title)", self) }

  package func awakeFromInsert() { try? note("awakeFromInsert") }
  package func awakeFromFetch() { try? note("awakeFromFetch") }
  package func willSave() { try? note("willSave") }
  package func prepareForDeletion() { try? note("prepareForDeletion") }
  package func validateForInsert() throws { try note("validateForInsert") }
  package func validateForUpdate() throws { try note("validateForUpdate") }
  package func validateForDelete() throws { try note("validateForDelete") }
}

extension Trip {
  /// A hook in an extension is called like any other.
  package func didSave() { try? HookCalls.note("didSave \(title)", self) }
}

@Model package final class TripStop {
  package var name: String
  @Relationship package var trip: Trip?

  package init(_ name: String) { self.name = name }

  package func validateForInsert() throws {
    if name.isEmpty { throw ValidationError("a stop needs a name", properties: ["name"]) }
  }
}
