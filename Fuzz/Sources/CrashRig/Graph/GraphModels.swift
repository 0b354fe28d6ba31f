import Foundation
import GraphContext
import Predicates

// Models with every kind of relationship, delete rule and index, written by hand as `@Model` would: the package builds no macros.

enum GraphModels {
  static let all: [any ManagedObject.Type] = [Author.self, Work.self, Publisher.self, Member.self]
}

/// Deletes its works when it is deleted.
final class Author: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _code: Cached<Int>
  @exclusivity(unchecked) private final var _name: Cached<String>
  @exclusivity(unchecked) private final var _rank: Cached<Int>
  @exclusivity(unchecked) private final var _email: Cached<String?>
  @exclusivity(unchecked) private final var _biography: Cached<String?>
  @exclusivity(unchecked) private final var _portrait: Cached<Data?>
  @exclusivity(unchecked) private final var _works: ToManyMembers<Work>
  @exclusivity(unchecked) private final var _admirers: ToManyMembers<Member>

  var code: Int {
    @storageRestrictions(initializes: _code)
    init(newValue) { _code = Cached(newValue) }
    get { _$state.isFast(0) ? _code.value : _$load(0, &_code) }
    set {
      _$willSet(0)
      _code = Cached(newValue)
    }
  }
  var name: String {
    @storageRestrictions(initializes: _name)
    init(newValue) { _name = Cached(newValue) }
    get { _$state.isFast(1) ? _name.value : _$load(1, &_name) }
    set {
      _$willSet(1)
      _name = Cached(newValue)
    }
  }
  var rank: Int {
    @storageRestrictions(initializes: _rank)
    init(newValue) { _rank = Cached(newValue) }
    get { _$state.isFast(2) ? _rank.value : _$load(2, &_rank) }
    set {
      _$willSet(2)
      _rank = Cached(newValue)
    }
  }
  var email: String? = nil {
    @storageRestrictions(initializes: _email)
    init(newValue) { _email = Cached(newValue) }
    get { _$state.isFast(3) ? _email.value : _$load(3, &_email) }
    set {
      _$willSet(3)
      _email = Cached(newValue)
    }
  }
  var biography: String? = nil {
    @storageRestrictions(initializes: _biography)
    init(newValue) { _biography = Cached(newValue) }
    get { _$state.isFast(4) ? _biography.value : _$load(4, &_biography) }
    set {
      _$willSet(4)
      _biography = Cached(newValue)
    }
  }
  var portrait: Data? = nil {
    @storageRestrictions(initializes: _portrait)
    init(newValue) { _portrait = Cached(newValue) }
    get { _$state.isFast(5) ? _portrait.value : _$load(5, &_portrait) }
    set {
      _$willSet(5)
      _portrait = Cached(newValue)
    }
  }
  var works: ToMany<Work> = [] {
    @storageRestrictions(initializes: _works)
    init(newValue) { _works = ToManyMembers(newValue) }
    get { _$toMany(0, &_works) }
    set { _works = _$putToMany(0, newValue, isWhole: true) }
    _modify {
      var members: ToMany<Work> = _$takeToMany(0, &_works)
      defer { _works = _$putToMany(0, members) }
      yield &members
    }
  }
  var admirers: [Member] = [] {
    @storageRestrictions(initializes: _admirers)
    init(newValue) { _admirers = ToManyMembers(newValue) }
    get { _$toMany(1, &_admirers) }
    set { _admirers = _$putToMany(1, newValue, isWhole: true) }
    _modify {
      var members: [Member] = _$takeToMany(1, &_admirers)
      defer { _admirers = _$putToMany(1, members) }
      yield &members
    }
  }

  init(code: Int, name: String, rank: Int) {
    self.code = code
    self.name = name
    self.rank = rank
  }

  static let entityName = "Author"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Author",
      properties: [
        .attribute("code", Int.self),
        .attribute("name", String.self),
        .attribute("rank", Int.self),
        .attribute("email", String?.self),
        .attribute("biography", String?.self),
        .externalAttribute("portrait", Data?.self),
        .toMany("works", Work.self, inverse: "author", deleteRule: .cascade),
        .toMany("admirers", Member.self, inverse: "idols"),
      ],
      indexes: [
        IndexDescription(["code"], isUnique: true),
        IndexDescription(["email"], isUnique: true),
        IndexDescription(["rank", "name"]),
        IndexDescription(["name"], folding: [.case, .diacritics]),
      ]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _code = Cached()
    _name = Cached()
    _rank = Cached()
    _email = Cached()
    _biography = Cached()
    _portrait = Cached()
    _works = ToManyMembers()
    _admirers = ToManyMembers()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_code)
    case 1: visitor.visit(attribute: 1, &_name)
    case 2: visitor.visit(attribute: 2, &_rank)
    case 3: visitor.visit(attribute: 3, &_email)
    case 4: visitor.visit(attribute: 4, &_biography)
    case 5: visitor.visit(attribute: 5, &_portrait)
    case 6: visitor.visit(toMany: 0, &_works)
    case 7: visitor.visit(toMany: 1, &_admirers)
    default: fatalError("Author has no property \(property)")
    }
  }
}

/// A work. No other work has its place, if it has one. It may be in a chain of sequels.
final class Work: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _code: Cached<Int>
  @exclusivity(unchecked) private final var _title: Cached<String>
  @exclusivity(unchecked) private final var _pages: Cached<Int>
  @exclusivity(unchecked) private final var _shelf: Cached<String?>
  @exclusivity(unchecked) private final var _place: Cached<Int?>
  @exclusivity(unchecked) private final var _author: ToOneReference<Author>
  @exclusivity(unchecked) private final var _publisher: ToOneReference<Publisher>
  @exclusivity(unchecked) private final var _prequel: ToOneReference<Work>
  @exclusivity(unchecked) private final var _sequel: ToOneReference<Work>

  var code: Int {
    @storageRestrictions(initializes: _code)
    init(newValue) { _code = Cached(newValue) }
    get { _$state.isFast(0) ? _code.value : _$load(0, &_code) }
    set {
      _$willSet(0)
      _code = Cached(newValue)
    }
  }
  var title: String {
    @storageRestrictions(initializes: _title)
    init(newValue) { _title = Cached(newValue) }
    get { _$state.isFast(1) ? _title.value : _$load(1, &_title) }
    set {
      _$willSet(1)
      _title = Cached(newValue)
    }
  }
  var pages: Int {
    @storageRestrictions(initializes: _pages)
    init(newValue) { _pages = Cached(newValue) }
    get { _$state.isFast(2) ? _pages.value : _$load(2, &_pages) }
    set {
      _$willSet(2)
      _pages = Cached(newValue)
    }
  }
  var shelf: String? = nil {
    @storageRestrictions(initializes: _shelf)
    init(newValue) { _shelf = Cached(newValue) }
    get { _$state.isFast(3) ? _shelf.value : _$load(3, &_shelf) }
    set {
      _$willSet(3)
      _shelf = Cached(newValue)
    }
  }
  var place: Int? = nil {
    @storageRestrictions(initializes: _place)
    init(newValue) { _place = Cached(newValue) }
    get { _$state.isFast(4) ? _place.value : _$load(4, &_place) }
    set {
      _$willSet(4)
      _place = Cached(newValue)
    }
  }
  var author: Author? = nil {
    @storageRestrictions(initializes: _author)
    init(newValue) { _author = ToOneReference(newValue) }
    get { _$toOne(5, &_author) }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(5, &_author, newValue)
      _$didSetToOne(5, change)
    }
  }
  var publisher: Publisher {
    @storageRestrictions(initializes: _publisher)
    init(newValue) { _publisher = ToOneReference(newValue) }
    get { _$requiredToOne(6, &_publisher) }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(6, &_publisher, newValue)
      _$didSetToOne(6, change)
    }
  }
  var prequel: Work? = nil {
    @storageRestrictions(initializes: _prequel)
    init(newValue) { _prequel = ToOneReference(newValue) }
    get { _$toOne(7, &_prequel) }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(7, &_prequel, newValue)
      _$didSetToOne(7, change)
    }
  }
  var sequel: Work? = nil {
    @storageRestrictions(initializes: _sequel)
    init(newValue) { _sequel = ToOneReference(newValue) }
    get { _$toOne(8, &_sequel) }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(8, &_sequel, newValue)
      _$didSetToOne(8, change)
    }
  }

  init(code: Int, title: String, pages: Int, publisher: Publisher) {
    self.code = code
    self.title = title
    self.pages = pages
    self.publisher = publisher
  }

  static let entityName = "Work"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Work",
      properties: [
        .attribute("code", Int.self),
        .attribute("title", String.self),
        .attribute("pages", Int.self),
        .attribute("shelf", String?.self),
        .attribute("place", Int?.self),
        .toOne("author", Author.self),
        .requiredToOne("publisher", Publisher.self),
        .toOne("prequel", Work.self, inverse: "sequel"),
        .toOne("sequel", Work.self),
      ],
      indexes: [
        IndexDescription(["code"], isUnique: true),
        IndexDescription(["shelf", "place"], isUnique: true),
        IndexDescription(["pages", "title"]),
        IndexDescription(["author"]),
      ]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _code = Cached()
    _title = Cached()
    _pages = Cached()
    _shelf = Cached()
    _place = Cached()
    _author = ToOneReference()
    _publisher = ToOneReference()
    _prequel = ToOneReference()
    _sequel = ToOneReference()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_code)
    case 1: visitor.visit(attribute: 1, &_title)
    case 2: visitor.visit(attribute: 2, &_pages)
    case 3: visitor.visit(attribute: 3, &_shelf)
    case 4: visitor.visit(attribute: 4, &_place)
    case 5: visitor.visit(toOne: 5, &_author)
    case 6: visitor.visit(toOne: 6, &_publisher)
    case 7: visitor.visit(toOne: 7, &_prequel)
    case 8: visitor.visit(toOne: 8, &_sequel)
    default: fatalError("Work has no property \(property)")
    }
  }
}

/// Can't be deleted while it has works.
final class Publisher: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _code: Cached<Int>
  @exclusivity(unchecked) private final var _name: Cached<String>
  @exclusivity(unchecked) private final var _works: ToManyMembers<Work>

  var code: Int {
    @storageRestrictions(initializes: _code)
    init(newValue) { _code = Cached(newValue) }
    get { _$state.isFast(0) ? _code.value : _$load(0, &_code) }
    set {
      _$willSet(0)
      _code = Cached(newValue)
    }
  }
  var name: String {
    @storageRestrictions(initializes: _name)
    init(newValue) { _name = Cached(newValue) }
    get { _$state.isFast(1) ? _name.value : _$load(1, &_name) }
    set {
      _$willSet(1)
      _name = Cached(newValue)
    }
  }
  var works: [Work] = [] {
    @storageRestrictions(initializes: _works)
    init(newValue) { _works = ToManyMembers(newValue) }
    get { _$toMany(0, &_works) }
    set { _works = _$putToMany(0, newValue, isWhole: true) }
    _modify {
      var members: [Work] = _$takeToMany(0, &_works)
      defer { _works = _$putToMany(0, members) }
      yield &members
    }
  }

  init(code: Int, name: String) {
    self.code = code
    self.name = name
  }

  static let entityName = "Publisher"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Publisher",
      properties: [
        .attribute("code", Int.self),
        .attribute("name", String.self),
        .toMany("works", Work.self, inverse: "publisher", deleteRule: .deny),
      ],
      indexes: [
        IndexDescription(["code"], isUnique: true)
      ]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _code = Cached()
    _name = Cached()
    _works = ToManyMembers()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_code)
    case 1: visitor.visit(attribute: 1, &_name)
    case 2: visitor.visit(toMany: 0, &_works)
    default: fatalError("Publisher has no property \(property)")
    }
  }
}

/// A member, who admires authors and has one favourite work. The work has no inverse.
final class Member: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _code: Cached<Int>
  @exclusivity(unchecked) private final var _name: Cached<String>
  @exclusivity(unchecked) private final var _favourite: ToOneReference<Work>
  @exclusivity(unchecked) private final var _idols: ToManyMembers<Author>

  var code: Int {
    @storageRestrictions(initializes: _code)
    init(newValue) { _code = Cached(newValue) }
    get { _$state.isFast(0) ? _code.value : _$load(0, &_code) }
    set {
      _$willSet(0)
      _code = Cached(newValue)
    }
  }
  var name: String {
    @storageRestrictions(initializes: _name)
    init(newValue) { _name = Cached(newValue) }
    get { _$state.isFast(1) ? _name.value : _$load(1, &_name) }
    set {
      _$willSet(1)
      _name = Cached(newValue)
    }
  }
  var favourite: Work? = nil {
    @storageRestrictions(initializes: _favourite)
    init(newValue) { _favourite = ToOneReference(newValue) }
    get { _$toOne(2, &_favourite) }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(2, &_favourite, newValue)
      _$didSetToOne(2, change)
    }
  }
  var idols: Set<Author> = [] {
    @storageRestrictions(initializes: _idols)
    init(newValue) { _idols = ToManyMembers(newValue) }
    get { _$toMany(0, &_idols) }
    set { _idols = _$putToMany(0, newValue, isWhole: true) }
    _modify {
      var members: Set<Author> = _$takeToMany(0, &_idols)
      defer { _idols = _$putToMany(0, members) }
      yield &members
    }
  }

  init(code: Int, name: String) {
    self.code = code
    self.name = name
  }

  static let entityName = "Member"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Member",
      properties: [
        .attribute("code", Int.self),
        .attribute("name", String.self),
        .toOne("favourite", Work.self),
        .toMany("idols", Author.self),
      ],
      indexes: [
        IndexDescription(["code"], isUnique: true)
      ]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _code = Cached()
    _name = Cached()
    _favourite = ToOneReference()
    _idols = ToManyMembers()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_code)
    case 1: visitor.visit(attribute: 1, &_name)
    case 2: visitor.visit(toOne: 2, &_favourite)
    case 3: visitor.visit(toMany: 0, &_idols)
    default: fatalError("Member has no property \(property)")
    }
  }
}
