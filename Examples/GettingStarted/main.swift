// Quoted in Docs/GettingStarted.md
import Cambium
import Foundation

let url = URL(fileURLWithPath: "music.cambium")
let music = try await PersistentContainer("Music", models: Album.self, Song.self, at: url)

try await music.performBackgroundTask { context in
  guard try context.count(From<Album>()) == 0 else { return }
  let blue = Album(title: "Blue", year: 1971)
  context.insert(blue)
  for (title, seconds) in [("All I Want", 214), ("Carey", 182), ("River", 244)] {
    blue.songs.append(Song(title: title, seconds: seconds))
  }
  try context.save()
}

let context = music.viewContext
let long = From<Song>().where { $0.seconds > 200 && $0.album.year < 1980 }.orderBy(.descending(\.seconds))
for song in try context.fetch(long) {
  print("\(song.title), \(song.seconds) s, from \(song.album?.title ?? "no album")")
}
print("\(try context.count(From<Song>())) songs")

if let river = try context.fetchOne(From<Song>().where { $0.title == "River" }) {
  river.rating = 5
  try context.save()
}
try music.close()
// End of quotation
