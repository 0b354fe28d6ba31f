import Cambium

/// A release with a title: an album or an audiobook.
@Model(isAbstract: true, subclasses: ["Album", "Audiobook"])
class Release {
  #Index<Release>([\.sortTitle], [\.year], [\.plays])
  #Unique<Release>([\.title, \.artist], folding: [.case, .diacritics])

  @Attribute(.length(1...200)) var title: String
  var year: Int
  @Attribute(.externalStorage) var cover: Data?
  @Attribute(.derived("title[cd]")) var sortTitle: String
  @Attribute(.derived("tracks.@count")) var trackCount: Int
  @Attribute(.derived("tracks.@sum.seconds")) var seconds: Int
  @Attribute(.derived("tracks.@sum.plays")) var plays: Int

  @Relationship(inverse: \Artist.releases) var artist: Artist?
  @Relationship(.ordered, deleteRule: .cascade) var tracks: OrderedToMany<Track> = []
  @Relationship var tags: Set<Tag> = []

  init(title: String, year: Int) {
    self.title = title
    self.year = year
  }
}

@Model(superclass: "Release")
final class Album: Release {
  var label: String?

  init(title: String, year: Int, label: String?) {
    self.label = label
    super.init(title: title, year: year)
  }
}

@Model(superclass: "Release")
final class Audiobook: Release {
  var narrator: String

  init(title: String, year: Int, narrator: String) {
    self.narrator = narrator
    super.init(title: title, year: year)
  }
}

/// The artist of releases. If the store has an artist of the same name, a new artist becomes that one.
@Model final class Artist {
  @Attribute(.unique(ifExists: .keep)) var name: String
  @Relationship var releases: ToMany<Release> = []

  init(_ name: String) { self.name = name }
}

/// A word for releases. If the store has a tag of the same word, a new tag becomes that one.
@Model final class Tag {
  #Unique<Tag>([\.word], folding: .case, ifExists: .keep)
  var word: String
  @Relationship(inverse: \Release.tags) var releases: ToMany<Release> = []

  init(_ word: String) { self.word = word }
}

/// A song of an album, or a chapter of an audiobook.
@Model final class Track {
  var title: String
  @Attribute(.min(0)) var seconds: Int
  var plays: Int = 0
  @Relationship(.ordered, inverse: \Release.tracks) var release: Release?
  @Relationship(deleteRule: .cascade, inverse: \PlaylistEntry.track) var entries: ToMany<PlaylistEntry> = []

  init(_ title: String, seconds: Int) {
    self.title = title
    self.seconds = seconds
  }
}

@Model final class Playlist {
  @Attribute(.unique) var name: String
  @Relationship(.ordered, deleteRule: .cascade) var entries: OrderedToMany<PlaylistEntry> = []

  init(_ name: String) { self.name = name }
}

/// A position of a track in a playlist: a track can be in many playlists, and in one of them several times.
@Model final class PlaylistEntry {
  var added: Date = .now
  @Relationship(.ordered, inverse: \Playlist.entries) var playlist: Playlist?
  @Relationship var track: Track

  init(_ track: Track) { self.track = track }
}
