import Cambium
import Foundation

@Model final class Playlist {
  var name: String
  @Relationship(.ordered, deleteRule: .cascade) var tracks: [Track] = []
  @Relationship(.ordered) var queued: OrderedToMany<Track> = []

  init(_ name: String) { self.name = name }
}

@Model final class Track {
  var title: String
  var plays: Int = 0
  @Relationship(.ordered, inverse: \Playlist.tracks) var playlist: Playlist?
  @Relationship(.ordered, inverse: \Playlist.queued) var queue: Playlist?

  init(_ title: String) { self.title = title }
}

extension Playlist {
  var titles: [String] { tracks.map(\.title) }
  var queuedTitles: [String] { queued.map(\.title) }
}
