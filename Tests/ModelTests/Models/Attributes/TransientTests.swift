import Cambium
import Foundation
import TestSupport
import Testing

/// Properties that aren't stored.
struct TransientTests {
  @Model final class Track {
    var title: String
    @Transient var isSelected = false
    @Transient var peaks: [Float]?
    @Transient private(set) var observed = 0
    @Transient var volume: Double = 0.5 { didSet { observed += 1 } }
    @Transient lazy var words = title.split(separator: " ").count
    init(_ title: String) { self.title = title }
  }

  private func container(_ folder: TemporaryFolder) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Tracks",
      models: Track.self,
      at: URL(fileURLWithPath: folder.file("tracks.cambium"))
    )
  }

  @Test func theyAreNotStored() async throws {
    let folder = try TemporaryFolder()
    let tracks = try await container(folder)
    try await tracks.performBackgroundTask { context in
      let track = Track("A long title")
      track.isSelected = true
      track.volume = 1
      context.insert(track)
      try context.save()
      #expect(track.isSelected && track.observed == 1 && track.words == 3)
      track.peaks = [1]
      #expect(!context.hasChanges && !track.hasChanges)
      track.title = "Another"
      context.rollback()
      #expect(track.peaks == [1] && track.isSelected)
    }
    try await tracks.performBackgroundTask { context in
      let track = try #require(try context.fetch(From<Track>()).first)
      #expect(!track.isSelected && track.peaks == nil && track.volume == 0.5 && track.words == 3)
    }
    #expect(Track.entityDescription.properties.map(\.name) == ["title"])
  }

  @Test func noQueryNamesThem() async throws {
    let folder = try TemporaryFolder()
    let tracks = try await container(folder)
    try await tracks.performBackgroundTask { context in
      let error = #expect(throws: ContextError.self) {
        try context.fetch(From<Track>().where { $0.isSelected == true })
      }
      #expect(error?.queryError?.code == .keyPath)
    }
  }
}
