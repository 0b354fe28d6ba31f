import Foundation
import GraphTestSupport
import PageStore
import Predicates
import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// The change set of a commit is the difference between the store before it and after it, for every kind of save. The
/// tests compute this difference from all records and links, without change sets.
struct ChangeSetTests {
  private static func schema() throws -> Schema {
    try Schema(entities: [
      entity(
        "Song",
        [
          attribute("title", .string), attribute("plays", .int64, optional: true),
          link("album", to: "Album", inverse: "songs"),
          link("tags", to: "Tag", .many, inverse: "songs"),
          link("notes", to: "Note", .many, inverse: "song", rule: .cascade),
        ],
        indexes: [IndexDescription(["title"])]
      ),
      entity("Album", [attribute("title", .string), link("songs", to: "Song", .many, inverse: "album")]),
      entity("Tag", [attribute("title", .string), link("songs", to: "Song", .many, inverse: "tags")]),
      entity("Note", [attribute("title", .string), link("song", to: "Song", .required, inverse: "notes")]),
    ])
  }

  /// Everything that a view of the store has.
  private struct Dump: Equatable {
    /// By entity, object and slot; without the commit in the record's header.
    var values: [EntityNumber: [ObjectNumber: [AttributeValue]]] = [:]
    var links: [ChangeSet.Relationship: Set<ChangeSet.Link>] = [:]

    init(_ view: StoreView) throws {
      for entity in view.schema.entities {
        try entity.forEachRecord(in: view.snapshot) { number, record in
          let slots = 0..<record.slotCount
          values[entity.number, default: [:]][number] = slots.map { slot in
            record.isNull(slot) ? .null : record.value(slot)
          }
        }
        for case .pairs(let trees) in entity.toManys.map(\.storage) {
          guard let tree = try view.snapshot.treeIfPresent(trees.forward) else { continue }
          var cursor = tree.cursor()
          while try cursor.next() {
            let pair = try #require(KeyCoder.numbers(ofPair: cursor.key()))
            links[trees.relationship, default: []].insert(.init(owner: pair.0, element: pair.1))
          }
        }
      }
    }
  }

  private struct Difference: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// - Throws: the first difference between a change set and what two states say.
  private static func compare(_ changes: ChangeSet, from old: Dump, to new: Dump) throws {
    for entity in Set(old.values.keys).union(new.values.keys) {
      let (before, after) = (old.values[entity, default: [:]], new.values[entity, default: [:]])
      let found = changes.objects[entity] ?? ChangeSet.Objects()
      var expected = ChangeSet.Objects()
      for number in after.keys.filter({ before[$0] == nil }).sorted() { expected.inserted.append(number) }
      expected.deleted = before.keys.filter { after[$0] == nil }.sorted()
      for (number, values) in before.sorted(by: { $0.key < $1.key }) {
        guard let newValues = after[number], newValues != values else { continue }
        let slots = values.indices.filter { values[$0] != newValues[$0] }
        expected.updated.append(.init(number: number, slots: SlotSet(slots)))
      }
      if found != expected { throw Difference("entity \(entity): \(found) instead of \(expected)") }
    }
    // Each change of a link is listed at one of its two ends.
    var links = old.links
    for (relationship, found) in changes.links {
      for link in found.removed {
        if links[relationship, default: []].remove(link) == nil { throw Difference("\(link) was not there") }
        links[Self.inverse(relationship, links, new)]?.remove(.init(owner: link.element, element: link.owner))
      }
      for link in found.added {
        if !links[relationship, default: []].insert(link).inserted { throw Difference("\(link) was there") }
        links[Self.inverse(relationship, links, new), default: []]
          .insert(.init(owner: link.element, element: link.owner))
      }
    }
    if links.filter({ !$0.value.isEmpty }) != new.links { throw Difference("other links") }
  }

  /// The schema has two many-to-many ends: each other's inverse.
  private static func inverse(
    _ relationship: ChangeSet.Relationship,
    _ links: [ChangeSet.Relationship: Set<ChangeSet.Link>],
    _ new: Dump
  ) -> ChangeSet.Relationship {
    Set(links.keys).union(new.links.keys).first { $0 != relationship } ?? relationship
  }

  private static func edit(_ context: ManagedObjectContext, _ generator: inout SeededGenerator) throws {
    for _ in 0..<generator.number(in: 1...6) {
      let songs = try context.fetch(DynamicQuery("Song"))
      let albums = try context.fetch(DynamicQuery("Album"))
      let tags = try context.fetch(DynamicQuery("Tag"))
      let title = AttributeValue.string("title \(generator.number(in: 0...9))")
      switch generator.number(in: 0...9) {
      case 0: try context.make("Album", ["title": title])
      case 1: try context.make("Tag", ["title": title])
      case 2, 3: try context.make("Song", ["title": title])
      case 4 where !songs.isEmpty:
        try generator.pick(songs).set("title", to: title)
      case 5 where !songs.isEmpty:
        try generator.pick(songs).setObject("album", to: albums.randomElement(using: &generator))
      case 6 where !songs.isEmpty && !tags.isEmpty:
        let (song, tag) = (generator.pick(songs), generator.pick(tags))
        if try song.objects("tags").contains(tag) {
          try song.remove(tag, from: "tags")
        } else {
          try tag.add(song, to: "songs")
        }
      case 7 where !songs.isEmpty:
        try context.make("Note", ["title": title]).setObject("song", to: generator.pick(songs))
      case 8:
        if let record = try context.fetch(DynamicQuery(generator.pick(["Song", "Album", "Tag"])))
          .randomElement(
            using: &generator
          )
        {
          context.delete(record)
        }
      default: break
      }
    }
  }

  /// - Parameter seed: a seed with which two contexts both set a reference to nil before they see each other's change; nil for the seed
  ///   of the run.
  @Test(arguments: [nil, 6_480_887_110_264_369_941])
  func aChangeSetIsTheDifferenceOfTwoCommits(seed: UInt64?) throws {
    var generator = seed.map { SeededGenerator(seed: $0) } ?? SeededGenerator()
    let store = try Store.inMemory()
    let container = try PersistentContainer("songs", schema: Self.schema(), on: store)
    var views = [try container.newestView()]
    // Two contexts, so that delete rules meet what the other one has saved since.
    for _ in 0..<TestEffort.times(80, long: 400) {
      let contexts = [try container.context(), try container.context()]
      for context in contexts {
        try Self.edit(context, &generator)
      }
      for context in contexts {
        do throws(ContextError) { try context.save() } catch { context.rollback() }
        let view = try container.newestView()
        if view.commit > views[views.count - 1].commit { views.append(view) }
        context.end()
      }
    }
    let dumps = try views.map(Dump.init)
    var seen = 0
    for place in views.indices.dropFirst() {
      let changes = views[place].changeSets(since: views[place - 1])
      // A lease of numbers is a commit without changes.
      #expect(changes.count <= 1)
      try Self.compare(changes.first ?? ChangeSet(commit: 0), from: dumps[place - 1], to: dumps[place])
      seen += changes.count
    }
    #expect(seen > 50)
    let all = views[views.count - 1].changeSets(since: views[0])
    #expect(all.map(\.commit) == all.map(\.commit).sorted() && all.count >= seen)
  }

  /// Setting a value to an equal one is no change.
  @Test func equalValuesAreNoChange() throws {
    let store = try Store.inMemory()
    let container = try PersistentContainer("songs", schema: Self.schema(), on: store)
    let context = try container.context()
    let song = try context.make("Song", ["title": .string("a"), "plays": .int(1)])
    try context.save()
    let before = try container.newestView()
    try song.set("title", to: .string("a"))
    try song.set("plays", to: .int(2))
    try context.save()
    let changes = try #require(try container.newestView().changeSets(since: before).first)
    let entity = try #require(container.coordinator.schema.entity(named: "Song"))
    let slot = try #require(entity.schema.stored.firstIndex { $0.name == "plays" })
    #expect(
      changes.objects[entity.number]?.updated == [
        .init(number: ObjectNumber(rawValue: 1), slots: SlotSet(slot))
      ]
    )
    try song.set("plays", to: .int(2))
    let commit = store.lastCommit
    try context.save()
    #expect(store.lastCommit == commit)
  }
}
