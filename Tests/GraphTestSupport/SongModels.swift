import Cambium
import Foundation

// Quoted in README.md
@Model package final class Song {
  #Index<Song>([\.title], [\.seconds], [\.album, \.track])
  #Unique<Song>([\.isrc])
  package var isrc: String
  package var title: String
  package var track: Int
  package var seconds: Int
  package var rating: Double?
  package var added: Date = .now
  @Relationship(deleteRule: .nullify, inverse: \Album.songs) package var album: Album?

  package init(isrc: String, title: String, track: Int, seconds: Int) {
    self.isrc = isrc
    self.title = title
    self.track = track
    self.seconds = seconds
  }
}

@Model package final class Album {
  package var title: String
  package var year: Int
  @Relationship(deleteRule: .cascade) package var songs: [Song] = []

  package init(title: String, year: Int) {
    self.title = title
    self.year = year
  }
}
// End of quotation
