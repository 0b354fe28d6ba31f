import Cambium
import Foundation
import Testing

/// Albums with an attribute of each derived form, songs and tags.
package enum DerivedModels {
  @Model package final class Album {
    #Index<Album>([\.songCount], [\.canonicalTitle])
    package var title: String
    @Attribute(.derived("title[cd]")) package var canonicalTitle: String
    @Attribute(.derived("songs.@count")) package var songCount: Int
    @Attribute(.derived("songs.@sum.seconds")) package var seconds: Int
    @Attribute(.derived("songs.@sum.rating")) package var ratings: Double
    @Attribute(.derived("songs.@sum.price")) package var price: Decimal
    @Attribute(.derived("songs.@min.seconds")) package var shortest: Int16?
    @Attribute(.derived("songs.@max.seconds")) package var longest: Int16?
    @Attribute(.derived("songs.@max.title")) package var lastTitle: String?
    @Attribute(.derived("tags.@count")) package var tagCount: Int
    @Attribute(.derived("tags.@sum.weight")) package var weight: Int
    @Relationship(deleteRule: .cascade, inverse: \Song.album) package var songs: [Song] = []
    @Relationship(inverse: \Tag.albums) package var tags: [Tag] = []

    package init(_ title: String) { self.title = title }
  }

  @Model package final class Song {
    package var title: String
    package var seconds: Int16?
    package var rating: Double
    package var price: Decimal
    @Relationship package var album: Album?

    package init(
      _ title: String,
      seconds: Int16? = nil,
      rating: Double = 0,
      price: Decimal = 0,
      in album: Album? = nil
    ) {
      self.title = title
      self.seconds = seconds
      self.rating = rating
      self.price = price
      self.album = album
    }
  }

  @Model package final class Tag {
    package var weight: Int8
    @Attribute(.derived("albums.@count")) package var albumCount: Int
    @Relationship package var albums: [Album] = []

    package init(_ weight: Int8) { self.weight = weight }
  }

  @Model package final class Bill {
    @Attribute(.derived("items.@sum.price")) package var total: Int8
    @Relationship(inverse: \Item.bill) package var items: [Item] = []
    package init() {}
  }

  @Model package final class Box {
    #Index<Box>([\.label])
    @Attribute(.derived("parcels.@count")) package var count: Int8
    @Attribute(.derived("parcels.@max.text")) package var label: String?
    @Relationship(inverse: \Parcel.box) package var parcels: [Parcel] = []
    package init() {}
  }

  @Model package final class Parcel {
    package var text: String
    @Relationship package var box: Box?

    package init(_ text: String, in box: Box) {
      self.text = text
      self.box = box
    }
  }

  @Model package final class Item {
    package var price: Int8
    @Relationship package var bill: Bill?

    package init(_ price: Int8, _ bill: Bill) {
      self.price = price
      self.bill = bill
    }
  }

  package static func open(_ location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer("Derived", models: Album.self, Song.self, Tag.self, at: location)
  }

  package static func openBoxes() async throws -> PersistentContainer {
    try await PersistentContainer("Boxes", models: Box.self, Parcel.self, at: .inMemory)
  }

  /// Inserts songs of 0, 1, 2 seconds and so on by batch, each into the next album.
  package static func insertSongs(
    _ count: Int,
    into albums: [ManagedObjectID],
    _ container: PersistentContainer
  ) async throws {
    let title = BatchColumn<Song, Int>.set(\.title) { "\($0)" }
    let seconds = BatchColumn<Song, Int>.set(\.seconds) { Int16($0) }
    let rating = BatchColumn<Song, Int>.set(\.rating) { Double($0) / 2 }
    let price = BatchColumn<Song, Int>.set(\.price) { Decimal($0) }
    let album = BatchColumn<Song, Int>.set(\.album) { albums[$0 % albums.count] }
    _ = try await container.batchInsert(
      Song.self,
      from: Array(0..<count),
      title,
      seconds,
      rating,
      price,
      album,
      chunkSize: 300
    )
  }

  /// Compares the derived values of each object with the values that they are derived from, as the context shows both.
  package static func expectExact(_ context: ManagedObjectContext, _ comment: Comment? = nil) throws {
    for album in try context.fetch(From<Album>()) {
      let songs = album.songs
      let lengths = songs.compactMap(\.seconds)
      #expect(album.canonicalTitle == album.title.lowercased(), comment)
      #expect(album.songCount == songs.count, comment)
      #expect(album.seconds == lengths.reduce(0) { $0 + Int($1) }, comment)
      #expect(album.ratings == songs.reduce(0) { $0 + $1.rating }, comment)
      #expect(album.price == songs.reduce(0) { $0 + $1.price }, comment)
      #expect(album.shortest == lengths.min(), comment)
      #expect(album.longest == lengths.max(), comment)
      #expect(album.lastTitle == songs.map(\.title).max(), comment)
      #expect(album.tagCount == album.tags.count, comment)
      #expect(album.weight == album.tags.reduce(0) { $0 + Int($1.weight) }, comment)
    }
    for tag in try context.fetch(From<Tag>()) { #expect(tag.albumCount == tag.albums.count, comment) }
  }
}
