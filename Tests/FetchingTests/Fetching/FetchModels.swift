import Foundation
import GraphContext
import Predicates

/// An item with indexed and unindexed attributes of several types, on a shelf.
final class Item: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _n: Cached<Int?>
  @exclusivity(unchecked) private final var _m: Cached<Int16?>
  @exclusivity(unchecked) private final var _t: Cached<String?>
  @exclusivity(unchecked) private final var _d: Cached<Double?>
  @exclusivity(unchecked) private final var _w: Cached<Date?>
  @exclusivity(unchecked) private final var _u: Cached<UInt64?>
  @exclusivity(unchecked) private final var _flag: Cached<Bool>
  @exclusivity(unchecked) private final var _shelf: ToOneReference<Shelf>

  var n: Int? {
    @storageRestrictions(initializes: _n)
    init(newValue) { _n = Cached(newValue) }
    get {
      if _$state.isFast(0) { return _n.value }
      _$awake()
      return _$load(0, &_n)
    }
    set {
      _$willSet(0)
      _n = Cached(newValue)
    }
  }
  var m: Int16? {
    @storageRestrictions(initializes: _m)
    init(newValue) { _m = Cached(newValue) }
    get {
      if _$state.isFast(1) { return _m.value }
      _$awake()
      return _$load(1, &_m)
    }
    set {
      _$willSet(1)
      _m = Cached(newValue)
    }
  }
  var t: String? {
    @storageRestrictions(initializes: _t)
    init(newValue) { _t = Cached(newValue) }
    get {
      if _$state.isFast(2) { return _t.value }
      _$awake()
      return _$load(2, &_t)
    }
    set {
      _$willSet(2)
      _t = Cached(newValue)
    }
  }
  var d: Double? {
    @storageRestrictions(initializes: _d)
    init(newValue) { _d = Cached(newValue) }
    get {
      if _$state.isFast(3) { return _d.value }
      _$awake()
      return _$load(3, &_d)
    }
    set {
      _$willSet(3)
      _d = Cached(newValue)
    }
  }
  var w: Date? {
    @storageRestrictions(initializes: _w)
    init(newValue) { _w = Cached(newValue) }
    get {
      if _$state.isFast(4) { return _w.value }
      _$awake()
      return _$load(4, &_w)
    }
    set {
      _$willSet(4)
      _w = Cached(newValue)
    }
  }
  var u: UInt64? {
    @storageRestrictions(initializes: _u)
    init(newValue) { _u = Cached(newValue) }
    get {
      if _$state.isFast(5) { return _u.value }
      _$awake()
      return _$load(5, &_u)
    }
    set {
      _$willSet(5)
      _u = Cached(newValue)
    }
  }
  var flag: Bool {
    @storageRestrictions(initializes: _flag)
    init(newValue) { _flag = Cached(newValue) }
    get {
      if _$state.isFast(6) { return _flag.value }
      _$awake()
      return _$load(6, &_flag)
    }
    set {
      _$willSet(6)
      _flag = Cached(newValue)
    }
  }
  var shelf: Shelf? {
    @storageRestrictions(initializes: _shelf)
    init(newValue) { _shelf = ToOneReference(newValue) }
    get {
      _$awake()
      return _$toOne(7, &_shelf)
    }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(7, &_shelf, newValue)
      _$didSetToOne(7, change)
    }
  }

  init(n: Int?, m: Int16?, t: String?, d: Double?, w: Date?, u: UInt64?, flag: Bool, shelf: Shelf?) {
    self.n = n
    self.m = m
    self.t = t
    self.d = d
    self.w = w
    self.u = u
    self.flag = flag
    self.shelf = shelf
  }

  static let entityName = "Item"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Item",
      properties: [
        .attribute("n", Int?.self),
        .attribute("m", Int16?.self),
        .attribute("t", String?.self),
        .attribute("d", Double?.self),
        .attribute("w", Date?.self),
        .attribute("u", UInt64?.self),
        .attribute("flag", Bool.self),
        .toOne("shelf", Shelf.self),
      ],
      indexes: [
        IndexDescription(["n"]), IndexDescription(["d"]), IndexDescription(["m", "t"]),
        IndexDescription(["shelf", "n"]), IndexDescription(["t"], folding: [.case, .diacritics]),
        IndexDescription(["t", "n"], folding: .case),
      ]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _n = Cached()
    _m = Cached()
    _t = Cached()
    _d = Cached()
    _w = Cached()
    _u = Cached()
    _flag = Cached()
    _shelf = ToOneReference()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_n)
    case 1: visitor.visit(attribute: 1, &_m)
    case 2: visitor.visit(attribute: 2, &_t)
    case 3: visitor.visit(attribute: 3, &_d)
    case 4: visitor.visit(attribute: 4, &_w)
    case 5: visitor.visit(attribute: 5, &_u)
    case 6: visitor.visit(attribute: 6, &_flag)
    case 7: visitor.visit(toOne: 7, &_shelf)
    default: preconditionFailure("Item has no property \(property)")
    }
  }
}

/// A shelf, beside another.
final class Shelf: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _code: Cached<String>
  @exclusivity(unchecked) private final var _height: Cached<Int?>
  @exclusivity(unchecked) private final var _notes: Cached<String?>
  @exclusivity(unchecked) private final var _next: ToOneReference<Shelf>

  var code: String {
    @storageRestrictions(initializes: _code)
    init(newValue) { _code = Cached(newValue) }
    get {
      if _$state.isFast(0) { return _code.value }
      _$awake()
      return _$load(0, &_code)
    }
    set {
      _$willSet(0)
      _code = Cached(newValue)
    }
  }
  var height: Int? {
    @storageRestrictions(initializes: _height)
    init(newValue) { _height = Cached(newValue) }
    get {
      if _$state.isFast(1) { return _height.value }
      _$awake()
      return _$load(1, &_height)
    }
    set {
      _$willSet(1)
      _height = Cached(newValue)
    }
  }
  var notes: String? = nil {
    @storageRestrictions(initializes: _notes)
    init(newValue) { _notes = Cached(newValue) }
    get {
      if _$state.isFast(2) { return _notes.value }
      _$awake()
      return _$load(2, &_notes)
    }
    set {
      _$willSet(2)
      _notes = Cached(newValue)
    }
  }
  var next: Shelf? {
    @storageRestrictions(initializes: _next)
    init(newValue) { _next = ToOneReference(newValue) }
    get {
      _$awake()
      return _$toOne(3, &_next)
    }
    set {
      _$willSetToOne(newValue)
      let change = _$setToOne(3, &_next, newValue)
      _$didSetToOne(3, change)
    }
  }

  init(code: String, height: Int?, next: Shelf?) {
    self.code = code
    self.height = height
    self.next = next
  }

  static let entityName = "Shelf"
  static let _$model = ModelDescription(
    EntityDescription(
      name: "Shelf",
      properties: [
        .attribute("code", String.self),
        .attribute("height", Int?.self),
        .attribute("notes", String?.self),
        .toOne("next", Shelf.self),
      ],
      indexes: [IndexDescription(["code"]), IndexDescription(["code"], folding: .case)]
    )
  )

  init(_$state state: consuming ObjectState) {
    _$state = state
    _code = Cached()
    _height = Cached()
    _notes = Cached()
    _next = ToOneReference()
  }

  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_code)
    case 1: visitor.visit(attribute: 1, &_height)
    case 2: visitor.visit(attribute: 2, &_notes)
    case 3: visitor.visit(toOne: 3, &_next)
    default: preconditionFailure("Shelf has no property \(property)")
    }
  }
}
