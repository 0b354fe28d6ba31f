import Foundation
import PageStore
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// Vinyls and discs with labels, described without classes.
private enum ShopV1: VersionedSchema {
  static let version = Schema.Version(1)
  static func schema() throws(SchemaError) -> Schema? {
    try Schema(entities: [
      EntityDescription(
        name: "Vinyl",
        properties: [
          .attribute(.init(name: "title", kind: .string)),
          .attribute(.init(name: "speed", kind: .int64)),
          .attribute(.init(name: "price", kind: .string, isOptional: true)),
          .relationship(
            .init(name: "label", destination: "Label", cardinality: .optional, inverse: "vinyls")
          ),
          .relationship(.init(name: "tags", destination: "Tag", cardinality: .many, inverse: "vinyls")),
        ],
        indexes: [IndexDescription(["title"])]
      ),
      EntityDescription(
        name: "Disc",
        properties: [
          .attribute(.init(name: "name", kind: .string)),
          .relationship(.init(name: "label", destination: "Label", cardinality: .optional, inverse: "discs")),
        ]
      ),
      EntityDescription(
        name: "Label",
        properties: [
          .attribute(.init(name: "name", kind: .string)),
          .relationship(.init(name: "vinyls", destination: "Vinyl", cardinality: .many, inverse: "label")),
          .relationship(.init(name: "discs", destination: "Disc", cardinality: .many, inverse: "label")),
        ]
      ),
      EntityDescription(
        name: "Tag",
        properties: [
          .attribute(.init(name: "word", kind: .string)),
          .relationship(.init(name: "vinyls", destination: "Vinyl", cardinality: .many, inverse: "tags")),
        ]
      ),
    ])
  }
}

/// One entity for both, a short speed, a price that is a number, and one label that leads to all.
private enum ShopV2: VersionedSchema {
  static let version = Schema.Version(2)
  static func schema() throws(SchemaError) -> Schema? {
    try Schema(entities: [
      EntityDescription(
        name: "Album",
        properties: [
          .attribute(.init(name: "title", kind: .string)),
          .attribute(.init(name: "speed", kind: .int8, isOptional: true)),
          .attribute(.init(name: "price", kind: .decimal, isOptional: true)),
          .relationship(
            .init(
              name: "label",
              destination: "Label",
              cardinality: .optional,
              inverse: "albums",
              originalName: "label"
            )
          ),
          .relationship(.init(name: "tags", destination: "Tag", cardinality: .many, inverse: "albums")),
        ],
        indexes: [IndexDescription(["title"], isUnique: true)],
        originalName: "Vinyl"
      ),
      EntityDescription(
        name: "Label",
        properties: [
          .attribute(.init(name: "name", kind: .string)),
          .relationship(
            .init(
              name: "albums",
              destination: "Album",
              cardinality: .many,
              inverse: "label",
              originalName: "vinyls"
            )
          ),
        ]
      ),
      EntityDescription(
        name: "Tag",
        properties: [
          .attribute(.init(name: "word", kind: .string)),
          .relationship(
            .init(
              name: "albums",
              destination: "Album",
              cardinality: .many,
              inverse: "tags",
              originalName: "vinyls"
            )
          ),
        ]
      ),
    ])
  }
}

private func plan(
  _ speed: ConversionRule = .clamping,
  joining: MigrationPass = .forEach("Disc", inBatchesOf: 3, joinDiscs)
) -> MigrationPlan {
  MigrationPlan(
    [ShopV1.self, ShopV2.self],
    stages: [
      .custom(
        from: ShopV1.self,
        to: ShopV2.self,
        .converting("speed", of: "Vinyl", speed),
        .converting("price", of: "Vinyl", .orNil),
        joining
      )
    ]
  )
}

/// Makes discs albums, unless a vinyl has their title.
@Sendable private func joinDiscs(_ batch: MigrationBatch) throws {
  for disc in batch.objects {
    let name: String = try disc.value("name") ?? ""
    let isNamed = try PredicateTree(format: "title == %@", arguments: [name])
    if try batch.new.count(DynamicQuery("Album", where: isNamed)) > 0 { continue }
    let album = try batch.new.insert(entity: "Album")
    try album.set("title", to: name)
    if let label = try disc.object("label") { try album.setObject("label", to: batch.successor(of: label)) }
  }
}

/// Custom stages of stores without classes, in files.
struct CustomStageTests {
  private let folder: TemporaryFolder
  private let url: URL

  init() async throws {
    folder = try TemporaryFolder()
    url = URL(fileURLWithPath: folder.file("shop.cambium"))
    let container = try await PersistentContainer("Shop", plan: MigrationPlan([ShopV1.self]), at: url)
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    let labels = try ["Asylum", "Reprise"].map { try context.label($0) }
    let tag = try context.insert(entity: "Tag")
    try tag.set("word", to: "folk")
    let vinyls: [(String, Int, String?)] = [
      ("Blue", 33, "9.50"), ("Hejira", 45, nil), ("Mingus", 1_000, "dear"), ("Shine", -500, "12"),
    ]
    for (place, (title, speed, price)) in vinyls.enumerated() {
      let vinyl = try context.insert(entity: "Vinyl")
      try vinyl.set("title", to: title)
      try vinyl.set("speed", to: speed)
      if let price { try vinyl.set("price", to: price) }
      try vinyl.setObject("label", to: labels[place % 2])
      if place < 2 { try vinyl.add(tag, to: "tags") }
    }
    for (place, name) in ["Blue", "Turbulent Indigo", "Travelogue", "Both Sides Now"].enumerated() {
      let disc = try context.insert(entity: "Disc")
      try disc.set("name", to: name)
      if place > 1 { try disc.setObject("label", to: labels[1]) }
    }
    try context.save()
    context.end()
    try await container.close()
  }

  private func albums(_ container: PersistentContainer) throws -> [String] {
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    defer { context.end() }
    return try context.fetch(DynamicQuery("Album")).map { album in
      let label: String? = try album.object("label")?.value("name")
      let tags: [String] = try album.objects("tags").map { try $0.value("word") ?? "" }
      let values = try ["title", "speed", "price"].map { try album[$0].description }
      return (values + [label ?? "-", tags.joined()]).joined(separator: " ")
    }
  }

  @Test func twoEntitiesAreJoinedAndValuesConverted() async throws {
    let container = try await PersistentContainer("Shop", plan: plan(), at: url)
    #expect(
      try albums(container) == [
        "\"Blue\" 33 9.5 Asylum folk", "\"Hejira\" 45 nil Reprise folk", "\"Mingus\" 127 nil Asylum ",
        "\"Shine\" -128 12 Reprise ", "\"Turbulent Indigo\" nil nil - ", "\"Travelogue\" nil nil Reprise ",
        "\"Both Sides Now\" nil nil Reprise ",
      ]
    )
    let context = try ManagedObjectContext(coordinator: container.coordinator)
    let label = try #require(try context.fetch(DynamicQuery("Label")).last)
    #expect(try label.count(of: "albums") == 4)
    #expect(try context.fetch(DynamicQuery("Tag"))[0].count(of: "albums") == 2)
    context.end()
    #expect(try await container.verify().map(\.description) == [])
    try await container.close()
    #expect(try StoreMetadata(at: url).schemaVersion == ShopV2.version)
  }

  @Test func valuesThatCannotBeConvertedAreListedBeforeTheFirstByte() async throws {
    let before = try FolderState(folder.path)
    let error = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Shop", plan: plan(.refusing), at: url)
    }
    #expect(error?.code == .wrongValue)
    #expect(error?.refusal?.offenders.map { $0.values } == [[.int(1_000)], [.int(-500)]])
    #expect(
      error?.refusal?.offenders.allSatisfy { $0.rule == .conversion && $0.properties == ["speed"] } == true
    )
    #expect(try FolderState(folder.path) == before)
  }

  @Test func theDryRunForetellsWhatThePassesDo() async throws {
    let before = try FolderState(folder.path)
    let forecasts = try plan().forecasts(at: url, copyingTo: URL(fileURLWithPath: folder.file("copies")))
    let forecast = try #require(forecasts.first)
    #expect(forecasts.count == 1 && forecast.isPossible && forecast.version == ShopV2.version)
    #expect(
      forecast.effects.map(\.description) == ["Album: 3 inserted, 6 updated, 0 deleted"],
      "\(forecast)"
    )
    // All entities are rebuilt: their records get the newest layout.
    #expect(forecast.earlierRecords.isEmpty)
    try FileManager.default.removeItem(atPath: folder.file("copies"))
    #expect(try FolderState(folder.path) == before)
    let monitor = MigrationMonitor()
    try await PersistentContainer("Shop", plan: plan(), at: url, monitor: monitor).close()
    #expect(monitor.effects == forecast.effects)
  }

  @Test func theDryRunTellsWhatFails() throws {
    struct Stop: Error {}
    let failing = plan(joining: .once { _ in throw Stop() })
    let failed = try #require(try failing.forecasts(at: url).first)
    #expect(!failed.isPossible && failed.failure?.contains("the pass 3 failed: Stop()") == true)
    let doubling = plan(
      joining: .forEach("Disc") { batch in
        for disc in batch.objects {
          try batch.new.insert(entity: "Album").set("title", to: disc["name"])
        }
      }
    )
    let refused = try #require(try doubling.forecasts(at: url).first)
    #expect(refused.refusal.offenders.map(\.rule) == [.unique, .unique])
    let early = try #require(try plan(.refusing).forecasts(at: url).first)
    #expect(early.refusal.offenderCount == 2)
  }

  @Test func aPassThroughAnEntityThatThereIsNotIsRefused() async throws {
    let before = try FolderState(folder.path)
    let error = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Shop", plan: plan(joining: .forEach("Cassette") { _ in }), at: url)
    }
    #expect(error?.code == .unknownEntity)
    #expect(try FolderState(folder.path) == before)
  }

  @Test func aStoreWithACustomStageAheadCannotBeReadOnly() async throws {
    let error = await #expect(throws: ContextError.self) {
      _ = try await PersistentContainer("Shop", plan: plan(), at: url, options: .readOnly)
    }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("version 2.0.0") == true)
  }
}

extension ManagedObjectContext {
  fileprivate func label(_ name: String) throws -> ManagedRecord {
    let label = try insert(entity: "Label")
    try label.set("name", to: name)
    return label
  }
}

/// Conversions of values from one kind to another.
struct ConversionRuleTests {
  private static let tenth = Decimal(sign: .plus, exponent: -1, significand: 1)
  /// The digits of the Double that is equal to `Float(0.1)`.
  private static let tenthOfAFloat = Decimal(
    sign: .plus,
    exponent: -17,
    significand: 10_000_000_149_011_612
  )
  private static let third = Decimal(sign: .plus, exponent: -12, significand: 333_333_333_333)

  @Test(
    arguments: [
      (.int(127), .int8, .int(127)), (.int(128), .int8, nil), (.int(-1), .uint64, nil),
      (.uint(.max), .int64, nil), (.uint(.max), .uint64, .uint(.max)), (.double(3), .int16, .int(3)),
      (.double(3.5), .int16, nil), (.double(.nan), .int16, nil), (.int(1 << 53 + 1), .double, nil),
      (.int(1 << 53), .double, .double(0x1p53)), (.double(0.1), .float, nil),
      (.double(0x1p60), .int64, .int(1 << 60)), (.int(1 << 60), .double, .double(0x1p60)),
      (.double(0x1p63), .uint64, .uint(1 << 63)), (.int(1_152_921_504_606_847_000), .double, nil),
      (.double(0.5), .float, .double(0.5)),
      (.decimal(Decimal(12)), .int32, .int(12)), (.string("12"), .int32, .int(12)),
      (.string("12x"), .int32, nil),
      (.string("300"), .uint8, nil), (.string("1.5"), .decimal, .decimal(Decimal(1.5))),
      (.string("1.5 "), .decimal, nil), (.string("true"), .bool, .bool(true)),
      (.int(5), .string, .string("5")),
      (.bool(true), .string, .string("true")), (.bool(true), .int8, nil), (.date(.distantPast), .string, nil),
      (.string("1e400"), .decimal, nil),
      (.int(5), .externalString, .string("5")), (.bool(true), .externalString, .string("true")),
      (.decimal(Decimal(12)), .externalString, .string("12")),
      (.string("5"), .externalString, .string("5")), (.string("x"), .externalData, nil),
      (.date(.distantPast), .externalString, nil),
      (.decimal(tenth), .double, .double(0.1)), (.decimal(tenth), .float, .double(Double(Float(0.1)))),
      (.decimal(tenthOfAFloat), .float, .double(Double(Float(0.1)))), (.decimal(third), .float, nil),
    ] as [(AttributeValue, AttributeKind, AttributeValue?)]
  )
  func aValueIsConvertedIfTheKindHasIt(
    _ value: AttributeValue,
    _ kind: AttributeKind,
    _ expected: AttributeValue?
  ) {
    #expect(ConversionRule.orNil.convert(value, to: kind) == expected)
    #expect(ConversionRule.refusing.convert(value, to: kind) == expected)
  }

  @Test(
    arguments: [
      (.int(128), .int8, .int(127)), (.int(-129), .int8, .int(-128)), (.double(3.5), .int16, .int(4)),
      (.double(-3.5), .int16, .int(-4)), (.double(1e300), .int64, .int(.max)),
      (.double(-.infinity), .uint8, .int(0)), (.double(.nan), .uint8, nil),
      (.double(1e-300), .uint8, .int(0)),
      (.uint(.max), .int64, .int(.max)), (.double(1e300), .uint64, .uint(.max)),
      (.int(1 << 53 + 1), .double, .double(0x1p53)), (.string("1e9"), .int16, .int(.init(Int16.max))),
      (.string("many"), .int16, nil), (.double(0.1), .float, .double(Double(Float(0.1)))),
      (.bool(true), .int16, nil), (.int(3), .bool, nil),
      (.double(1e300), .float, .double(Double(Float.greatestFiniteMagnitude))),
      (.double(-1e-200), .float, .double(0)),
      (.double(-.infinity), .float, .double(-.infinity)),
      (.double(1e300), .decimal, .decimal(.greatestFiniteMagnitude)),
      (.double(-1e-300), .decimal, .decimal(0)),
      (.string("1e100"), .float, .double(Double(Float.greatestFiniteMagnitude))),
    ] as [(AttributeValue, AttributeKind, AttributeValue?)]
  )
  func aNumberIsClamped(_ value: AttributeValue, _ kind: AttributeKind, _ expected: AttributeValue?) {
    #expect(ConversionRule.clamping.convert(value, to: kind) == expected)
  }

  @Test(
    arguments: [
      (0.1, "0.1", "0.1"), (9.99, "9.99", "9.99"), (-2.5, "-2.5", "-2.5"), (3, "3.0", "3"),
      (123_456_792, "1.2345679e+08", "123456792"), (0x1p64, "1.8446744e+19", "18446744000000000000"),
    ] as [(Float, String, String)]
  )
  func aFloatIsConvertedByItsOwnDigits(_ number: Float, _ text: String, _ digits: String) throws {
    let value = number._attributeValue
    let decimal = AttributeValue.decimal(try #require(Decimal(string: digits)))
    for rule in [ConversionRule.refusing, .clamping, .orNil] {
      for kind in [AttributeKind.string, .externalString] {
        #expect(rule.convert(value, of: .float, to: kind) == .string(text))
        #expect(rule.convert(.string(text), of: kind, to: .float) == value)
      }
      #expect(rule.convert(value, of: .float, to: .decimal) == decimal)
      #expect(rule.convert(decimal, of: .decimal, to: .float) == value)
      #expect(rule.convert(value, of: .float, to: .double) == value)
    }
  }

  @Test func aFloatIsNoIntegerByItsDigits() {
    let value = Float(0x1p64)._attributeValue
    #expect(ConversionRule.orNil.convert(value, of: .float, to: .uint64) == nil)
    #expect(ConversionRule.clamping.convert(value, of: .float, to: .uint64) == .uint(.max))
    let digits = AttributeValue.uint(18_446_744_000_000_000_000)
    #expect(ConversionRule.orNil.convert(digits, of: .uint64, to: .float) == nil)
    #expect(ConversionRule.clamping.convert(.double(.infinity), of: .float, to: .string) == .string("inf"))
    #expect(ConversionRule.orNil.convert(.double(.nan), of: .float, to: .decimal) == nil)
  }
}
