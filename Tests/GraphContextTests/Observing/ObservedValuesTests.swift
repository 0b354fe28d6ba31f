import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

/// Reading an object's values, a value by its key path or a blob is observed as reading the properties is.
struct ObservedValuesTests {
  @Test func everyWayOfReadingIsObserved() async throws {
    let town = try await Town.open()
    let context = try town.context()
    defer { context.end() }
    context.isObservable = true
    let (venue, night) = (Venue("Cave", city: "Bonn"), Night("Opening"))
    night.poster = Data(repeating: 1, count: 20_000)
    context.insert(venue)
    venue.nights = [night]
    try context.save()
    let values = Observer { _ = Venue.Values(venue) }
    let name = Observer { _ = try? night.value(forKeyPath: "venue.name") }
    let poster = Observer { _ = try? night.blob(\.poster) }
    night.title = "Closing"
    #expect([values, name, poster].map(\.wasCalled) == [false, false, false])
    venue.name = "Attic"
    #expect([values, name, poster].map(\.wasCalled) == [true, true, false])
    night.poster = nil
    #expect(poster.wasCalled)
  }
}
