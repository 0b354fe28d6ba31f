import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Two racing contexts, a child and batches against the values computed anew.
struct RandomDerivedTests {
  @Test func randomChangesKeepEveryValueExact() async throws {
    var random = SeededGenerator()
    for _ in 0..<3 {
      let container = try await DerivedModels.open()
      let contexts: [ManagedObjectContext] = [try container.context(), try container.context()]
      defer { for context in contexts { context.end() } }
      for context in contexts { context.mergePolicy = .mergeByPropertyObjectTrump }
      for step in 0..<60 {
        if random.chance(1, in: 8) {
          try await batch(container, &random)
        } else {
          let context = random.pick(contexts)
          try change(random.chance(1, in: 3) ? context.makeChild() : context, &random)
          // A save that meets a deletion by the other one is dropped.
          do { try context.save() } catch { context.rollback() }
        }
        #expect(try await container.verify() == [], "step \(step), seed \(random.seed)")
      }
      for context in contexts {
        try context.refresh()
        try DerivedModels.expectExact(context, "seed \(random.seed)")
      }
    }
  }

  private func change(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
    let albums = try context.fetch(From<DerivedModels.Album>())
    let songs = try context.fetch(From<DerivedModels.Song>())
    let tags = try context.fetch(From<DerivedModels.Tag>())
    for _ in 0..<random.number(in: 1...8) {
      let album = albums.isEmpty || random.chance(1, in: 6) ? nil : random.pick(albums)
      let live = songs.filter { !$0.isDeleted }
      switch random.number(in: 0...9) {
      case 0: context.insert(DerivedModels.Album("Title \(random.number(in: 0...9))"))
      case 1, 2, 3:
        context.insert(
          DerivedModels.Song(
            "\(random.number(in: 0...99))",
            seconds: random.chance(1, in: 5) ? nil : Int16(random.number(in: -50...50)),
            rating: Double(random.number(in: 0...8)) / 4,
            price: Decimal(random.number(in: 0...500)) / 100,
            in: album.flatMap { $0.isDeleted ? nil : $0 }
          )
        )
      case 4 where !live.isEmpty: random.pick(live).album = album.flatMap { $0.isDeleted ? nil : $0 }
      case 5 where !live.isEmpty: random.pick(live).seconds = Int16(random.number(in: -50...50))
      case 6 where !live.isEmpty: context.delete(random.pick(live))
      case 7:
        if random.chance(1, in: 3), let album, !album.isDeleted { context.delete(album) }
        if tags.count < 5 { context.insert(DerivedModels.Tag(Int8(random.number(in: 0...9)))) }
      case 8 where !tags.isEmpty:
        let tag = random.pick(tags)
        tag.weight = Int8(random.number(in: 0...9))
        if let album, !album.isDeleted {
          if album.tags.contains(where: { $0 === tag }) {
            album.tags.removeAll { $0 === tag }
          } else {
            album.tags.append(tag)
          }
        }
      default: if let album, !album.isDeleted { album.title = "Other \(random.number(in: 0...9))" }
      }
    }
    if context.parent != nil { try context.save() }
  }

  private func batch(_ container: PersistentContainer, _ random: inout SeededGenerator) async throws {
    let seconds = Int16(random.number(in: -50...50))
    switch random.number(in: 0...2) {
    case 0:
      _ = try await container.batchUpdate(
        From<DerivedModels.Song>().where { $0.seconds > seconds },
        .set(\.seconds, to: seconds)
      )
    case 1: _ = try await container.batchDelete(From<DerivedModels.Song>().where { $0.seconds == seconds })
    default:
      let albums = try await container.query { try $0.fetch(From<DerivedModels.Album>()).map(\.objectID) }
      if albums.isEmpty { return }
      try await DerivedModels.insertSongs(20, into: albums, container)
    }
  }

  /// Saves by four contexts at a time.
  @Test func racingSavesKeepEveryValueExact() async throws {
    let count = TestEffort.times(1_000, long: 2_000)
    let container = try await DerivedModels.open()
    try await container.performBackgroundTask { context in
      for place in 0..<8 { context.insert(DerivedModels.Album("Album \(place)")) }
      try context.save()
    }
    let random = SeededGenerator()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: random.seed &+ UInt64(writer))
          for _ in 0..<count / 4 {
            let seconds = Int16(random.number(in: -1_000...1_000))
            let (place, sort) = (random.number(in: 0...7), random.number(in: 0...5))
            try await container.performBackgroundTask { context in
              context.mergePolicy = .mergeByPropertyObjectTrump
              let albums = try context.fetch(From<DerivedModels.Album>().orderBy(\.title))
              let album = albums[place]
              let song = try context.fetch(From<DerivedModels.Song>().where { $0.seconds > seconds }.limit(1))
                .first
              // The number of songs is limited, because many saves search them.
              let isFull = try context.count(From<DerivedModels.Song>()) >= 300
              switch isFull ? 0 : sort {
              case 0: if let song { context.delete(song) }
              case 1: song?.album = album
              case 2: song?.seconds = seconds
              default:
                context.insert(
                  DerivedModels.Song("\(seconds)", seconds: seconds, rating: 0.25, price: 1, in: album)
                )
              }
              // Of two that delete one song, the second is refused.
              do { try context.save() } catch { context.rollback() }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await container.verify() == [])
    try await container.performBackgroundTask { try DerivedModels.expectExact($0) }
  }
}
