import Cambium
import Foundation
@_spi(Testing) import PageStore
import TestSupport

/// An attribute of each kind.
@Model final class Sample {
  #Index<Sample>([\.text], [\.moment], [\.exact], [\.wide, \.double])
  #Index<Sample>([\.text], folding: [.case, .diacritics])
  #Index<Sample>([\.long], [\.single], [\.bytes])
  #Unique<Sample>([\.key])

  var flag: Bool = false
  var tiny: Int8 = 0
  var short: Int16 = 0
  var medium: Int32 = 0
  var long: Int64 = 0
  var byte: UInt8 = 0
  var word: UInt16 = 0
  var dozen: UInt32 = 0
  var wide: UInt64 = 0
  var single: Float = 0
  var double: Double = 0
  var exact: Decimal = 0
  var moment: Date = Date(timeIntervalSinceReferenceDate: 0)
  var key: UUID?
  var text: String
  var note: String?
  var bytes: Data?
  @Relationship(inverse: \Box.samples) var box: Box?
  @Relationship(inverse: \Tag.samples) var tags: [Tag] = []
  @Relationship(inverse: .itself) var neighbours: Set<Sample> = []

  init(text: String) { self.text = text }
}

/// Many, so that their tree has branches.
@Model final class Box {
  #Unique<Box>([\.name])
  var name: String
  var shelf: Int?
  @Relationship var samples: [Sample] = []

  init(name: String, shelf: Int?) {
    self.name = name
    self.shelf = shelf
  }
}

@Model final class Tag {
  var word: String
  @Relationship var samples: Set<Sample> = []

  init(word: String) { self.word = word }
}

/// A store with one of everything that Docs/FileFormat.md and Docs/Records.md describe, as a process leaves it that ends without closing
/// it: with a checkpoint, and transactions after it in two log extents.
enum SmallStore {
  static let models: [any ManagedObject.Type] = [Sample.self, Box.self, Tag.self]

  /// Makes the store and copies its file to `path`.
  static func make(at path: String) async throws {
    let folder = try TemporaryFolder()
    let made = folder.file("made.cambium")
    var options = StoreOptions()
    options.pageSize = 4_096
    options.initialLogByteCount = 16 << 10
    options.compaction = nil
    let url = URL(fileURLWithPath: made)
    let container = try await PersistentContainer("Small", models: models, at: .file(url), options: options)
    try await container.performBackgroundTask { try fill($0) }
    try await container.performBackgroundTask { context in
      try context.fetch(From<Sample>().where(\.text == "long")).first?.note = overflow
      try context.save()
    }
    try await container.store.write { transaction in
      for letter in "abcdef".utf8 { try transaction.tree("scratch").put([letter], [letter]) }
      try transaction.tree("gone").put([0], [0])
    }
    try await container.checkpoint()
    try await container.performBackgroundTask { try change($0) }
    try await container.store.write { transaction in
      let scratch = try transaction.tree("scratch")
      try transaction.dropTree("gone")
      try scratch.removeRange(KeyRange(lower: .including([0x62]), upper: .excluding([0x65])))
      try scratch.removeRange(KeyRange(lower: .excluding([0x65])))
      // A new tree of the same name, with a new number.
      try transaction.tree("gone").put([1], [1])
    }
    // The file is copied before the store is closed, because closing would write a checkpoint.
    try FileManager.default.copyItem(atPath: made, toPath: path)
    try await container.close()
  }

  /// A text that makes its record two chunks long, with other letters in the second chunk than in the first.
  private static let overflow = String(repeating: "a", count: 60_000) + String(repeating: "b", count: 10_000)

  /// Makes the contents of the checkpoint.
  private static func fill(_ context: ManagedObjectContext) throws {
    for number in 1...120 {
      let name = String(repeating: "0", count: 3 - "\(number)".count) + "\(number)"
      context.insert(Box(name: "Box \(name)", shelf: number % 3 == 0 ? nil : number * 64 - 4_096))
    }
    try context.save()
    let boxes = try context.fetch(From<Box>().orderBy(.ascending(\.name)))

    let zero = Sample(text: "")
    // The other samples are inserted when they get a box.
    context.insert(zero)
    let least = Sample(text: "Straße")
    least.flag = true
    (least.tiny, least.short, least.medium, least.long) = (.min, .min, .min, .min)
    (least.single, least.double, least.exact) = (-.infinity, -.infinity, -Decimal.greatestFiniteMagnitude)
    least.moment = Date(timeIntervalSinceReferenceDate: -.infinity)
    least.box = boxes[0]
    let greatest = Sample(text: "A\u{30A}ngström")
    (greatest.tiny, greatest.short, greatest.medium, greatest.long) = (.max, .max, .max, .max)
    (greatest.byte, greatest.word, greatest.dozen, greatest.wide) = (.max, .max, .max, .max)
    (greatest.single, greatest.double, greatest.exact) = (.infinity, .infinity, .greatestFiniteMagnitude)
    greatest.moment = Date(timeIntervalSinceReferenceDate: .infinity)
    greatest.key = UUID(uuidString: "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF")
    greatest.box = boxes[0]
    let unusual = Sample(text: "zero \0, one \u{1}, two \u{2}")
    (unusual.tiny, unusual.short, unusual.medium, unusual.long) = (-1, -256, -257, -65_537)
    (unusual.single, unusual.double, unusual.exact) = (.nan, .nan, .nan)
    unusual.moment = Date(timeIntervalSinceReferenceDate: .nan)
    unusual.bytes = Data([0, 1, 2, 255])
    unusual.box = boxes[119]
    let long = Sample(text: "long")
    let longKey = Sample(text: String(repeating: "k", count: 1_000))
    longKey.note = String(repeating: "n", count: 2_500)
    for sample in [zero, least, greatest, unusual, long, longKey] {
      context.insert(sample)
      if sample !== zero { sample.neighbours.insert(zero) }
    }
    try context.save()
  }

  /// Makes the changes that only the log contains: the first links to tags, changed, deleted and new objects, and
  /// values that fill a log extent.
  private static func change(_ context: ManagedObjectContext) throws {
    let samples = try context.fetch(From<Sample>().orderBy(.ascending(\.text)))
    let (zero, least) = (samples[0], samples[2])
    let tags = ["old", "Old", "ÖLD"].map { Tag(word: $0) }
    for tag in tags { context.insert(tag) }
    zero.tags = tags
    least.tags = [tags[1]]
    try context.save()

    (zero.single, zero.double, zero.exact) = (-0.5, -0.0, Decimal(string: "-12.50") ?? 0)
    zero.moment = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    zero.key = UUID(uuidString: "01234567-89ab-4cde-8f01-23456789abcd")
    zero.note = String(repeating: "m", count: 12_000)
    least.box = nil
    try context.save()

    for box in try context.fetch(From<Box>().where(\.name > "Box 003" && \.name < "Box 117")) {
      context.delete(box)
    }
    least.tags = []
    try context.save()

    let added = Sample(text: "added")
    added.note = String(repeating: "o", count: 12_000)
    added.tags = [tags[2]]
    context.insert(added)
    try context.save()
  }
}

// MARK: - Values

extension SmallStore {
  typealias Values = KeyValuePairs<String, AttributeValue>

  /// Returns the values that the classes of the models show of every object, by entity, then by object number.
  static func values(in context: ManagedObjectContext) throws -> [(entity: String, rows: [Values])] {
    [
      ("Box", try rows(of: Box.self, in: context, values(of:))),
      ("Sample", try rows(of: Sample.self, in: context, values(of:))),
      ("Tag", try rows(of: Tag.self, in: context) { ["id": id($0), "word": $0.word._attributeValue] }),
    ]
  }

  private static func rows<Object: ManagedObject>(
    of type: Object.Type,
    in context: ManagedObjectContext,
    _ values: (Object) -> Values
  ) throws -> [Values] {
    try context.fetch(From<Object>()).sorted { $0.objectID.number < $1.objectID.number }.map(values)
  }

  private static func id(_ object: (some ManagedObject)?) -> AttributeValue {
    object.map { .reference($0.objectID.number) } ?? .null
  }

  private static func values(of box: Box) -> Values {
    ["id": id(box), "name": box.name._attributeValue, "shelf": box.shelf._attributeValue]
  }

  private static func values(of sample: Sample) -> Values {
    [
      "id": id(sample), "flag": sample.flag._attributeValue, "tiny": sample.tiny._attributeValue,
      "short": sample.short._attributeValue, "medium": sample.medium._attributeValue,
      "long": sample.long._attributeValue, "byte": sample.byte._attributeValue,
      "word": sample.word._attributeValue, "dozen": sample.dozen._attributeValue,
      "wide": sample.wide._attributeValue, "single": sample.single._attributeValue,
      "double": sample.double._attributeValue, "exact": sample.exact._attributeValue,
      "moment": sample.moment._attributeValue, "key": sample.key._attributeValue,
      "text": sample.text._attributeValue, "note": sample.note._attributeValue,
      "bytes": sample.bytes._attributeValue, "box": id(sample.box),
    ]
  }
}
