import ArgumentParser
import Foundation

/// The command of the executable. It lives in a library so that tests can import it.
package struct MediaCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "media",
    abstract: "A library of albums and audiobooks in a Cambium store.",
    subcommands: [
      SampleCommand.self, ImportCommand.self, BrowseCommand.self, SearchCommand.self, TracksCommand.self,
      PlayCommand.self, RetitleCommand.self, CoverCommand.self, AddCommand.self, PlaylistCommand.self,
      MoveCommand.self, StatisticsCommand.self,
    ]
  )

  package init() {}
}

/// A command that opens the library.
protocol LibraryCommand: AsyncParsableCommand {
  /// Whether the command changes nothing: then it makes no store, and other processes can read at the same time.
  static var isReadOnly: Bool { get }
  var library: LibraryArgument { get }
  func run(_ library: MediaLibrary) async throws
}

extension LibraryCommand {
  static var isReadOnly: Bool { true }

  func run() async throws {
    let library = try await MediaLibrary(at: self.library.store, isReadOnly: Self.isReadOnly)
    defer { try? library.close() }
    try await run(library)
  }
}

struct LibraryArgument: ParsableArguments {
  @Option(
    help: "The store's file. Commands that change the library make it if there is none.",
    completion: .file(extensions: ["cambium"])
  )
  var store = "media.cambium"
}

struct SampleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sample",
    abstract: "Writes a catalogue of invented releases, with covers."
  )

  @Argument(help: "The folder, which is made if there is none.") var folder: String
  @Option(help: "How many releases.") var releases = 1_000
  @Option(help: "Tracks of each.") var tracks = 10
  @Option(help: "Bytes of each cover; 0 for none.") var coverBytes = 256 << 10

  func validate() throws {
    guard releases >= 0, tracks >= 0, coverBytes >= 0 else {
      throw ValidationError("a count can't be negative")
    }
  }

  func run() async throws {
    let sample = SampleCatalogue(
      releaseCount: releases,
      tracksPerRelease: tracks,
      coverByteCount: coverBytes
    )
    print(try sample.write(to: URL(fileURLWithPath: folder)).path)
  }
}

struct ImportCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports a catalogue in JSON Lines, with its covers."
  )
  static let isReadOnly = false

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The catalogue.") var file: String

  func validate() throws {
    guard FileManager.default.isReadableFile(atPath: file) else {
      throw ValidationError("\(file) can't be read")
    }
  }

  func run(_ library: MediaLibrary) async throws {
    print("\(try await library.importCatalogue(URL(fileURLWithPath: file))) releases")
  }
}

struct StatisticsCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "statistics",
    abstract: "Counts what there is."
  )

  @OptionGroup var library: LibraryArgument

  func run(_ library: MediaLibrary) async throws { print(try await library.statistics()) }
}
