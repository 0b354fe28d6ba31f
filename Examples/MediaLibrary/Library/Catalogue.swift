import Cambium

/// A catalogue in JSON Lines: a release with its tracks in each line. Covers are files beside it.
struct Catalogue {
  private(set) var releases: [CatalogueRelease] = []
  private let folder: URL

  /// Reads a file, without the covers that it names.
  ///
  /// - Throws: ``CatalogueMistake`` for the first line that is wrong.
  init(contentsOf file: URL) throws {
    folder = file.deletingLastPathComponent()
    let newline = UInt8(ascii: "\n")
    let lines = try Data(contentsOf: file).split(separator: newline, omittingEmptySubsequences: false)
    for (offset, line) in lines.enumerated() {
      do { if let release = try release(in: line) { releases.append(release) } } catch {
        throw CatalogueMistake(line: offset + 1, reason: (error as? DecodingError)?.reason ?? "\(error)")
      }
    }
  }

  /// Nil for an empty line.
  private func release(in line: Data) throws -> CatalogueRelease? {
    if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { return nil }
    let release = try JSONDecoder().decode(CatalogueRelease.self, from: line)
    if let cover = coverFile(of: release), !FileManager.default.isReadableFile(atPath: cover.path) {
      throw LibraryMistake("the cover \(cover.path) can't be read")
    }
    return release
  }

  func coverFile(of release: CatalogueRelease) -> URL? {
    release.cover.map(folder.appendingPathComponent)
  }
}

/// One line of a catalogue.
struct CatalogueRelease: Codable {
  var title: String
  var year: Int
  var artist: String?
  var label: String?
  /// Makes an audiobook of the release.
  var narrator: String?
  var tags: [String]?
  /// The path of a picture, from the catalogue's folder.
  var cover: String?
  var tracks: [CatalogueTrack]

  /// Makes the release and the objects that it refers to. An artist or a tag that the store has replaces the new one
  /// when they are saved.
  func makeRelease() -> Release {
    let release: Release =
      if let narrator {
        Audiobook(title: title, year: year, narrator: narrator)
      } else {
        Album(title: title, year: year, label: label)
      }
    release.artist = artist.map(Artist.init)
    release.tags = Set((tags ?? []).map(Tag.init))
    release.tracks.append(contentsOf: tracks.map { Track($0.title, seconds: $0.seconds) })
    return release
  }
}

/// A track in a line of a catalogue.
struct CatalogueTrack: Codable {
  var title: String
  var seconds: Int
}

/// A line of a catalogue that is wrong.
struct CatalogueMistake: Error, CustomStringConvertible {
  let line: Int
  let reason: String

  var description: String { "line \(line): \(reason)" }
}

extension DecodingError {
  /// The reason for people.
  fileprivate var reason: String {
    func name(_ path: [any CodingKey]) -> String { "“\(path.map(\.stringValue).joined(separator: "."))”" }
    return switch self {
    case .keyNotFound(let key, let context): "\(name(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context): "\(name(context.codingPath)) is null"
    case .typeMismatch(let type, let context): "\(name(context.codingPath)) must be of the type \(type)"
    default: "this is no JSON"
    }
  }
}
