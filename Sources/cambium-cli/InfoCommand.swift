import ArgumentParser

/// `cambium info STORE`: shows the contents of the store.
struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows what the store holds: entities, their properties and indexes, and the file."
  )

  @OptionGroup var store: StoreArgument

  @Flag(help: "Prints JSON.")
  var json = false

  func run() throws {
    let info = try StoreInfo(path: store.path())
    if json {
      try JSONText.print(info)
    } else {
      StandardOutput.print(lines: info.description)
    }
  }
}
