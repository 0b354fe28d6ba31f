/// One line that the user types.
enum JukeboxCommand: Equatable {
  case add(title: String, artist: String)
  case all, hits
  case by(artist: String)
  case find(String)
  /// Tunes by their row.
  case queue(row: Int)
  case retitle(row: Int, title: String)
  case remove(row: Int)
  case next
  case help, quit

  /// A line that is no command.
  struct Mistake: Error {
    let message: String
  }

  static let summary = """
    add TITLE by ARTIST · all · hits · by ARTIST · find TEXT
    queue ROW · next · retitle ROW TITLE · remove ROW · help · quit
    """

  /// - Throws: ``Mistake`` for a line that is no command.
  init(_ line: String) throws(Mistake) {
    var words = line.split(separator: " ").map(String.init)
    guard !words.isEmpty else { throw Mistake(message: "Type a command, such as help.") }
    let verb = words.removeFirst()
    let rest = words.joined(separator: " ")
    switch verb {
    case "add":
      guard let place = words.lastIndex(of: "by"), place > 0, place < words.count - 1 else {
        throw Mistake(message: "add TITLE by ARTIST")
      }
      let (title, artist) = (words[..<place], words[(place + 1)...])
      self = .add(title: title.joined(separator: " "), artist: artist.joined(separator: " "))
    case "all": self = .all
    case "hits": self = .hits
    case "by" where !rest.isEmpty: self = .by(artist: rest)
    case "find" where !rest.isEmpty: self = .find(rest)
    case "queue": self = .queue(row: try Self.row(words))
    case "retitle" where words.count > 1:
      self = .retitle(row: try Self.row(words), title: words.dropFirst().joined(separator: " "))
    case "remove": self = .remove(row: try Self.row(words))
    case "next": self = .next
    case "help": self = .help
    case "quit": self = .quit
    default: throw Mistake(message: "“\(line)” is no command; help lists them.")
    }
  }

  private static func row(_ words: [String]) throws(Mistake) -> Int {
    guard let row = words.first.flatMap({ Int($0) }) else {
      throw Mistake(message: "Name a row by its number.")
    }
    return row
  }
}
