import Cambium

@Model final class Badge {
  #Unique<Badge>([\.word], folding: .case)

  var word: String
  @Relationship(inverse: \Gadget.badges) var gadgets: [Gadget] = []

  init(word: String) {
    self.word = word
  }
}

@Model(originalName: "Thing") final class Gadget {
  #Index<Gadget>([\.int8, \.maker])
  #Index<Gadget>([\.text], folding: [.case, .diacritics])
  #Unique<Gadget>([\.text, \.uuid])
  #Unique<Gadget>([\.`case`])

  var bool: Bool = true
  var int8: Int8 = -128
  var int16: Int16?
  @Attribute(.unique) var int32: Int32
  var int64: Int
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var uint64: UInt = 64
  var float: Float = 0.5
  var double: Double = -1e-300
  var decimal: Decimal = 5
  var date: Date = Date(timeIntervalSinceReferenceDate: 0.0)
  var uuid: UUID
  @Attribute(originalName: "heading") var text: String = "\"two\"\nlines \\(é)"
  var data: Data = Data()
  var bytes: Data
  @Attribute(.unique, originalName: "struct") var `class`: Data?
  @Relationship(deleteRule: .deny, inverse: \Maker.gadgets, originalName: "firm") var maker: Maker
  @Relationship var badges: [Badge] = []
  @Relationship(inverse: .itself) var likes: [Gadget] = []
  @Relationship var parent: Gadget?
  @Relationship(deleteRule: .cascade, inverse: \Gadget.parent) var `case`: Gadget?
  @Relationship var home: Maker?

  init(
    int32: Int32,
    int64: Int,
    uint8: UInt8,
    uint16: UInt16,
    uint32: UInt32,
    uuid: UUID,
    bytes: Data,
    maker: Maker
  ) {
    self.int32 = int32
    self.int64 = int64
    self.uint8 = uint8
    self.uint16 = uint16
    self.uint32 = uint32
    self.uuid = uuid
    self.bytes = bytes
    self.maker = maker
  }
}

@Model final class Maker {
  @Relationship(deleteRule: .cascade) var gadgets: [Gadget] = []

  init() {}
}
