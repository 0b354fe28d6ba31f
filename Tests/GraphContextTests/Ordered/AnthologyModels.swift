import Cambium
import Foundation

/// Ordered many-to-many relationships: both ends of one pair, one end of another, and one that leads one way.
@Model final class Anthology {
  var name: String
  @Relationship(.ordered) var poems: OrderedToMany<Poem> = []
  @Relationship(.ordered) var hits: [Poem] = []
  @Relationship(.ordered, inverse: .hidden) var spares: [Poem] = []

  init(_ name: String) { self.name = name }
}

@Model final class Poem {
  var title: String
  var plays: Int = 0
  @Relationship(.ordered, inverse: \Anthology.poems) var books: OrderedToMany<Anthology> = []
  @Relationship(inverse: \Anthology.hits) var charts: Set<Anthology> = []

  init(_ title: String) { self.title = title }
}

extension Anthology {
  var titles: [String] { poems.map(\.title) }
  var hitTitles: [String] { hits.map(\.title) }
  var spareTitles: [String] { spares.map(\.title) }
}

extension Poem {
  var bookNames: [String] { books.map(\.name) }
}

/// An ordered many-to-many relationship to objects that saves unify with existing ones.
@Model final class Press {
  var name: String
  @Relationship(.ordered) var leaflets: [Leaflet] = []

  init(_ name: String) { self.name = name }
}

@Model final class Leaflet {
  @Attribute(.unique(ifExists: .keep)) var code: String
  @Relationship(inverse: \Press.leaflets) var presses: [Press] = []

  init(_ code: String) { self.code = code }
}

/// An ordered many-to-many relationship between classes without the macro.
enum Chapbooks {
  final class Chapbook: StoredObject {
    @Stored var name: String = ""
    @ToManyLink(.ordered, inverse: \Verse.chapbooks) var verses: OrderedToMany<Verse>
  }

  final class Verse: StoredObject {
    @Stored var title: String = ""
    @ToManyLink var chapbooks: [Chapbook]
  }
}
