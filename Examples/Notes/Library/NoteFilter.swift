import Cambium

/// A condition as the user types it: `folder=home,work stars=3...5`.
struct NoteFilter {
  /// A word that is no part of a condition.
  struct Mistake: Error {
    let message: String
  }

  /// The condition of each name: a list of folders or a range of stars.
  private(set) var conditions: [String: (any PredicateArgument)?] = [:]

  /// - Throws: ``Mistake``.
  init(_ words: some Sequence<String>) throws(Mistake) {
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      switch parts.first {
      case "folder" where parts.count == 2:
        conditions["folder"] = parts[1].split(separator: ",").map(String.init)
      case "stars" where parts.count == 2:
        let ends = parts[1].split(separator: ".").compactMap { Int($0) }
        guard let least = ends.first, let most = ends.last, least <= most else {
          throw Mistake(message: "stars=2 or stars=3...5")
        }
        conditions["stars"] = least...most
      default: throw Mistake(message: "“\(word)” is no condition: folder=home,work stars=3...5")
      }
    }
  }

  /// The notes that the filter describes: all of its conditions hold.
  var request: From<Note> { From<Note>().where(Where(conditions)).orderBy(\.folder, \.text) }
}
