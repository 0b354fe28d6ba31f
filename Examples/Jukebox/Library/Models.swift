import Cambium
import CambiumFlow

/// A tune in the jukebox.
@Model final class Tune {
  #Index<Tune>([\.plays])
  @Attribute(.length(1...80)) var title: String
  var artist: String
  var plays: Int = 0

  init(_ title: String, by artist: String) {
    self.title = title
    self.artist = artist
  }
}

/// The requests for tunes.
enum TuneRequest: ObjectRequest, Equatable {
  case all
  case by(artist: String)
  case titled(String)
  case hits

  var query: From<Tune> {
    switch self {
    case .all: From<Tune>()
    case .by(let artist): From<Tune>().where { $0.artist == artist }
    case .titled(let text): From<Tune>().where { $0.title.contains(text) }
    case .hits: From<Tune>().where { $0.plays > 0 }.limit(5)
    }
  }

  var order: [OrderBy<Tune>] {
    let byName: [OrderBy<Tune>] = [.ascending(\.artist), .ascending(\.title)]
    return self == .hits ? [.descending(\.plays)] + byName : byName
  }

  /// The title of the list.
  var title: String {
    switch self {
    case .all: "All tunes"
    case .by(let artist): "Tunes by \(artist)"
    case .titled(let text): "Tunes with “\(text)”"
    case .hits: "Hits"
    }
  }
}

extension Tune.Values: PersistableValue {
  typealias Object = Tune
  typealias Request = TuneRequest
}
