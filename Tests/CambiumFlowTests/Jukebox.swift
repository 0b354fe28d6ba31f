import Cambium
import CambiumFlow
import Foundation

import class TestSupport.TemporaryFolder

@Model final class Track {
  var title: String
  var artist: String
  var plays: Int

  init(_ title: String, by artist: String = "", plays: Int = 0) {
    self.title = title
    self.artist = artist
    self.plays = plays
  }

  /// Reads a missing object, so that the context records an error.
  func didSave() {
    guard title == "hasty", let context else { return }
    let text = objectID.uriRepresentation.replacing(#/\d+$/#, with: "999")
    guard let id = ManagedObjectID(uriRepresentation: text) else { return }
    _ = (try? context.object(Track.self, with: id))?.title
  }
}

@Model final class Venue {
  var name: String

  init(_ name: String) { self.name = name }
}

/// Requests for tracks.
enum TrackRequest: ObjectRequest, Equatable {
  case all
  case titled(String)
  case byArtist
  case reversed

  var query: From<Track> {
    switch self {
    case .all, .byArtist, .reversed: From<Track>().orderBy(\.plays)
    case .titled(let title): From<Track>().where { $0.title == title }
    }
  }
  var order: [OrderBy<Track>] {
    switch self {
    case .all, .titled: []
    case .byArtist: [.ascending(\.artist), .ascending(\.title)]
    case .reversed: [.descending(\.plays)]
    }
  }
  var sections: SectionedBy<Track>? { self == .byArtist ? SectionedBy(\.artist) : nil }
}

extension Track.Values: PersistableValue {
  public typealias Object = Track
  typealias Request = TrackRequest
}

struct Refused: Error, Equatable {}

/// Another kind of value of the same model.
struct Title: PersistableValue, Equatable {
  typealias Object = Track
  typealias Request = TrackRequest

  var objectID: ManagedObjectID?
  var title: String

  init(_ title: String) { self.title = title }

  init(_ object: Track) throws {
    if object.title == "unreadable" { throw Refused() }
    if object.title == "unreadable once stored", !object.isInserted { throw Refused() }
    (objectID, title) = (object.objectID, object.title)
  }

  func insert(into context: ManagedObjectContext) throws -> Track {
    let track = Track(title)
    context.insert(track)
    return track
  }

  func update(_ object: Track) throws {
    if title == "refused" { throw Refused() }
    if object.title != title { object.title = title }
  }
}

enum VenueRequest: ObjectRequest {
  case all
  var query: From<Venue> { From<Venue>().orderBy(\.name) }
}

extension Venue.Values: PersistableValue {
  public typealias Object = Venue
  typealias Request = VenueRequest
}

/// A model whose saves unify a new object with the one that has its code.
@Model final class Stamp {
  @Attribute(.unique(ifExists: .merge)) var code: String
  var count: Int

  init(_ code: String, _ count: Int) { (self.code, self.count) = (code, count) }
}

enum StampRequest: ObjectRequest {
  case all
  var query: From<Stamp> { From<Stamp>() }
}

extension Stamp.Values: PersistableValue {
  public typealias Object = Stamp
  typealias Request = StampRequest
}

/// Containers of tracks in a folder that is removed with the shelf.
final class Shelf: Sendable {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  var url: URL { URL(fileURLWithPath: folder.file("jukebox")) }

  func open() async throws -> PersistentContainer {
    try await PersistentContainer("Jukebox", models: Track.self, Venue.self, at: url)
  }

  /// Returns a container that is opened when it is needed.
  func lazy() -> LazyContainer { LazyContainer { try await self.open() } }
}
