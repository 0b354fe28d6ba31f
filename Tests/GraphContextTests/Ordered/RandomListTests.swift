import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random changes of ordered lists by two contexts and a child, beside arrays.
struct RandomListTests {
  /// The number of steps.
  private static let stepCount = TestEffort.times(400, long: 1_500)

  @Test(arguments: [true, false])
  func listsAreWhatArraysAre(_ isInMemory: Bool) async throws {
    let folder = try TemporaryFolder()
    let location =
      isInMemory ? StoreLocation.inMemory : .file(URL(fileURLWithPath: folder.file("lists.cambium")))
    let container = try await PersistentContainer("Lists", models: Playlist.self, Track.self, at: location)
    let run = try ListRun(container, SeededGenerator())
    for _ in 0..<Self.stepCount { try run.step() }
    try run.finish()
    try run.compare()
    #expect(try await container.verify().map(\.description) == [])
  }
}

/// The values are the titles of the tracks of each list.
private final class ListRun: ContextTurns<[[String]]> {
  private var ids: [ManagedObjectID] = []
  private var nextTitle = 0

  init(_ container: PersistentContainer, _ generator: SeededGenerator) throws {
    try super.init(container, generator, [[], [], []])
    let lists = ["A", "B", "C"].map(Playlist.init)
    for list in lists { contexts[0].insert(list) }
    try contexts[0].save()
    ids = lists.map(\.objectID)
  }

  private func list(_ index: Int) throws -> Playlist { try context.object(Playlist.self, with: ids[index]) }

  private func track(_ title: String) throws -> Track {
    try #require(try context.fetch(From<Track>().where { $0.title == title }).first)
  }

  func step() throws {
    let index = generator.number(in: 0...2)
    let list = try list(index)
    let count = shown[index].count
    let isView = generator.chance(1, in: 2)
    switch generator.number(in: 0...13) {
    case 0...2:
      let position = generator.pick([0, count / 2, count, generator.number(in: 0...count)])
      let titles = (0..<generator.number(in: 1...4)).map { "\(nextTitle + $0)" }
      nextTitle += titles.count
      let tracks = titles.map(Track.init)
      if isView {
        list.queued.insert(contentsOf: tracks, at: position)
      } else {
        var all = Array(list.queued)
        all.insert(contentsOf: tracks, at: position)
        list.queued = OrderedToMany(all)
      }
      shown[index].insert(contentsOf: titles, at: position)
    case 3, 4:
      guard count > 0 else { return }
      let (old, new) = (generator.number(in: 0...count - 1), generator.number(in: 0...count - 1))
      list.queued.move(from: old, to: new)
      shown[index].insert(shown[index].remove(at: old), at: new)
    case 5:
      let other = generator.number(in: 0...2)
      guard other != index, let title = shown[other].randomElement(using: &generator) else { return }
      let position = generator.number(in: 0...count)
      let track = try track(title)
      if isView {
        list.queued.insert(track, at: position)
        shown[index].insert(title, at: position)
      } else {
        track.queue = list
        shown[index].append(title)
      }
      shown[other].removeAll { $0 == title }
    case 6:
      guard count > 0 else { return }
      let position = generator.number(in: 0...count - 1)
      let track = list.queued[position]
      if isView { list.queued.remove(at: position) } else { context.delete(track) }
      shown[index].remove(at: position)
    case 7:
      shown[index].shuffle(using: &generator)
      let byTitle = Dictionary(uniqueKeysWithValues: list.queued.map { ($0.title, $0) })
      list.queued = OrderedToMany(shown[index].compactMap { byTitle[$0] })
    case 8:
      guard count > 0 else { return }
      list.queued[generator.number(in: 0...count - 1)].plays += 1
    case 9:
      guard child == nil else { return }
      rollBackContext()
      if generator.chance(1, in: 2) { try handOverAndCompare() }
    case 10:
      guard child == nil else { return }
      try saveContext()
      if generator.chance(1, in: 2) { try handOverAndCompare() }
    case 11:
      if child == nil { makeChild() } else { try endChild(saving: !generator.chance(1, in: 4)) }
    case 12:
      let (from, to) = (generator.number(in: 0...count), generator.number(in: 0...count))
      let range = min(from, to)..<max(from, to)
      #expect(list.queued[range].map(\.title) == Array(shown[index][range]))
      guard count > 0 else { return }
      let position = generator.number(in: 0...count - 1)
      #expect(list.queued.firstIndex(of: list.queued[position]) == position)
    default:
      try compare()
      let query = From<Track>().where { $0.queue == list }.orderBy(.position(in: \.queue))
      #expect(try context.fetch(query).map(\.title) == shown[index])
      #expect(
        try context.fetch(query.offset(2).limit(5)).map(\.title) == Array(shown[index].dropFirst(2).prefix(5))
      )
    }
  }

  private func handOverAndCompare() throws {
    try handOver()
    try compare()
  }

  func compare() throws {
    for (index, titles) in shown.enumerated() {
      let list = try list(index)
      #expect(list.queuedTitles == titles)
      #expect(list.queued.count == titles.count)
    }
  }
}
