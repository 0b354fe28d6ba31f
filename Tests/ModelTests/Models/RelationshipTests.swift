import GraphTestSupport
import Predicates
import Testing

@testable import GraphContext

struct RelationshipTests {
  let host = MemoryHost()

  @Test func newObjectsHoldWhatTheyWereGiven() {
    let record = Record(title: "Blue")
    let tune = Tune(isrc: "A", seconds: 1)
    tune.record = record
    #expect(tune.record === record)
    #expect(record.tunes.isEmpty, "inverses are a context's work")
    record.tunes.append(tune)
    record.tunes.append(Tune(isrc: "B", seconds: 2))
    #expect(record.tunes.map(\.isrc) == ["A", "B"])
    record.tunes = []
    #expect(record.tunes.isEmpty)
  }

  @Test func newObjectsMakeNoCyclesWhenOneEndIsGiven() {
    weak var record: Record?
    weak var tune: Tune?
    do {
      let newRecord = Record(title: "Blue")
      let newTune = Tune(isrc: "A", seconds: 1)
      newTune.record = newRecord
      record = newRecord
      tune = newTune
    }
    #expect(record == nil && tune == nil)
  }

  @Test func insertionBringsAlongWhatAnObjectLeadsTo() {
    let record = Record(title: "Blue")
    let tune = Tune(isrc: "A", seconds: 1)
    let player = Player(name: "Joni", favourite: tune)
    record.tunes = [tune]
    player.tunes.append(tune)
    tune.players.insert(player)
    host.adopt(record)
    #expect(host.events.filter { if case .adopted = $0 { true } else { false } }.count == 3)
    #expect(player.favourite === tune)
    #expect(host.events.contains(.added(tune.objectID.number, to: record.objectID.number)))
    #expect(host.events.contains(.toOne(player.objectID.number, slot: 1, from: 0, to: tune.objectID.number)))
    host.releaseAll()
  }

  @Test func aLongChainOfNewObjectsIsInsertedWithoutRecursion() {
    var last = Tune(isrc: "0", seconds: 0)
    var player = Player(name: "0", favourite: last)
    for number in 1..<50_000 {
      let next = Tune(isrc: "\(number)", seconds: number)
      next.players.insert(player)
      player = Player(name: "\(number)", favourite: next)
      last = next
    }
    host.adopt(player)
    #expect(last.isInserted)
    #expect(host.events.filter { if case .adopted = $0 { true } else { false } }.count == 100_000)
    host.releaseAll()
  }

  @Test func settingAToOneReportsBothEnds() {
    let tune = host.store(Tune.self, 7, [.string("A"), .int(1), .null, .int(3), .reference(9)])
    let other = host.store(Record.self, 8, [.string("Hejira"), .null])
    #expect(tune.record?._$state.number == 9)
    tune.record = other
    #expect(tune.record === other)
    tune.record = other
    tune.record = nil
    #expect(tune.record == nil)
    #expect(
      host.events.filter { $0 != .recordLookedUp(7) } == [
        .willChange(7), .toOne(7, slot: 4, from: 9, to: 8), .toOne(7, slot: 4, from: 8, to: 0),
      ]
    )
    host.releaseAll()
  }

  @Test func anUninsertedTargetEntersTheContextOfItsNewSource() {
    let tune = host.store(Tune.self, 7, [.string("A"), .int(1), .null, .int(3), .null])
    let record = Record(title: "Blue")
    tune.record = record
    #expect(record.isInserted)
    #expect(tune.reference(at: 4) == record.objectID.number)
    host.releaseAll()
  }

  @Test func anArrayThatIsChangedInPlaceAddsAndRemovesWhatDiffers() {
    let record = host.store(Record.self, 20, [.string("Blue"), .null])
    let tunes = (1...3).map { Tune(isrc: "\($0)", seconds: $0) }
    record.tunes = tunes
    #expect(record.tunes == tunes)
    host.events = []
    record.tunes.removeFirst()
    record.tunes.append(tunes[1])  // a member already
    record.tunes.append(Tune(isrc: "4", seconds: 4))
    let numbers = tunes.map(\.objectID.number)
    #expect(record.tunes.map(\.isrc) == ["2", "3", "4"])
    #expect(host.events.contains(.removed(numbers[0], from: 20)))
    #expect(host.events.filter { if case .removed = $0 { true } else { false } }.count == 1)
    #expect(host.events.filter { if case .added = $0 { true } else { false } }.count == 1)
    host.releaseAll()
  }

  @Test func aSetIsAsGoodAsAnArray() {
    let tune = host.store(Tune.self, 7, [.string("A"), .int(1), .null, .int(3), .null])
    let player = Player(name: "Joni", favourite: tune)
    tune.players.insert(player)
    #expect(tune.players == [player] && player.isInserted)
    tune.players.remove(player)
    #expect(tune.players.isEmpty)
    host.releaseAll()
  }

  @Test func appendingToAViewListsNothing() {
    let player = host.store(Player.self, 5, [.string("Joni"), .reference(1)])
    let tunes = (1...4).map { Tune(isrc: "\($0)", seconds: $0) }
    for tune in tunes { player.tunes.append(tune) }
    player.tunes.remove(tunes[2])
    #expect(player.tunes.count == 3)
    #expect(player.tunes.contains(tunes[0]) && !player.tunes.contains(tunes[2]))
    #expect(!host.events.contains(.listed(5)))
    #expect(player.tunes.map(\.isrc) == ["1", "2", "4"])
    #expect(host.events.contains(.listed(5)))
    host.releaseAll()
  }

  @Test func aViewFollowsItsRelationship() {
    let player = host.store(Player.self, 5, [.string("Joni"), .reference(1)])
    var view = player.tunes
    #expect(view.isEmpty)
    player.tunes.append(Tune(isrc: "1", seconds: 1))
    #expect(view.count == 1)
    view.append(Tune(isrc: "2", seconds: 2))
    #expect(player.tunes.count == 2)
    player.tunes = [Tune(isrc: "3", seconds: 3)]
    #expect(view.map(\.isrc) == ["3"])
    host.releaseAll()
  }

  @Test func aViewOfANewObjectIsACollection() {
    let player = Player(name: "Joni", favourite: Tune(isrc: "0", seconds: 0))
    let tune = Tune(isrc: "1", seconds: 1)
    player.tunes.append(tune)
    player.tunes.append(tune)
    player.tunes.append(player.favourite)
    player.tunes.remove(player.favourite)
    #expect(Array(player.tunes) == [tune])
  }

  @Test func aRolledBackInsertionLeavesAnObjectInNoContext() {
    let record = Record(title: "Blue")
    let tune = Tune(isrc: "A", seconds: 1)
    tune.record = record
    host.adopt(tune)
    tune.detach()
    #expect(tune.isrc == "A" && tune.record == nil && tune.objectReference == nil)
    host.adopt(tune)
    #expect(tune.objectID.number == 3)
    host.releaseAll()
  }

  @Test func aMissingRequiredTargetReadsAsAnObjectThatIsGone() {
    let player = host.store(Player.self, 5, [.string("Joni"), .null])
    let favourite = player.favourite
    #expect(favourite.isDeleted)
    #expect(favourite.isrc == "")
    host.releaseAll()
  }
}
