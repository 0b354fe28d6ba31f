import Foundation
import Predicates
import Testing

struct ObjectNumberTests {
  private typealias Number = ObjectNumber

  @Test func aNumberIsItsSequenceAndItsClass() throws {
    for sequence in [1, 2, 1 << 49, Number.greatestSequence] as [UInt64] {
      for tag in [0, 1, 4_094, Number.greatestClassTag] as [UInt16] {
        let number = try #require(Number(sequence: sequence, classTag: tag))
        #expect(number.sequence == sequence && number.classTag == tag && !number.isNone)
        #expect(number.rawValue == UInt64(tag) << 50 | sequence && number.rawValue >> 62 == 0)
      }
    }
    #expect(Number(sequence: 7)?.rawValue == 7)
  }

  @Test func whatDoesNotFitIsNoNumber() {
    #expect(Number.greatestSequence == 1 << 50 - 1 && Number.greatestClassTag == 1 << 12 - 1)
    #expect(Number(sequence: 0) == nil && Number(sequence: 0, classTag: 1) == nil)
    #expect(Number(sequence: 1 << 50) == nil)
    #expect(Number(sequence: 1, classTag: 1 << 12) == nil)
  }

  @Test func noneNamesNoObject() {
    #expect(Number.none.isNone && Number.none.rawValue == 0 && !Number(rawValue: 1).isNone)
    #expect(Number.none.sequence == 0 && Number.none.classTag == 0)
  }

  @Test func theObjectsOfAClassAreARange() throws {
    let last = try #require(Number(sequence: Number.greatestSequence, classTag: 1))
    let first = try #require(Number(sequence: 1, classTag: 2))
    #expect(last < first && Number.none < last && !(first < first))
  }

  @Test func onlyNumbersWithASequenceAreSound() {
    for number in [1, 1 << 50 - 1, 1 << 50 | 1, 1 << 61 | 1] as [UInt64] {
      #expect(Number(rawValue: number).isSound)
    }
    for number in [0, 1 << 50, 1 << 62 | 1, 1 << 63 | 1] as [UInt64] {
      #expect(!Number(rawValue: number).isSound)
    }
  }

  @Test func aNumberReadsAndArchivesAsItsRawValue() throws {
    let number = Number(rawValue: 1_234)
    #expect("\(number)" == "1234")
    let bytes = try JSONEncoder().encode([number])
    #expect(String(decoding: bytes, as: UTF8.self) == "[1234]")
    #expect(try JSONDecoder().decode([Number].self, from: bytes) == [number])
  }

  @Test func aNumberIsOneWord() {
    #expect(MemoryLayout<Number>.size == 8 && MemoryLayout<Number?>.size == 9)
  }

  @Test func anotherClassTagLeavesTheSequence() {
    let number = Number(rawValue: 7)
    #expect(number.tagged(5) == Number(sequence: 7, classTag: 5))
    #expect(number.tagged(5).tagged(0) == number)
  }
}
