import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random changes of properties that stand for the objects behind links, beside sets and arrays of names.
struct RandomLinkedObjectsTests {
  /// The number of steps.
  private static let stepCount = TestEffort.times(300)

  @Test func propertiesAreWhatCollectionsAre() async throws {
    let container = try await PersistentContainer.bands()
    var run = BandRun(context: try container.context(), generator: SeededGenerator())
    for _ in 0..<Self.stepCount { try run.step() }
    #expect(try await container.verify().map(\.description) == [])
  }
}

private struct BandRun {
  /// What each band leads to, by names.
  private typealias Shown = [String: (members: Set<String>, setlist: [String])]
  private let context: ManagedObjectContext
  private var generator: SeededGenerator
  private var musicians: [String: Musician] = [:]
  private var pieces: [String: Anthem] = [:]
  private var bands: [String: Band] = [:]
  private var shown: Shown = [:]
  private var nextName = 0

  init(context: ManagedObjectContext, generator: SeededGenerator) {
    (self.context, self.generator) = (context, generator)
  }

  private mutating func newName() -> String {
    nextName += 1
    return "\(nextName)"
  }

  private mutating func some(_ names: some Collection<String>) -> String? {
    names.sorted().randomElement(using: &generator)
  }

  mutating func step() throws {
    let name = some(bands.keys)
    switch generator.number(in: 0...11) {
    case 0:
      let name = newName()
      let band = Band(name)
      context.insert(band)
      bands[name] = band
      shown[name] = ([], [])
    case 1, 2:
      let (first, second) = (newName(), newName())
      let (musician, piece) = (Musician(first), Anthem(second))
      context.insert(musician)
      context.insert(piece)
      musicians[first] = musician
      pieces[second] = piece
    case 3, 4:
      guard let name, let other = some(musicians.keys), let musician = musicians[other] else { return }
      if generator.chance(1, in: 2), let band = bands[name] {
        musician.bands.append(band)
      } else {
        bands[name]?.members.append(musician)
      }
      shown[name]?.members.insert(other)
    case 5:
      guard let name, let other = some(shown[name]?.members ?? []) else { return }
      bands[name]?.members.removeAll { $0.name == other }
      shown[name]?.members.remove(other)
    case 6:
      guard let name else { return }
      let kept = musicians.keys.sorted().filter { _ in generator.chance(1, in: 3) }
      bands[name]?.members = kept.compactMap { musicians[$0] }
      shown[name]?.members = Set(kept)
    case 7, 8:
      guard let name, var list = shown[name]?.setlist else { return }
      if let title = some(pieces.keys), !list.contains(title) {
        list.insert(title, at: generator.number(in: 0...list.count))
      } else {
        list.shuffle(using: &generator)
      }
      bands[name]?.setlist = list.compactMap { pieces[$0] }
      shown[name]?.setlist = list
    case 9: try delete(name)
    case 10: try context.save()
    default: try context.refresh()
    }
    try check()
  }

  private mutating func delete(_ name: String?) throws {
    if generator.chance(1, in: 4), bands.count > 3, let name, let band = bands.removeValue(forKey: name) {
      context.delete(band)
      shown[name] = nil
    } else if let other = some(musicians.keys), let musician = musicians.removeValue(forKey: other) {
      context.delete(musician)
      for name in shown.keys { shown[name]?.members.remove(other) }
    }
    if generator.chance(1, in: 3), let title = some(pieces.keys),
      let piece = pieces.removeValue(forKey: title)
    {
      context.delete(piece)
      for name in shown.keys { shown[name]?.setlist.removeAll { $0 == title } }
    }
  }

  private mutating func check() throws {
    for (name, band) in bands {
      try #require(Set(band.members.map(\.name)) == shown[name]?.members)
      try #require(band.setlist.map(\.title) == shown[name]?.setlist)
    }
    for (other, musician) in musicians {
      let names = shown.filter { $0.value.members.contains(other) }.keys
      try #require(Set(musician.bands.map(\.name)) == Set(names))
    }
    guard let other = some(musicians.keys), let title = some(pieces.keys) else { return }
    let found = try context.fetch(
      From<Band>().where { band in
        band.members.any { $0.name == other } || band.setlist.any { $0.title == title }
      }
    )
    let expected = shown.filter { $0.value.members.contains(other) || $0.value.setlist.contains(title) }.keys
    try #require(Set(found.map(\.name)) == Set(expected))
    let links = shown.values.map(\.members.count).reduce(0, +)
    try #require(try context.count(From<Membership>()) == links)
  }
}
