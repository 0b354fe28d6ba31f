// Quoted in Docs/GettingStarted.md
import Cambium

@Model final class Album {
  var title: String
  var year: Int
  @Relationship(deleteRule: .cascade) var songs: [Song] = []

  init(title: String, year: Int) {
    self.title = title
    self.year = year
  }
}

@Model final class Song {
  #Index<Song>([\.seconds], [\.title])
  var title: String
  var seconds: Int
  var rating: Double?
  @Relationship(inverse: \Album.songs) var album: Album?

  init(title: String, seconds: Int) {
    self.title = title
    self.seconds = seconds
  }
}
// End of quotation
