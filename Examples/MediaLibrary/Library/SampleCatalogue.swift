import Foundation

/// Makes a catalogue of invented releases, with covers.
package struct SampleCatalogue {
  let releaseCount: Int
  let tracksPerRelease: Int
  /// Bytes of each cover; 0 for none.
  let coverByteCount: Int

  package init(releaseCount: Int, tracksPerRelease: Int = 10, coverByteCount: Int = 256 << 10) {
    self.releaseCount = releaseCount
    self.tracksPerRelease = tracksPerRelease
    self.coverByteCount = coverByteCount
  }

  private static let nouns = [
    "River", "Lantern", "Orchard", "Station", "Harbour", "Café", "Winter", "Signal",
  ]
  private static let names = ["Ada Stone", "Björn Falk", "Chie Mori", "Dora Lind", "Emil Roth"]
  private static let tags = ["jazz", "live", "folk", "night", "crime"]

  /// Writes `catalogue.jsonl` and the covers into a folder; returns the catalogue.
  package func write(to folder: URL) throws -> URL {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let encoder = JSONEncoder()
    var text = Data()
    for number in 0..<releaseCount {
      let release = release(number)
      if let cover = release.cover {
        try Data(repeating: UInt8(truncatingIfNeeded: number), count: coverByteCount)
          .write(to: folder.appendingPathComponent(cover))
      }
      text += try encoder.encode(release) + Data("\n".utf8)
    }
    let file = folder.appendingPathComponent("catalogue.jsonl")
    try text.write(to: file)
    return file
  }

  private func release(_ number: Int) -> CatalogueRelease {
    let isBook = number % 4 == 3
    func pick(_ words: [String], _ number: Int) -> String { words[number % words.count] }
    return CatalogueRelease(
      title: "\(pick(Self.nouns, number)) \(number)",
      year: 1960 + number % 60,
      artist: pick(Self.names, number),
      label: isBook ? nil : "Label \(number % 7)",
      narrator: isBook ? pick(Self.names, number + 1) : nil,
      tags: [pick(Self.tags, number), pick(Self.tags, number / 5)],
      cover: coverByteCount == 0 ? nil : "cover-\(number).bin",
      tracks: (0..<tracksPerRelease).map { track in
        .init(title: "\(isBook ? "Chapter" : "Song") \(track + 1) of \(number)", seconds: 127 + track * 7)
      }
    )
  }
}
