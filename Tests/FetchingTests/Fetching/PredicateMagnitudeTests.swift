import Cambium
import Foundation
import Testing

private enum Ledger {
  @Model final class Entry {
    var label: String
    var count: Int
    var amount: Double
    var price: Decimal
    var at: Date
    init(_ label: String, _ number: Int, at seconds: Double) {
      self.label = label
      count = number
      amount = Double(number)
      price = Decimal(number)
      at = Date(timeIntervalSinceReferenceDate: seconds)
    }
  }
}

extension Date {
  /// Midnight UTC of the day.
  fileprivate var midnight: Date {
    Date(timeIntervalSinceReferenceDate: (timeIntervalSinceReferenceDate / 86_400).rounded(.down) * 86_400)
  }
}

/// A property of an attribute's value in a `#Predicate` converts, or is an error; it is not left out.
@MainActor struct PredicateMagnitudeTests {
  private typealias Entry = Ledger.Entry

  nonisolated private static let predicates: [Predicate<Entry>] = {
    let (price, day) = (Decimal(5), Date(timeIntervalSinceReferenceDate: 86_400))
    return [
      #Predicate<Entry> { $0.count.magnitude > 5 },
      #Predicate<Entry> { $0.amount.magnitude > 5 },
      #Predicate<Entry> { $0.amount.significand < 1.2 },
      #Predicate<Entry> { $0.price.magnitude > price },
      #Predicate<Entry> { $0.at.midnight == day },
    ]
  }()

  @Test(arguments: predicates.indices)
  func aQueryFindsWhatFoundationAcceptsOrFails(_ number: Int) async throws {
    let container = try await PersistentContainer("Ledger", models: Entry.self, at: .inMemory)
    try await container.performBackgroundTask { context in
      context.insert(Entry("low", -9, at: 86_400))
      context.insert(Entry("middle", 1, at: 100_000))
      context.insert(Entry("high", 9, at: 200_000))
      try context.save()
      let predicate = Self.predicates[number]
      let entries = try context.fetch(From<Entry>())
      let accepted = try entries.filter { try predicate.evaluate($0) }.map(\.label)
      let found: [String]
      do throws(ContextError) {
        found = try context.fetch(From<Entry>().where(predicate)).map(\.label)
      } catch {
        #expect(error.code == .invalidQuery)
        return
      }
      #expect(found == accepted, "\(Where(predicate))")
    }
  }
}
