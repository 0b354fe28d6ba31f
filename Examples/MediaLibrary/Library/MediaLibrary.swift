import Cambium

/// The store of a library, and the operations of the commands.
package struct MediaLibrary: Sendable {
  let container: PersistentContainer

  /// Opens the store at the path, or makes it. Any number of processes can read a store together; a process that writes
  /// has it alone.
  package init(at path: String, isReadOnly: Bool = false) async throws {
    var options = StoreOptions()
    options.isReadOnly = isReadOnly
    container = try await PersistentContainer(
      "Media",
      models: Release.self,
      Artist.self,
      Tag.self,
      Track.self,
      Playlist.self,
      PlaylistEntry.self,
      at: URL(fileURLWithPath: path),
      options: options
    )
  }

  package func close() throws { try container.close() }
}

/// A command that can't be carried out.
package struct LibraryMistake: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

extension ManagedObjectContext {
  /// Returns the one release of a title, whatever the case and accents.
  func release(titled title: String) throws -> Release {
    let request = From<Release>().where { $0.title.equals(title, [.caseInsensitive, .diacriticInsensitive]) }
    let found = try fetch(request.limit(2))
    guard let release = found.first else { throw LibraryMistake("There is no release “\(title)”.") }
    guard found.count == 1 else { throw LibraryMistake("There are several releases “\(title)”.") }
    return release
  }

  func playlist(named name: String) throws -> Playlist {
    guard let playlist = try fetchOne(From<Playlist>().where { $0.name == name }) else {
      throw LibraryMistake("There is no playlist “\(name)”.")
    }
    return playlist
  }
}
