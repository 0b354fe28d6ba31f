import Foundation

/// A library as plain values by their codes: the part of a ``GraphState`` for ``LibraryEntities``.
struct LibraryState: Sendable, Equatable {
  /// The classes that have objects.
  enum Kind: String, Sendable, CaseIterable { case album = "Album", audiobook = "Audiobook" }

  struct Medium: Sendable, Equatable {
    var kind: Kind
    var title: String
    var words: [String] = []
    var label: String
    var year: Int?
    var cover: Data?
    /// The artist of an album, nil if there is none, or the narrator of an audiobook.
    var person: String?
    /// The codes of the tracks, in their order.
    var tracks: [Int] = []
  }

  var media: [Int: Medium] = [:]
  /// The seconds of each.
  var tracks: [Int: Int] = [:]
  /// The codes of the tracks of each.
  var playlists: [Int: [Int]] = [:]

  /// The code of the medium that a track is in.
  func medium(of track: Int) -> Int? { media.first { $0.value.tracks.contains(track) }?.key }

  func seconds(of medium: Medium) -> Int { medium.tracks.reduce(0) { $0 + tracks[$1, default: 0] } }
}

extension LibraryState {
  /// Makes an edit, with the effects of the delete rules and on the other ends.
  mutating func apply(_ edit: LibraryEdit) {
    switch edit {
    case .putMedium(let code, var medium):
      medium.tracks = media[code]?.tracks ?? []
      media[code] = medium
    case .putTrack(let code, let seconds): tracks[code] = seconds
    case .place(let track, let medium, let position): place(track, in: medium, at: position)
    case .putPlaylist(let code, let tracks): playlists[code] = tracks
    case .deleteMedium(let code):
      for track in media[code]?.tracks ?? [] { delete(track: track) }
      media[code] = nil
    case .deleteTrack(let code): delete(track: code)
    case .deletePlaylist(let code): playlists[code] = nil
    }
  }

  private mutating func place(_ track: Int, in medium: Int?, at position: Int) {
    if let former = self.medium(of: track) { media[former]?.tracks.removeAll { $0 == track } }
    guard let medium, let count = media[medium]?.tracks.count else { return }
    media[medium]?.tracks.insert(track, at: min(position, count))
  }

  private mutating func delete(track: Int) {
    place(track, in: nil, at: 0)
    for code in playlists.keys { playlists[code]?.removeAll { $0 == track } }
    tracks[track] = nil
  }
}
