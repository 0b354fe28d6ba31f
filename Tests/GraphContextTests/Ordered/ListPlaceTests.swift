import Foundation
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Places: their order, their bytes, and the room between them.
struct ListPlaceTests {
  @Test func wholeNumbersAreInOrder() {
    let numbers: [Int64] = [
      .min, .min + 1, -65_537, -65_536, -257, -256, -255, -2, -1, 0, 1, 2, 255, 256, 65_535, 65_536, .max - 1,
      .max,
    ]
    let places = numbers.map { ListPlace($0) }
    #expect(places == places.sorted() && Set(places).count == numbers.count)
    for place in places { #expect(ListPlace(place.bytes) == place) }
    #expect(ListPlace(of: ObjectNumber(rawValue: 300)).bytes == [0x22, 0x01, 0x2C])
    #expect(
      ListPlace(-1).bytes == [0x1F, 0xFF] && ListPlace(2, fraction: [0x80]).bytes == [0x21, 0x02, 0x80]
    )
    // The place doesn't contain the class.
    #expect(ListPlace(of: ObjectNumber(rawValue: .max)) == ListPlace((1 << 50) - 1))
  }

  @Test func betweenTwoThereIsRoom() throws {
    var generator = SeededGenerator()
    var places = [ListPlace(1), ListPlace(2)]
    for _ in 0..<3_000 {
      let index = generator.chance(1, in: 3) ? places.count / 2 : generator.number(in: 0...places.count)
      let lower = index > 0 ? places[index - 1] : nil
      let upper = index < places.count ? places[index] : nil
      let count = generator.number(in: 1...3)
      guard
        let new = ListPlace.places(count, after: lower, before: upper, limit: ListPlace.greatestByteCount)
      else { continue }
      #expect(new.count == count)
      for place in new { #expect(ListPlace(place.bytes) == place && place.bytes.count <= 16) }
      places.insert(contentsOf: new, at: index)
    }
    #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 })
    #expect(places.count > 500)
  }

  @Test func whereThereIsNoRoomThereAreNone() {
    func places(_ lower: ListPlace?, _ upper: ListPlace?) -> [ListPlace]? {
      ListPlace.places(1, after: lower, before: upper, limit: 16)
    }
    #expect(places(ListPlace(5), ListPlace(5)) == nil)
    #expect(places(ListPlace(6), ListPlace(5)) == nil)
    #expect(places(ListPlace(5, fraction: [2]), ListPlace(5, fraction: [1])) == nil)
    #expect(places(ListPlace(.max), nil) == nil && places(nil, ListPlace(.min)) == nil)
    #expect(places(ListPlace(5), ListPlace(5, fraction: [1])) == [ListPlace(5, fraction: [0, 128])])
    #expect(places(ListPlace(.min), ListPlace(.max)) == nil)
    #expect(places(ListPlace(5), ListPlace(9)) == [ListPlace(7)])
    #expect(ListPlace.places(3, after: ListPlace(5), before: ListPlace(6), limit: 3)?.count == 3)
    #expect(ListPlace.places(1_000, after: ListPlace(5), before: ListPlace(6), limit: 3) == nil)
    #expect(ListPlace.places(2, after: nil, before: nil, limit: 2) == [ListPlace(1), ListPlace(2)])
  }

  @Test func ofAListTheLongestAscentStays() {
    #expect(LongestAscent.indices(of: [3, 1, 2, 0, 4]) == [false, true, true, false, true])
    #expect(LongestAscent.indices(of: []) == [])
    var generator = SeededGenerator()
    for _ in 0..<200 {
      let numbers = Array(0..<generator.number(in: 1...40)).shuffled(using: &generator)
      let kept = zip(numbers, LongestAscent.indices(of: numbers)).filter(\.1).map(\.0)
      #expect(kept == kept.sorted())
      var lengths: [Int] = []
      for (index, number) in numbers.enumerated() {
        lengths.append(
          1 + (numbers[..<index].indices.filter { numbers[$0] < number }.map { lengths[$0] }.max() ?? 0)
        )
      }
      #expect(kept.count == lengths.max())
    }
  }
}
