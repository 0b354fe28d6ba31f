import Cambium
import Foundation
import TestSupport
import Testing

@testable import MediaLibraryExample

/// What the commands of the example do.
struct MediaLibraryTests {
  private let folder: TemporaryFolder
  private let library: MediaLibrary

  init() async throws {
    folder = try TemporaryFolder()
    library = try await MediaLibrary(at: folder.file("media.cambium"))
  }

  private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.file(name)) }

  private func importSample(_ count: Int, tracks: Int = 10, coverBytes: Int = 0) async throws {
    let sample = SampleCatalogue(releaseCount: count, tracksPerRelease: tracks, coverByteCount: coverBytes)
    #expect(try await library.importCatalogue(sample.write(to: url("sample"))) == count)
  }

  /// A catalogue of these lines, and what the import says of it.
  private func mistake(in lines: String...) async throws -> String? {
    try Data(lines.joined(separator: "\n").utf8).write(to: url("wrong.jsonl"))
    let error = await #expect(throws: (any Error).self) {
      try await library.importCatalogue(url("wrong.jsonl"))
    }
    return error.map { "\($0)" }
  }

  @Test func aCatalogueIsImportedAndBrowsed() async throws {
    try await importSample(40)
    let statistics = try await library.statistics()
    #expect(statistics == LibraryStatistics(albums: 30, audiobooks: 10, artists: 5, tracks: 400, plays: 0))
    let all = try await library.releases(of: 100)
    let albums = try await library.releases(.albums, of: 100)
    let books = try await library.releases(.audiobooks, of: 100)
    func key(_ line: ReleaseLine) -> String { line.title.lowercased().replacing("é", with: "e") }
    #expect(all.map(\.title) == (albums + books).sorted { key($0) < key($1) }.map(\.title))
    #expect(books.allSatisfy { $0.narrator != nil } && albums.allSatisfy { $0.narrator == nil })
    #expect(all.allSatisfy { $0.artist != nil && $0.trackCount == 10 && $0.seconds == 10 * 127 + 7 * 45 })
    #expect(try await library.releases(page: 1, of: 15) == Array(all[15..<30]))
    #expect(try await library.releases(taggedWith: "LIVE", of: 100).count == 16)
    #expect(try await library.container.verify() == [])
    try library.close()
  }

  @Test func aSecondImportIsRefusedAndChangesNothing() async throws {
    try await importSample(3)
    let error = await #expect(throws: ContextError.self) { try await importSample(4) }
    #expect(error?.code == .notUnique)
    #expect(try await library.statistics().albums == 3)
    try library.close()
  }

  @Test func wrongLinesAreNamed() async throws {
    let good = #"{"title": "A", "year": 2000, "tracks": []}"#
    #expect(try await mistake(in: good, "", "{") == "line 3: this is no JSON")
    #expect(try await mistake(in: #"{"title": "A", "year": 2000}"#) == "line 1: “tracks” is missing")
    let text = #"{"title": "A", "year": "new", "tracks": []}"#
    #expect(try await mistake(in: good, text) == "line 2: “year” must be of the type Int")
    let cover = #"{"title": "B", "year": 2000, "cover": "none.png", "tracks": []}"#
    #expect(try await mistake(in: good, cover) == "line 2: the cover \(folder.path)/none.png can't be read")
    let empty = try await mistake(in: #"{"title": "", "year": 2000, "tracks": []}"#)
    #expect(empty?.contains("title") == true)
    #expect(try await library.statistics().albums == 0)
    try library.close()
  }

  @Test func releasesAreSearched() async throws {
    try await importSample(16)
    #expect(try await library.search("CAFE").map(\.title) == ["Café 13", "Café 5"])
    #expect(try await library.search("bjorn").map(\.title) == ["Lantern 1", "Station 11", "Winter 6"])
    #expect(try await library.search("song 3 of 5").map(\.title) == ["Café 5"])
    let folk = try await library.search(nil, where: "year > 1970 AND ANY tags.word == 'folk'")
    #expect(folk.map(\.title) == ["Café 13", "Harbour 12", "Station 11", "Winter 14"])
    let typo = await #expect(throws: ContextError.self) {
      try await library.search(nil, where: "yaer > 1970")
    }
    #expect(typo?.queryError?.code == .unknownName && typo?.queryError?.column == 0)
    try library.close()
  }

  @Test func playsAreCountedByTheStore() async throws {
    try await importSample(8)
    for _ in 0..<3 { try await library.play(2, of: "river 0") }
    try await library.play(10, of: "Cafe 5")
    #expect(try await library.tracks(of: "River 0")[1].plays == 3)
    #expect(try await library.search("SONG 2 OF").first?.title == "River 0")
    #expect(try await library.search("cafe").map(\.plays) == [1])
    #expect(try await library.statistics().plays == 4)
    await #expect(throws: LibraryMistake.self) { try await library.play(11, of: "River 0") }
    await #expect(throws: LibraryMistake.self) { try await library.play(0, of: "River 0") }
    await #expect(throws: LibraryMistake.self) { try await library.play(1, of: "Nothing") }
    try library.close()
  }

  @Test func aPlaylistOfTenThousandIsReordered() async throws {
    try await importSample(100, tracks: 100)
    #expect(try await library.add(where: "TRUEPREDICATE", to: "All") == 10_000)
    var expected = try await library.entries(of: "All", count: 20_000).map(\.title)
    #expect(expected.count == 10_000)
    for (old, new) in [(10_000, 1), (1, 5_000), (777, 778), (5_001, 10_000), (3, 3)] {
      try await library.move(old, to: new, in: "All")
      expected.insert(expected.remove(at: old - 1), at: new - 1)
    }
    #expect(try await library.entries(of: "All", count: 20_000).map(\.title) == expected)
    let page = try await library.entries(of: "All", from: 4_990, count: 20)
    #expect(page.map(\.title) == Array(expected[4_989..<5_009]))
    await #expect(throws: LibraryMistake.self) { try await library.move(0, to: 1, in: "All") }
    await #expect(throws: LibraryMistake.self) { try await library.move(1, to: 10_001, in: "All") }
    await #expect(throws: LibraryMistake.self) { try await library.move(1, to: 2, in: "None") }
    try library.close()
  }

  @Test func aCoverIsStreamed() async throws {
    try await importSample(3, coverBytes: 300_000)
    try await library.retitle("Lantern 1", to: "Torch")
    let file = url("cover.bin")
    #expect(try await library.exportCover(of: "torch", to: file) == 300_000)
    #expect(try Data(contentsOf: file) == Data(repeating: 1, count: 300_000))
    await #expect(throws: LibraryMistake.self) { try await library.exportCover(of: "Lantern 1", to: file) }
    try library.close()
  }

  @Test func theProgramRuns() throws {
    func media(_ arguments: String...) throws -> ToolRun {
      try ToolRun("media", arguments: arguments, in: folder.path)
    }
    let sample = try media("sample", "catalogue", "--releases", "12", "--cover-bytes", "1000")
    #expect(sample.status == 0 && sample.lines.map(String.init) == [folder.file("catalogue/catalogue.jsonl")])
    let early = try media("browse", "--store", "program.cambium")
    #expect(early.status != 0)
    let missing = try media("import", "--store", "program.cambium", "none.jsonl")
    #expect(missing.errors.hasPrefix("Error: none.jsonl can't be read\n"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("program.cambium")))
    let imported = try media("import", "--store", "program.cambium", "catalogue/catalogue.jsonl")
    #expect(imported.lines == ["12 releases"])
    #expect(try media("browse", "--store", "program.cambium", "audiobooks").lines.count == 3)
    let wrong = try media("tracks", "--store", "program.cambium", "Nothing")
    #expect(wrong.status != 0 && wrong.errors == "Error: There is no release “Nothing”.\n")
  }
}
