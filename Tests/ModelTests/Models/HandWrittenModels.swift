import Foundation
import GraphContext
import Predicates

// Models that a user writes without the macro, with only `GraphContext`. The members are exactly those that `@Model`
// writes. The tests of the macro compare its output with the same shape.

enum Genre: Int, AttributeType, CaseIterable {
  case folk = 3
  case jazz
  case pop
}

final class Tune: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _isrc: Cached<String>
  @exclusivity(unchecked) private final var _seconds: Cached<Int>
  @exclusivity(unchecked) private final var _rating: Cached<Double?>
  @exclusivity(unchecked) private final var _genre: Cached<Genre>
  @exclusivity(unchecked) private final var _record: ToOneReference<Record>
  @exclusivity(unchecked) private final var _players: ToManyMembers<Player>

  var isrc: String {
    @storageRestrictions(initializes: _isrc)
    init(newValue) { _isrc = Cached(newValue) }
    get {
      if _$state.isFast(0) { return _isrc.value }
      _$awake()
      return _$load(0, &_isrc)
    }
    set {
      _$willSet(0)
      _isrc = Cached(newValue)
    }
  }
  var seconds: Int {
    @storageRestrictions(initializes: _seconds)
    init(newValue) { _seconds = Cached(newValue) }
    get {
      if _$state.isFast(1) { return _seconds.value }
      _$awake()
      return _$load(1, &_seconds)
    }
    set {
      _$willSet(1)
      _seconds = Cached(newValue)
    }
  }
  var rating: Double? = nil {
    @storageRestrictions(initializes: _rating)
    init(newValue) { _rating = Cached(newValue) }
    get {
      if _$state.isFast(2) { return _rating.value }
      _$awake()
      return _$load(2, &_rating)
    }
    set {
      _$willSet(2)
      _rating = Cached(newValue)
    }
  }
  var genre: Genre = .folk {
    @storageRestrictions(initializes: _genre)
    init(newValue) { _genre = Cached(newValue) }
    get {
      if _$state.isFast(3) { return _genre.value }
      _$awake()
      return _$load(3, &_genre)
    }
    set {
      _$willSet(3)
      _genre = Cached(newValue)
    }
  }
  var record: Record? = nil {
    @storageRestrictions(initializes: _record)
    init(newValue) { _record = ToOneReference(newValue) }
    get {
      _$awake()
      return _$toOne(4, &_record)
    }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(4, &_record, newValue)
      _$didSetToOne(4, change)
    }
  }
  var players: Set<Player> = [] {
    @storageRestrictions(initializes: _players)
    init(newValue) { _players = ToManyMembers(newValue) }
    get {
      _$awake()
      return _$toMany(0, &_players)
    }
    set {
      _players = _$putToMany(0, newValue, isWhole: true)
      _$didPutToMany()
    }
    _modify {
      _$awake()
      var members: Set<Player> = _$takeToMany(0, &_players)
      defer {
        _players = _$putToMany(0, members)
        _$didPutToMany()
      }
      yield &members
    }
  }

  var label: String { "\(isrc): \(seconds)" }
  var doubled: Int { seconds * 2 }
  var alias: Int { seconds }

  init(isrc: String, seconds: Int) {
    self.seconds = seconds
    self.isrc = isrc
  }

  static let entityName = "Tune"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Tune",
      properties: [
        .attribute("isrc", String.self),
        .attribute("seconds", Int.self),
        .attribute("rating", Double?.self),
        .attribute("genre", Genre.self),
        .toOne("record", Record.self, inverse: "tunes"),
        .toMany("players", Player.self),
      ],
      indexes: [IndexDescription(["seconds"]), IndexDescription(["isrc"], isUnique: true)]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _isrc = Cached()
    _seconds = Cached()
    _rating = Cached()
    _genre = Cached()
    _record = ToOneReference()
    _players = ToManyMembers()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_isrc)
    case 1: visitor.visit(attribute: 1, &_seconds)
    case 2: visitor.visit(attribute: 2, &_rating)
    case 3: visitor.visit(attribute: 3, &_genre)
    case 4: visitor.visit(toOne: 4, &_record)
    case 5: visitor.visit(toMany: 0, &_players)
    default: fatalError("Tune has no property \(property)")
    }
  }
}

final class Record: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _title: Cached<String>
  @exclusivity(unchecked) private final var _year: Cached<Int16?>
  @exclusivity(unchecked) private final var _tunes: ToManyMembers<Tune>

  var title: String {
    @storageRestrictions(initializes: _title)
    init(newValue) { _title = Cached(newValue) }
    get {
      if _$state.isFast(0) { return _title.value }
      _$awake()
      return _$load(0, &_title)
    }
    set {
      _$willSet(0)
      _title = Cached(newValue)
    }
  }
  var year: Int16? = nil {
    @storageRestrictions(initializes: _year)
    init(newValue) { _year = Cached(newValue) }
    get {
      if _$state.isFast(1) { return _year.value }
      _$awake()
      return _$load(1, &_year)
    }
    set {
      _$willSet(1)
      _year = Cached(newValue)
    }
  }
  var tunes: [Tune] = [] {
    @storageRestrictions(initializes: _tunes)
    init(newValue) { _tunes = ToManyMembers(newValue) }
    get {
      _$awake()
      return _$toMany(0, &_tunes)
    }
    set {
      _tunes = _$putToMany(0, newValue, isWhole: true)
      _$didPutToMany()
    }
    _modify {
      _$awake()
      var members: [Tune] = _$takeToMany(0, &_tunes)
      defer {
        _tunes = _$putToMany(0, members)
        _$didPutToMany()
      }
      yield &members
    }
  }

  init(title: String) { self.title = title }

  static let entityName = "Record"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Record",
      properties: [
        .attribute("title", String.self),
        .attribute("year", Int16?.self),
        .toMany("tunes", Tune.self, deleteRule: .cascade),
      ]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _title = Cached()
    _year = Cached()
    _tunes = ToManyMembers()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_title)
    case 1: visitor.visit(attribute: 1, &_year)
    case 2: visitor.visit(toMany: 0, &_tunes)
    default: fatalError("Record has no property \(property)")
    }
  }
}

final class Player: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _name: Cached<String>
  @exclusivity(unchecked) private final var _favourite: ToOneReference<Tune>
  @exclusivity(unchecked) private final var _tunes: ToManyMembers<Tune>

  var name: String {
    @storageRestrictions(initializes: _name)
    init(newValue) { _name = Cached(newValue) }
    get {
      if _$state.isFast(0) { return _name.value }
      _$awake()
      return _$load(0, &_name)
    }
    set {
      _$willSet(0)
      _name = Cached(newValue)
    }
  }
  /// Required, and one way.
  var favourite: Tune {
    @storageRestrictions(initializes: _favourite)
    init(newValue) { _favourite = ToOneReference(newValue) }
    get {
      _$awake()
      return _$requiredToOne(1, &_favourite)
    }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(1, &_favourite, newValue)
      _$didSetToOne(1, change)
    }
  }
  var tunes: ToMany<Tune> = [] {
    @storageRestrictions(initializes: _tunes)
    init(newValue) { _tunes = ToManyMembers(newValue) }
    get {
      _$awake()
      return _$toMany(0, &_tunes)
    }
    set {
      _tunes = _$putToMany(0, newValue, isWhole: true)
      _$didPutToMany()
    }
    _modify {
      _$awake()
      var members: ToMany<Tune> = _$takeToMany(0, &_tunes)
      defer {
        _tunes = _$putToMany(0, members)
        _$didPutToMany()
      }
      yield &members
    }
  }

  init(name: String, favourite: Tune) {
    self.name = name
    self.favourite = favourite
  }

  static let entityName = "Player"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Player",
      properties: [
        .attribute("name", String.self),
        .requiredToOne("favourite", Tune.self),
        .toMany("tunes", Tune.self, inverse: "players"),
      ]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _name = Cached()
    _favourite = ToOneReference()
    _tunes = ToManyMembers()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_name)
    case 1: visitor.visit(toOne: 1, &_favourite)
    case 2: visitor.visit(toMany: 0, &_tunes)
    default: fatalError("Player has no property \(property)")
    }
  }
}
