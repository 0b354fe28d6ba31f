import ArgumentParser
import Foundation

struct AddCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds the tracks of releases to a playlist."
  )
  static let isReadOnly = false

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The playlist, which is made if there is none.") var playlist: String
  @Argument(help: "A condition on the releases, such as 'artist.name ==[cd] \"Bjorn Falk\"'.")
  var predicate: String

  func run(_ library: MediaLibrary) async throws {
    print("\(try await library.add(where: predicate, to: playlist)) tracks")
  }
}

struct PlaylistCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "playlist",
    abstract: "Lists a page of a playlist."
  )

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The playlist.") var name: String
  @Option(help: "The first position, from 1.") var from = 1
  @Option(help: "How many.") var count = 20

  func validate() throws {
    guard from > 0, count >= 0 else { throw ValidationError("positions count from 1") }
  }

  func run(_ library: MediaLibrary) async throws {
    for (offset, line) in try await library.entries(of: name, from: from, count: count).enumerated() {
      print("\(from + offset). \(line)")
    }
  }
}

struct MoveCommand: LibraryCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Moves an entry of a playlist to another position."
  )
  static let isReadOnly = false

  @OptionGroup var library: LibraryArgument
  @Argument(help: "The playlist.") var name: String
  @Argument(help: "The entry's position, from 1.") var old: Int
  @Argument(help: "The new one.") var new: Int

  func run(_ library: MediaLibrary) async throws { try await library.move(old, to: new, in: name) }
}
