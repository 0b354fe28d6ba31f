import ArgumentParser
import BenchmarkHarness
import Cambium
import Foundation

struct WordQueriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "words",
    abstract: "Asks four questions to WordNet, beside SQLite, and prints times and plans."
  )

  @OptionGroup var options: QuestionOptions

  @Option(help: "The folder with WordNet's data files.")
  var data: String

  @Option(help: "How many concepts to read of each part of speech; all of them by default.")
  var limit: Int?

  func run() async throws {
    try await options.report(WordQueries.all) { folder in
      let importer = WordImporter(try WordNetFolder(path: data).synsets(limit: limit))
      let container = try await PersistentContainer(
        "Words",
        models: Synset.self,
        Word.self,
        Sense.self,
        Pointer.self,
        at: URL(fileURLWithPath: folder + "/words.cambium")
      )
      try await importer.fill(container)
      let database = try SQLiteConnection(path: folder + "/words.sqlite", peer: QuestionStores.peer)
      try importer.fill(database)
      let counts = importer.counts
      return (
        try QuestionStores(container, database),
        QuestionReport.Subject(
          title: "Four questions to WordNet",
          target: "bench-words",
          data: """
            WordNet 3.0: \(counts.synsets) concepts, \(counts.words) words of \(counts.senses) senses, and \
            \(counts.pointers) pointers
            """,
          caveats: ["No index has what the conditions of W1, W3 and W4 are about."]
        )
      )
    }
  }
}
