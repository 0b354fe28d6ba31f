import Predicates
import TestSupport
import Testing

@testable import GraphContext

struct IdentityMapTests {
  private final class Thing {
    let number: ObjectNumber
    init(_ number: ObjectNumber) { self.number = number }
  }

  /// Inserts as a context does: when a sweep is due, it first frees the objects that nothing else holds.
  private func insert(_ thing: Thing, into map: inout IdentityMap) {
    if map.needsSweep(for: 1) { _ = map.takeUnheld() }
    map.insert(thing, number: thing.number)
  }

  private func numbers(_ sequences: ClosedRange<UInt64>) -> [ObjectNumber] {
    sequences.map { ObjectNumber(rawValue: $0) }
  }

  @Test func behavesLikeADictionary() {
    var generator = SeededGenerator()
    var map = IdentityMap()
    var oracle: [ObjectNumber: Thing] = [:]
    for _ in 0..<50_000 {
      // Few numbers, so that they come and go; some of them far apart.
      let small = UInt64(generator.number(in: 1...400))
      let number = ObjectNumber(rawValue: small << UInt64(generator.pick([0, 0, 20, 50])))
      if let known = oracle[number] {
        #expect(map[number] === known)
        if generator.chance(1, in: 2) {
          map.remove(number)
          oracle[number] = nil
        }
      } else {
        #expect(map[number] == nil)
        let thing = Thing(number)
        insert(thing, into: &map)
        oracle[number] = thing
      }
      #expect(map.count == oracle.count)
    }
    #expect(Set(map.all.map(ObjectIdentifier.init)) == Set(oracle.values.map(ObjectIdentifier.init)))
  }

  @Test func anObjectThatSomebodyHoldsIsNeverForgotten() {
    var map = IdentityMap()
    var held: [ObjectNumber: Thing] = [:]
    for number in numbers(1...20_000) {
      let thing = Thing(number)
      insert(thing, into: &map)
      if number.sequence % 100 == 0 { held[number] = thing }
    }
    for (number, thing) in held { #expect(map[number] === thing) }
  }

  @Test func theMapStaysSmallWhenNobodyHoldsItsObjects() {
    var map = IdentityMap()
    for number in numbers(1...100_000) { insert(Thing(number), into: &map) }
    #expect(map.count <= 2_048)
    _ = map.takeUnheld()
    #expect(map.count == 0)
  }

  @Test func roomThatIsReservedIsFilledWithoutASweep() {
    var map = IdentityMap()
    var held: [ObjectNumber: Thing] = [:]
    var next: UInt64 = 1
    for round in 1...20 {
      if map.needsSweep(for: 5_000) { _ = map.takeUnheld() }
      map.reserve(5_000)
      #expect(map.count <= max(1_024, held.count))
      for _ in 0..<5_000 {
        let number = ObjectNumber(rawValue: next)
        let thing = Thing(number)
        insert(thing, into: &map)
        if next % 100 == 0 { held[number] = thing }
        next += 1
      }
      #expect(map.count >= 5_000 && map.count <= 5_000 + max(1_024, 50 * round))
      for (number, thing) in held { #expect(map[number] === thing) }
    }
  }

  @Test func objectsMayBeLetGoOnOtherThreads() async {
    // Safety: one task at a time uses a share; the references in it were counted before it was handed over.
    final class Share: @unchecked Sendable {
      var things: [Thing] = []
    }
    var map = IdentityMap()
    let shares = (0..<4).map { _ in Share() }
    for number in numbers(1...8_000) {
      let thing = Thing(number)
      insert(thing, into: &map)
      shares[Int(number.sequence % 4)].things.append(thing)
    }
    await withTaskGroup { group in
      for share in shares { group.addTask { share.things.removeAll() } }
      for round in 0..<100 {
        _ = map.takeUnheld()
        let first = 10_001 + UInt64(round) * 20
        for number in numbers(first...first + 19) {
          insert(Thing(number), into: &map)
        }
      }
    }
    _ = map.takeUnheld()
    #expect(map.count == 0)
  }
}
