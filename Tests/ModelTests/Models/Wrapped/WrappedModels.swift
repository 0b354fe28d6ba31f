import Cambium
import Foundation

/// Models with property wrappers, without the macro.
enum Studio {
  final class Song: StoredObject {
    @Stored var title: String = ""
    @Stored(.unique) var code: String?
    @Stored(.min(0), .max(5)) var rating: Int = 3
    @Stored(.length(1...3), .pattern("[A-Z]+")) var key: String?
    @Stored(.perInsert { UUID() }) var token: UUID
    @Stored var added: Date = Date(timeIntervalSinceReferenceDate: 7)
    @Stored var genre: Genre = .folk
    @Stored var tags: [String] = []
    @Stored var notes: Notes?
    @Stored(.externalStorage) var cover: Data?
    @Stored var seconds: Double
    @ToOneLink(inverse: \Album.songs) var album: Album?
    @ToOneLink var producer: Person?
    @ToManyLink var players: Set<Person>
    var plays = 0

    override class var indexes: [StoredIndex] {
      [.index(\Song.album, \Song.rating), .index(\Song.title, folding: [.case])]
    }

    var hooks: [String] = []
    override func awakeFromInsert() { hooks.append("insert") }
    override func awakeFromFetch() { hooks.append("fetch") }
    override func willSave() { hooks.append("save") }
    override func validateForInsert() throws {
      if title == "bad" { throw ValidationError("it is bad", properties: ["title"]) }
    }

    convenience init(_ title: String, seconds: Double = 60) {
      self.init()
      self.title = title
      self.seconds = seconds
    }
  }

  enum Genre: String, AttributeType { case folk, jazz }

  struct Notes: CodableAttribute, Hashable {
    var text: String
  }

  /// A type that no attribute has, and how it is stored.
  struct Colour: Hashable {
    var red: Int
  }

  enum Hex: AttributeTransformer {
    static let transformation = Transformation<Colour, String>(
      to: { String($0.red, radix: 16) },
      from: { Int($0, radix: 16).map(Colour.init(red:)) },
      placeholder: Colour(red: 0)
    )
  }

  final class Album: StoredObject {
    override class var indexes: [StoredIndex] { [.index(\Album.songCount), .index(\Album.plainName)] }

    @Stored var name: String = ""
    @Stored var colour: Transformed<Hex> = Transformed(Colour(red: 255))
    @ToManyLink(deleteRule: .cascade) var songs: [Song]
    @Derived("songs.@count") var songCount: Int
    @Derived("songs.@max.rating") var bestRating: Int?
    @Derived("name[cd]", originalName: "folded") var plainName: String
    @ToManyLink(.ordered, deleteRule: .cascade, maximumCount: 3) var sides: OrderedToMany<Side>

    convenience init(name: String) {
      self.init()
      self.name = name
    }
  }

  final class Side: StoredObject {
    @Stored(originalName: "letter") var name: String
    @RequiredLink(.ordered, inverse: \Album.sides) var album: Album
  }

  final class Person: StoredObject {
    @Stored var name: String = ""
    @ToManyLink(inverse: \Song.players) var songs: ToMany<Song>
    @ToManyLink(inverse: .itself) var friends: Set<Person>

    init(name: String) {
      super.init()
      self.name = name
    }

    required init(_$state state: consuming ObjectState) { super.init(_$state: state) }
  }

  static let models: [any ManagedObject.Type] = [Song.self, Album.self, Side.self, Person.self]
}
