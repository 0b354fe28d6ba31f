import Cambium

/// The releases to list.
package enum ReleaseKind: String, CaseIterable, Sendable {
  case all, albums, audiobooks
}

extension MediaLibrary {
  /// Imports the releases of a catalogue, all of them or none, and then their covers; returns how many releases it has.
  package func importCatalogue(_ file: URL) async throws -> Int {
    let catalogue = try Catalogue(contentsOf: file)
    let ids = try await container.write { context in
      catalogue.releases.map { line in
        let release = line.makeRelease()
        context.insert(release)
        return release.objectID
      }
    }
    // A cover goes from its file into the store in steps, and is never in memory as a whole.
    for (line, id) in zip(catalogue.releases, ids) {
      guard let cover = catalogue.coverFile(of: line) else { continue }
      try await container.setBlob(\Release.cover, of: id, contentsOf: cover)
    }
    return ids.count
  }

  /// A page of the releases by their titles. No cover and no track is read for it.
  package func releases(
    _ kind: ReleaseKind = .all,
    taggedWith tag: String? = nil,
    page: Int = 0,
    of pageCount: Int = 20
  ) async throws -> [ReleaseLine] {
    var request = From<Release>().orderBy(\.sortTitle).offset(page * pageCount).limit(pageCount)
    switch kind {
    case .all: break
    case .albums: request = request.where { $0.isKind(of: Album.self) }
    case .audiobooks: request = request.where { $0.isKind(of: Audiobook.self) }
    }
    if let tag { request = request.where { $0.tags.any { $0.word.equals(tag, .caseInsensitive) } } }
    return try await lines(request)
  }

  /// Finds releases, the most played first.
  ///
  /// - Parameters:
  ///   - text: what the title, the artist's name or the title of a track has in it, whatever the case and accents.
  ///   - predicate: a condition on releases as a format string.
  ///   - limit: how many are found at most.
  package func search(
    _ text: String?,
    where predicate: String? = nil,
    limit: Int = 20
  ) async throws -> [ReleaseLine] {
    var request = From<Release>().orderBy(.descending(\.plays), .ascending(\.sortTitle)).limit(limit)
    if let text {
      let parts = "title CONTAINS[cd] %@ OR artist.name CONTAINS[cd] %@ OR ANY tracks.title CONTAINS[cd] %@"
      request = request.where(format: parts, text, text, text)
    }
    if let predicate { request = request.where(format: predicate) }
    return try await lines(request)
  }

  private func lines(_ request: From<Release>) async throws -> [ReleaseLine] {
    try await container.query { context in
      try context.fetch(request.prefetching(\.artist)).map(ReleaseLine.init)
    }
  }

  /// The tracks of a release, in order.
  package func tracks(of title: String) async throws -> [TrackLine] {
    try await container.query { context in try context.release(titled: title).tracks.map(TrackLine.init) }
  }

  /// Notes that a track of a release was played; tracks count from 1.
  package func play(_ number: Int, of title: String) async throws {
    try await container.write { context in
      let tracks = try context.release(titled: title).tracks
      guard number > 0, number <= tracks.count else {
        throw LibraryMistake("“\(title)” has \(tracks.count) tracks, and no number \(number).")
      }
      tracks[number - 1].plays += 1
    }
  }

  /// Gives a release another title. Its cover is neither read nor written.
  package func retitle(_ title: String, to newTitle: String) async throws {
    try await container.write { context in try context.release(titled: title).title = newTitle }
  }

  /// Writes a cover into a file in steps; returns its length in bytes.
  package func exportCover(of title: String, to file: URL) async throws -> Int {
    let cover = try await container.query { context in try context.release(titled: title).blob(\.cover) }
    guard let cover else { throw LibraryMistake("“\(title)” has no cover.") }
    try cover.write(to: file)
    return cover.count
  }

  /// Counts the contents.
  package func statistics() async throws -> LibraryStatistics {
    try await container.query { context in
      LibraryStatistics(
        albums: try context.count(From<Album>()),
        audiobooks: try context.count(From<Audiobook>()),
        artists: try context.count(From<Artist>()),
        tracks: try context.count(From<Track>()),
        plays: try context.sum(of: \.plays, in: From<Release>()) ?? 0
      )
    }
  }
}
