import Foundation
import GraphContext
import Predicates

/// A change of a library, in terms of codes: a context and a ``LibraryState`` can both make it.
enum LibraryEdit: Sendable {
  /// Adds one, or changes one of the same class. The tracks stay as they are.
  case putMedium(Int, LibraryState.Medium)
  /// Adds one that is in no medium, or changes its seconds.
  case putTrack(Int, seconds: Int)
  /// Puts a track at a position among the others of a medium, or takes it out of the one that it is in.
  case place(track: Int, in: Int?, at: Int)
  /// Adds one, or gives it other tracks.
  case putPlaylist(Int, [Int])
  case deleteMedium(Int)
  case deleteTrack(Int)
  case deletePlaylist(Int)
}

/// Makes edits in a context, whose records it finds by their codes.
struct LibraryEditor {
  let context: ManagedObjectContext

  func apply(_ edit: LibraryEdit) throws {
    switch edit {
    case .putMedium(let code, let values): try putMedium(code, values)
    case .putTrack(let code, let seconds):
      try context.findOrInsert(entity: "Track", with: ["code": .int(Int64(code))]).set("seconds", to: seconds)
    case .place(let code, let medium?, let position):
      try find("Medium", medium).insert(find("Track", code), into: "tracks", at: position)
    case .place(let code, nil, _): try find("Track", code).setObject("medium", to: nil)
    case .putPlaylist(let code, let tracks): try putPlaylist(code, tracks)
    case .deleteMedium(let code): context.delete(try find("Medium", code))
    case .deleteTrack(let code): context.delete(try find("Track", code))
    case .deletePlaylist(let code): context.delete(try find("Playlist", code))
    }
  }

  private func putMedium(_ code: Int, _ values: LibraryState.Medium) throws {
    let medium = try context.findOrInsert(entity: values.kind.rawValue, with: ["code": .int(Int64(code))])
    try medium.set("title", to: values.title)
    try medium.set("words", to: values.words)
    try medium.set("label.name", to: values.label)
    try medium.set("label.year", to: values.year)
    try medium.set(values.kind == .album ? "artist" : "narrator", to: values.person)
    if try medium.value("cover", as: Data.self) != values.cover { try medium.set("cover", to: values.cover) }
  }

  private func putPlaylist(_ code: Int, _ tracks: [Int]) throws {
    let playlist = try context.findOrInsert(entity: "Playlist", with: ["code": .int(Int64(code))])
    for track in try playlist.objects("tracks") where try !tracks.contains(track.code) {
      try playlist.remove(track, from: "tracks")
    }
    for (position, track) in tracks.enumerated() {
      try playlist.insert(find("Track", track), into: "tracks", at: position)
    }
  }

  private func find(_ entity: String, _ code: Int) throws -> ManagedRecord {
    let found = try context.fetch(DynamicQuery(entity, where: .equal("code", .int(Int64(code)))))
    guard let record = found.first, found.count == 1 else {
      throw GraphDifference("\(found.count) objects of \(entity) have the code \(code)")
    }
    return record
  }
}

extension ManagedRecord {
  var code: Int { get throws { try value("code") ?? -1 } }
}

extension PredicateTree {
  static func equal(_ attribute: String, _ value: AttributeValue) -> PredicateTree {
    .comparison(.path([attribute]), .equal, .value(value), [])
  }
}
