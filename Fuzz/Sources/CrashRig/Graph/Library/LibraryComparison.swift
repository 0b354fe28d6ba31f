import Foundation
import GraphContext
import Predicates

/// Compares the contents of a library in a context with an oracle: as ``GraphComparison``, also by class and by
/// position.
struct LibraryComparison {
  let context: ManagedObjectContext
  let state: LibraryState

  /// Throws the first difference.
  func run() throws {
    try compareMedia()
    try compareTracks()
    try comparePlaylists()
    try compareIndexes()
  }

  private func compareMedia() throws {
    try expect("codes of Medium", codes(of: "Medium"), state.media.keys.sorted())
    for kind in LibraryState.Kind.allCases {
      let expected = state.media.filter { $0.value.kind == kind }
      try expect("codes of \(kind.rawValue)", codes(of: kind.rawValue), expected.keys.sorted())
      for record in try context.fetch(DynamicQuery(kind.rawValue)) { try compare(record, kind) }
    }
  }

  private func compare(_ record: ManagedRecord, _ kind: LibraryState.Kind) throws {
    let code = try record.code
    let shown = LibraryState.Medium(
      kind: kind,
      title: try record.value("title") ?? "",
      words: try record.value("words") ?? [],
      label: try record.value("label.name") ?? "",
      year: try record.value("label.year"),
      cover: try record.value("cover"),
      person: try record.value(kind == .album ? "artist" : "narrator"),
      tracks: try record.objects("tracks").map { try $0.code }
    )
    try expect("Medium \(code)", shown, state.media[code])
    try expect("first tracks of Medium \(code)", firstTracks(of: record), Array(shown.tracks.prefix(2)))
    try expect("sortTitle of Medium \(code)", record.value("sortTitle"), shown.title.lowercased())
    try expect("trackCount of Medium \(code)", record.value("trackCount"), shown.tracks.count)
    try expect("seconds of Medium \(code)", record.value("seconds"), state.seconds(of: shown))
  }

  private func firstTracks(of medium: ManagedRecord) throws -> [Int] {
    try medium.objects("tracks", at: 0..<2).map { try $0.code }
  }

  private func compareTracks() throws {
    try expect("codes of Track", codes(of: "Track"), state.tracks.keys.sorted())
    for record in try context.fetch(DynamicQuery("Track")) {
      let code = try record.code
      try expect("seconds of Track \(code)", record.value("seconds"), state.tracks[code])
      try expect("medium of Track \(code)", try record.object("medium")?.code, state.medium(of: code))
    }
  }

  private func comparePlaylists() throws {
    try expect("codes of Playlist", codes(of: "Playlist"), state.playlists.keys.sorted())
    for record in try context.fetch(DynamicQuery("Playlist")) {
      let code = try record.code
      let tracks = try record.objects("tracks").map { try $0.code }
      try expect("tracks of Playlist \(code)", tracks, state.playlists[code])
    }
  }

  private func codes(of entity: String, where condition: PredicateTree = .constant(true)) throws -> [Int] {
    try context.fetch(DynamicQuery(entity, where: condition)).map { try $0.code }.sorted()
  }

  private func expect<Value: Equatable>(_ subject: String, _ shown: Value, _ expected: Value) throws {
    guard shown != expected else { return }
    let (shown, wanted) = ("\(shown)".prefix(300), "\(expected)".prefix(300))
    throw GraphDifference("\(subject): \(shown) instead of \(wanted)")
  }
}

// MARK: - Through indexes

extension LibraryComparison {
  private func compareIndexes() throws {
    for word in LibraryWorkload.words {
      let found = try codes(of: "Medium", where: PredicateTree(format: "ANY words == '\(word)'"))
      try expect("with the word \(word)", found, media { $0.words.contains(word) })
    }
    for count in 0...4 {
      let found = try codes(of: "Medium", where: .equal("trackCount", .int(Int64(count))))
      try expect("with \(count) tracks", found, media { $0.tracks.count == count })
    }
    for (code, medium) in state.media { try compareIndexes(code, medium) }
  }

  private func compareIndexes(_ code: Int, _ medium: LibraryState.Medium) throws {
    try expect("by code", codes(of: "Medium", where: .equal("code", .int(Int64(code)))), [code])
    let title = medium.title.lowercased()
    try expect(
      "by sortTitle",
      codes(of: "Medium", where: .equal("sortTitle", .string(title))),
      media { $0.title.lowercased() == title }
    )
    if let year = medium.year {
      let labelled = PredicateTree.all([
        .equal("label.year", .int(Int64(year))), .equal("label.name", .string(medium.label)),
      ])
      let expected = media { $0.year == year && $0.label == medium.label }
      try expect("by label", codes(of: "Medium", where: labelled), expected)
    }
    if medium.kind == .audiobook, let narrator = medium.person {
      try expect(
        "by narrator",
        codes(of: "Audiobook", where: .equal("narrator", .string(narrator))),
        media { $0.kind == .audiobook && $0.person == narrator }
      )
    }
  }

  private func media(where holds: (LibraryState.Medium) -> Bool) -> [Int] {
    state.media.filter { holds($0.value) }.keys.sorted()
  }
}
