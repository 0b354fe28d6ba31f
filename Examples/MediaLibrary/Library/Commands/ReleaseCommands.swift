import ArgumentParser
import Foundation

extension ReleaseKind: ExpressibleByArgument {}

struct BrowseCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract: "Lists a page of releases."
  )

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The releases to list.") var kind = ReleaseKind.all
  @Option(help: "Only those with this tag.") var tag: String?
  @Option(help: "The page, from 1.") var page = 1

  func validate() throws {
    guard 1...1_000_000 ~= page else { throw ValidationError("--page is from 1 to 1,000,000") }
  }

  func run(_ library: MediaLibrary) async throws {
    for line in try await library.releases(kind, taggedWith: tag, page: page - 1) { print(line) }
  }
}

struct SearchCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Finds releases, those that are played most first."
  )

  @OptionGroup var library: LibraryArgument
  @Argument(help: "What a title, an artist or a track has in it, whatever the case and accents.")
  var text: String?
  @Option(
    name: .customLong("where"),
    help: "A condition, such as 'year > 1990 AND ANY tags.word == \"jazz\"'."
  )
  var predicate: String?

  func run(_ library: MediaLibrary) async throws {
    for line in try await library.search(text, where: predicate) { print(line) }
  }
}

struct TracksCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "tracks",
    abstract: "Lists the tracks of a release."
  )

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The release's title.") var title: String

  func run(_ library: MediaLibrary) async throws {
    for (offset, line) in try await library.tracks(of: title).enumerated() { print("\(offset + 1). \(line)") }
  }
}

struct PlayCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Counts that a track was played."
  )
  static let isReadOnly = false

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The release's title.") var title: String
  @Argument(help: "The track's number, from 1.") var number: Int

  func run(_ library: MediaLibrary) async throws { try await library.play(number, of: title) }
}

struct RetitleCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "retitle",
    abstract: "Gives a release another title."
  )
  static let isReadOnly = false

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The release's title.") var title: String
  @Argument(help: "The new one.") var newTitle: String

  func run(_ library: MediaLibrary) async throws { try await library.retitle(title, to: newTitle) }
}

struct CoverCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "cover",
    abstract: "Writes the cover of a release into a file."
  )

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The release's title.") var title: String
  @Argument(help: "The file.") var file: String

  func run(_ library: MediaLibrary) async throws {
    print("\(try await library.exportCover(of: title, to: URL(fileURLWithPath: file))) bytes")
  }
}
