import Foundation
import TestSupport

/// Generates changes of a library that every save accepts.
struct LibraryWorkload {
  static let words = ["loud", "long", "live", ""]

  private static let codes = 0...5
  private static let trackCodes = 0...24

  var generator: SeededGenerator

  mutating func edit(on state: LibraryState) -> LibraryEdit? {
    switch generator.number(in: 0...19) {
    case 0...3: putMedium(on: state)
    case 4...7: .putTrack(generator.number(in: Self.trackCodes), seconds: generator.number(in: 0...9))
    case 8...14: place(on: state)
    case 15, 16: putPlaylist(on: state)
    case 17: generator.element(of: state.media.keys).map { .deleteMedium($0) }
    case 18: generator.element(of: state.tracks.keys).map { .deleteTrack($0) }
    default: generator.element(of: state.playlists.keys).map { .deletePlaylist($0) }
    }
  }

  private mutating func putMedium(on state: LibraryState) -> LibraryEdit {
    let code = generator.number(in: Self.codes)
    let kind = state.media[code]?.kind ?? generator.pick(LibraryState.Kind.allCases)
    var medium = LibraryState.Medium(kind: kind, title: "", label: "")
    medium.title = generator.pick(["Blue", "blue", "Red", ""]) + "\(generator.number(in: 0...3))"
    medium.words = (0..<generator.number(in: 0...3)).map { _ in generator.pick(Self.words) }
    medium.label = generator.pick(["A", "B"])
    medium.year = generator.pick([1971, 1972, nil])
    medium.person = generator.pick(["Joni", "Neil"])
    if kind == .album, generator.chance(1, in: 3) { medium.person = nil }
    medium.cover = state.media[code]?.cover
    if generator.chance(1, in: 2) { medium.cover = cover() }
    return .putMedium(code, medium)
  }

  /// Short ones lie in the record, long ones in chunks outside of it.
  private mutating func cover() -> Data? {
    let count = generator.pick([nil, 0, 500, 512, 513, 4_000, 70_000, 200_000])
    return count.map { Data(generator.bytes($0)) }
  }

  private mutating func place(on state: LibraryState) -> LibraryEdit? {
    guard let track = generator.element(of: state.tracks.keys) else { return nil }
    let medium = generator.chance(1, in: 6) ? nil : generator.element(of: state.media.keys)
    return .place(track: track, in: medium, at: generator.number(in: 0...6))
  }

  private mutating func putPlaylist(on state: LibraryState) -> LibraryEdit {
    let tracks = state.tracks.keys.sorted().filter { _ in generator.chance(1, in: 3) }
    return .putPlaylist(generator.number(in: 0...3), tracks.shuffled(using: &generator))
  }
}

extension SeededGenerator {
  /// One of them, in an order that the seed alone decides; nil for none.
  mutating func element(of codes: some Sequence<Int>) -> Int? { codes.sorted().randomElement(using: &self) }
}
