import Cambium
import Foundation

@Model final class UniqueAlbum {
  @Attribute(.unique(ifExists: .keep)) var title: String
  var year: Int = 0
  @Relationship var tracks: [UniqueTrack] = []

  init(_ title: String, year: Int = 0) {
    self.title = title
    self.year = year
  }
}

@Model final class UniqueTrack {
  #Unique<UniqueTrack>([\.album, \.place], ifExists: .replace)
  @Attribute(.unique(ifExists: .merge)) var code: String?
  var title: String = ""
  var plays: Int = 0
  var rating: Int?
  var place: Int?
  @Relationship(inverse: \UniqueAlbum.tracks) var album: UniqueAlbum?
  @Relationship var sleeve: UniqueSleeve?
  @Relationship var tags: Set<UniqueTag> = []

  init(_ code: String?, _ title: String = "", plays: Int = 0, rating: Int? = nil) {
    self.code = code
    self.title = title
    self.plays = plays
    self.rating = rating
  }
}

@Model final class UniqueSleeve {
  var name: String
  @Relationship(inverse: \UniqueTrack.sleeve) var track: UniqueTrack?

  init(_ name: String) { self.name = name }
}

@Model final class UniqueTag {
  @Attribute(.unique) var word: String
  @Relationship(inverse: \UniqueTrack.tags) var tracks: Set<UniqueTrack> = []

  init(_ word: String) { self.word = word }
}

enum Tracks {
  static func open() async throws -> PersistentContainer {
    var options = StoreOptions()
    options.durability = .none
    return try await PersistentContainer(
      "Tracks",
      models: [UniqueAlbum.self, UniqueTrack.self, UniqueSleeve.self, UniqueTag.self],
      at: .inMemory,
      options: options
    )
  }
}
