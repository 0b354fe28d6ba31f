import Cambium
import Foundation

@Model final class Song {
  #Index<Song>([\.seconds])
  var title: String
  var seconds: Int
  var note: String?
  @Relationship(inverse: \Album.songs) var album: Album?

  init(_ title: String, seconds: Int = 0) {
    self.title = title
    self.seconds = seconds
  }
}

@Model final class Album {
  @Attribute(.length(1...20)) var title: String
  @Relationship(deleteRule: .cascade) var songs: [Song] = []

  init(_ title: String) { self.title = title }
}

/// A model with an attribute of each kind that aggregates are of.
@Model final class Sample {
  var number: Int
  var fraction: Double
  var exact: Decimal
  var flag: Bool
  var text: String
  var bytes: Data
  var date: Date

  init(_ number: Int) {
    self.number = number
    fraction = Double(number)
    exact = Decimal(number)
    flag = number % 2 == 1
    text = "nil:TestEntity1:\(number)"
    bytes = Data("nil:TestEntity1:\(number)".utf8)
    date = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
  }
}

enum Records {
  static func open(
    _ location: StoreLocation = .inMemory,
    showsValuesInErrors: Bool = true
  ) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Records",
      models: Song.self,
      Album.self,
      Sample.self,
      at: location,
      showsValuesInErrors: showsValuesInErrors
    )
  }

  /// A store with songs of these lengths, called `a`, `b`, …
  static func open(seconds: [Int]) async throws -> PersistentContainer {
    let container = try await open()
    try await container.write { context in
      for (index, seconds) in seconds.enumerated() {
        context.insert(Song(String(UnicodeScalar(UInt8(97 + index))), seconds: seconds))
      }
    }
    return container
  }
}
