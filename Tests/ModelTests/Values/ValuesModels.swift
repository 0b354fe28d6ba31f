import Cambium
import Foundation
import GraphTestSupport

enum Mood: String, AttributeType {
  case calm, loud
}

struct Opening: CodableAttribute, Equatable {
  var days: Set<Int>
  var note: String?
}

/// Every kind of property that values have, and the kinds that they leave out.
@Model final class Piece {
  #Index<Piece>([\.title])
  var title: String
  var seconds: Int
  var small: Int8 = -3
  var large: UInt64 = .max
  var loudness: Float = 0.1
  var ratio: Double?
  var price: Decimal = 0
  var added: Date = .now
  var web: URL?
  var code: UUID
  @Attribute(.perInsert { UUID() }) var token: UUID
  var hash: Data = Data()
  var mood: Mood = .calm
  var opening: Opening?
  @Attribute var tags: [String] = []
  @Attribute var marks: Set<Int> = []
  var times: [Date] = []
  @Attribute var moods: [Mood]?
  var `class`: Bool = false
  @Attribute(.externalStorage) var cover: Data?
  @Transient var isSelected = false
  @Relationship(inverse: \Volume.pieces) var collection: Volume?
  @Relationship var composer: Composer
  @Relationship(inverse: \Piece.next) var previous: Piece?
  @Relationship var next: Piece?

  init(_ title: String, by composer: Composer, seconds: Int = 0) {
    self.title = title
    self.seconds = seconds
    self.composer = composer
    code = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  }
}

@Model final class Volume {
  var name: String
  @Relationship var pieces: [Piece] = []
  init(_ name: String) { self.name = name }
}

@Model final class Composer {
  var name: String
  private(set) var works: Int = 0
  private var secret: Secret = .none
  init(_ name: String) { self.name = name }

  private enum Secret: Int, AttributeType { case none, some }

  func hide() { secret = .some }
  func counted() -> Values {
    var values = values
    values.works += 1
    return values
  }
  var isHidden: Bool { secret == .some }
}

/// Everything public.
@Model public final class OpenModel {
  public var name: String
  var internalValue: Int
  var hidden: Hidden = .first
  public private(set) var plays: Int = 0
  public init(name: String, internalValue: Int) {
    self.name = name
    self.internalValue = internalValue
  }
}

struct Hidden: RawRepresentable, AttributeType {
  var rawValue: Int
  static let first = Hidden(rawValue: 3)
}

/// A model whose own type and properties have names that values use.
@Model final class Chart {
  struct Values { var count: Int }
  var id: UUID
  var values: [Int] = []
  init(id: UUID) { self.id = id }
}

@Model final class Table {
  var id: UUID
  var values: [Int] = []
  init(id: UUID) { self.id = id }
}

@MainActor @Model final class Screen {
  var title: String
  init(title: String) { self.title = title }
}

/// A model without the macro, with exactly the code that the macro would write, except for the name of the module.
final class Note: ManagedObject {
  @exclusivity(unchecked) final var _$state = ObjectState()
  @exclusivity(unchecked) private final var _text: Cached<String>

  var text: String {
    @storageRestrictions(initializes: _text)
    init(newValue) { _text = Cached(newValue) }
    get {
      if _$state.isFast(0) { return _text.value }
      _$awake()
      return _$load(0, &_text)
    }
    set {
      _$willSet(0)
      _text = Cached(newValue)
    }
  }

  init(_ text: String) { self.text = text }

  static let entityName = "Note"
  static let _$model = ModelDescription(
    EntityDescription(name: "Note", properties: [.attribute("text", String.self)])
  )
  init(_$state state: consuming ObjectState) {
    _$state = state
    _text = Cached()
  }
  func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {
    switch property {
    case 0: visitor.visit(attribute: 0, &_text)
    default: fatalError("Note has no property \(property)")
    }
  }
}

extension Note: ModelWithValues {
  struct Values: ModelValues {
    typealias _$Model = Note
    static let _$names = ["text"]
    var objectID: ManagedObjectID?
    var text: String

    init(text: String) { self.text = text }
    init<Reader: ValuesReader>(_$from reader: inout Reader) throws(Reader.Failure) {
      objectID = try reader.objectID()
      text = try reader.attribute()
    }
    func _$visit<Visitor: ValuesVisitor>(_ visitor: inout Visitor) { visitor.visit(attribute: text) }
  }
}

@Embeddable struct Hall: Hashable {
  var name: String
  var seats: Int?
  var mood: Mood = .loud
  var doors: [Int] = [1]
}

/// Embedded values among other properties.
@Model final class Concert {
  @Embedded var hall: Hall
  var title: String
  @Embedded var second: Hall?
  @Embedded private(set) var third: Hall?
  @Relationship var composer: Composer?

  init(_ title: String, in hall: Hall) {
    self.title = title
    self.hall = hall
    third = Hall(name: "Attic")
  }
}
