import Cambium

/// A release in a list.
package struct ReleaseLine: Sendable, Equatable, CustomStringConvertible {
  package var title: String
  package var artist: String?
  package var year: Int
  /// Of an audiobook.
  package var narrator: String?
  package var trackCount: Int
  package var seconds: Int
  package var plays: Int

  init(_ release: Release) {
    title = release.title
    artist = release.artist?.name
    year = release.year
    narrator = (release as? Audiobook)?.narrator
    trackCount = release.trackCount
    seconds = release.seconds
    plays = release.plays
  }

  package var description: String {
    let artist = artist.map { " by \($0)" } ?? ""
    let reader = narrator.map { ", read by \($0)" } ?? ""
    let tracks = "\(trackCount) \(narrator == nil ? "tracks" : "chapters")"
    return "\(title)\(artist)\(reader) (\(year)): \(tracks), \(minutes(seconds)), played \(plays)×"
  }
}

/// A track in a list.
package struct TrackLine: Sendable, Equatable, CustomStringConvertible {
  package var title: String
  package var release: String?
  package var seconds: Int
  package var plays: Int

  init(_ track: Track) {
    title = track.title
    release = track.release?.title
    seconds = track.seconds
    plays = track.plays
  }

  package var description: String {
    "\(title)\(release.map { " from \($0)" } ?? ""): \(minutes(seconds)), played \(plays)×"
  }
}

/// The counts of a library's contents.
package struct LibraryStatistics: Sendable, Equatable, CustomStringConvertible {
  package var albums: Int
  package var audiobooks: Int
  package var artists: Int
  package var tracks: Int
  package var plays: Int

  package var description: String {
    "\(albums) albums, \(audiobooks) audiobooks, \(artists) artists, \(tracks) tracks, played \(plays)×"
  }
}

/// `62:05` for 3,725 seconds.
private func minutes(_ seconds: Int) -> String { String(format: "%ld:%02ld", seconds / 60, seconds % 60) }
