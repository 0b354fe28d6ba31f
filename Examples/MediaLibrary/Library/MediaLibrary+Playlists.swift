import Cambium

extension MediaLibrary {
  /// Adds the tracks of releases to a playlist, which is made if there is none; returns how many.
  ///
  /// - Parameter predicate: a condition on releases as a format string.
  package func add(where predicate: String, to name: String) async throws -> Int {
    try await container.write { context in
      let releases = try context.fetch(From<Release>().where(format: predicate).orderBy(\.sortTitle))
      let playlist = try context.fetchOne(From<Playlist>().where { $0.name == name }) ?? Playlist(name)
      context.insert(playlist)
      let entries = releases.flatMap { $0.tracks.map(PlaylistEntry.init) }
      playlist.entries.append(contentsOf: entries)
      return entries.count
    }
  }

  /// A page of a playlist: it is found by its position, and nothing in front of it is read.
  package func entries(
    of name: String,
    from position: Int = 1,
    count: Int = 20
  ) async throws -> [TrackLine] {
    try await container.query { context in
      let playlist = try context.playlist(named: name)
      let page = From<PlaylistEntry>().where { $0.playlist == playlist }.orderBy(.position(in: \.playlist))
        .offset(position - 1).limit(count).prefetching(\.track.release)
      return try context.fetch(page).map { TrackLine($0.track) }
    }
  }

  /// Moves an entry of a playlist, which alone is written; positions count from 1.
  package func move(_ old: Int, to new: Int, in name: String) async throws {
    try await container.write { context in
      let playlist = try context.playlist(named: name)
      let count = playlist.entries.count
      for position in [old, new] where position < 1 || position > count {
        throw LibraryMistake("“\(name)” has \(count) entries, and no position \(position).")
      }
      playlist.entries.move(from: old - 1, to: new - 1)
    }
  }
}
