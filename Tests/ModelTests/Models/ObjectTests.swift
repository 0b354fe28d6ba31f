import Foundation
import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

struct ObjectTests {
  let host = MemoryHost()

  /// A saved tune, as a fault.
  func fault(_ number: ObjectNumber = 7, rating: AttributeValue = .null) -> Tune {
    host.store(Tune.self, number, [.string("US-A"), .int(182), rating, .int(4), .reference(9)])
  }

  @Test func aNewObjectNeedsNoContext() {
    let tune = Tune(isrc: "US-A", seconds: 182)
    #expect(tune.isrc == "US-A")
    #expect(tune.seconds == 182)
    #expect(tune.rating == nil)
    #expect(tune.genre == .folk)
    tune.seconds += 1
    #expect(tune.seconds == 183)
    #expect(!tune.isInserted && !tune.isFault && !tune.isDeleted)
    #expect(tune.objectReference == nil)
  }

  @Test func anAttributeIsDecodedWhenItIsTouched() {
    let tune = fault()
    #expect(tune.isFault)
    #expect(tune.seconds == 182)
    #expect(tune._$state.loaded == SlotSet(1))
    #expect(tune.isrc == "US-A")
    #expect(tune.genre == .jazz)
    #expect(tune.rating == nil)
    #expect(tune._$state.loaded == SlotSet(0...3))
  }

  @Test func aRecordIsLookedUpOnceInAGeneration() {
    let tune = fault()
    _ = (tune.seconds, tune.isrc, tune.rating)
    #expect(host.events == [.recordLookedUp(7)])
    host.storeBytes([0], 99)  // raises the generation
    _ = tune.seconds  // loaded before
    #expect(host.events == [.recordLookedUp(7)])
    _ = tune.genre
    #expect(host.events == [.recordLookedUp(7), .recordLookedUp(7)])
  }

  @Test func aSetterTellsTheContextOnceAndThenWritesTheCache() {
    let tune = fault()
    tune.seconds = 5
    tune.seconds = 6
    tune.rating = 4.5
    #expect(host.events == [.willChange(7)])
    #expect(tune._$state.changed == SlotSet(1...2))
    #expect(tune.seconds == 6 && tune.rating == 4.5)
    #expect(tune.hasChanges)
  }

  @Test func forgettingChangesBringsTheStoredValuesBack() {
    let tune = fault()
    #expect(tune.isrc == "US-A")
    tune.seconds = 5
    tune._$state.forgetChanges()
    #expect(!tune.hasChanges)
    #expect(tune._$state.loaded == SlotSet(0))
    #expect(tune.seconds == 182)
    tune.seconds = 6
    #expect(host.events.filter { $0 == .willChange(7) }.count == 2)
  }

  @Test func aMergeKeepsWhatWasSetAndRereadsTheRest() {
    let tune = fault()
    _ = tune.isrc
    tune.seconds = 5
    _ = host.store(Tune.self, 7, [.string("US-B"), .int(200), .null, .int(3), .null])
    tune._$state.forgetUnchangedValues()
    #expect(tune.isrc == "US-B")
    #expect(tune.seconds == 5)
  }

  @Test func aValueThatIsNotOfItsTypeIsReportedAndReadsAsEmpty() {
    let tune = host.store(Tune.self, 7, [.string("US-A"), .null, .null, .int(99), .null])
    #expect(tune.seconds == 0)  // null, and not optional
    #expect(tune.genre == .folk)  // a raw value that no case has
    #expect(host.events.contains(.unreadable(7, slot: 1)) && host.events.contains(.unreadable(7, slot: 3)))
    #expect(tune._$state.loaded.isEmpty, "what could not be read must be asked for again")
  }

  @Test func aFaultWhoseRecordIsMissingReadsAsNilOrEmpty() {
    let tune = ObjectTests.tune(host.object(of: Tune.self, number: 12))
    #expect(tune.isrc == "")
    #expect(tune.rating == nil)
    #expect(tune.record == nil)
    #expect(host.events.allSatisfy { $0 == .recordLookedUp(12) })
  }

  @Test func anObjectThatIsGoneKeepsWhatItHadRead() {
    let tune = fault(rating: .double(3))
    #expect(tune.isrc == "US-A")
    tune._$state.leave(EntityNumber(rawValue: 1))
    #expect(tune.isDeleted)
    #expect(tune.isrc == "US-A")
    #expect(tune.rating == nil)
    #expect(tune.record == nil)
    tune.rating = 5  // reaches nobody
    #expect(host.events == [.recordLookedUp(7)])
  }

  @Test func slotsAreReadByNumberWhetherLoadedOrNot() {
    let tune = fault(rating: .double(2.5))
    tune.seconds = 1
    #expect(
      (0..<5).map(tune.attributeValue) == [.string("US-A"), .int(1), .double(2.5), .int(4), .reference(9)]
    )
    #expect(tune._$state.loaded == SlotSet(1), "reading by number fills no cache")
    #expect(tune.reference(at: 4) == 9)
  }

  @Test func objectsAreEqualWhenTheyAreTheSame() {
    let first = Tune(isrc: "A", seconds: 1)
    let second = Tune(isrc: "A", seconds: 1)
    #expect(first == first && first != second)
    #expect(Set([first, second, first]).count == 2)
    let hash = first.hashValue
    host.adopt(first)
    #expect(first.hashValue == hash, "insertion must not change the hash")
    #expect(host.object(of: Tune.self, number: first.objectID.number) as? Tune === first)
    host.releaseAll()
  }

  @Test func anObjectIDIsFinalFromInsertionOn() {
    let tune = Tune(isrc: "A", seconds: 1)
    host.adopt(tune)
    let id = tune.objectID
    #expect(id.entityName == "Tune" && id.number == 1 && id.storeID == host.storeID)
    tune._$state.becomeSaved()
    #expect(tune.objectID == id && tune.id == id)
    host.releaseAll()
  }

  @Test func theStateAndItsObjectAreSmall() {
    #expect(MemoryLayout<ObjectState>.size <= 64)
    #expect(MemoryLayout<Cached<String>>.size == 16)
    #expect(MemoryLayout<ToOneReference<Record>>.size == 16)
    #expect(MemoryLayout<ToManyMembers<Tune>>.size == 8)
  }

  static func tune(_ object: any ManagedObject) -> Tune { unsafeDowncast(object, to: Tune.self) }
}
