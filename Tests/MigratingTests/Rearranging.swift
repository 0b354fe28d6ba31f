import Foundation
import GraphTestSupport
@_spi(Testing) import PageStore
import Predicates
import Synchronization
@_spi(Testing) import TestSupport
import Testing

@_spi(Testing) @testable import GraphContext

/// Media as entities of their own, and as classes of one hierarchy, with lists that lead to them.
enum Rearranging {
  static let count: Int64 = 30

  /// Albums and books are entities, and lists lead to albums.
  static func apart(tracks: AttributeKind = .int32) throws -> Schema {
    try Schema(entities: [
      entity(
        "Album",
        [
          attribute("title", .string), attribute("tracks", tracks),
          attribute("note", .string, optional: true),
          link("lists", to: "List", .many, inverse: "items"),
        ],
        indexes: [IndexDescription(["title"])]
      ),
      entity("Book", [attribute("title", .string), attribute("pages", .int64)]),
      entity("List", [attribute("name", .string), link("items", to: "Album", .many, inverse: "lists")]),
    ])
  }

  /// Both are media, and lists lead to any.
  static func together(
    _ classes: [ClassDescription] = Rearranging.classes,
    properties: [PropertyDescription] = [
      attribute("tracks", .int64, optional: true), attribute("pages", .int64, optional: true),
    ]
  ) throws -> Schema {
    try Schema(entities: [
      EntityDescription(
        name: "Media",
        properties: [attribute("title", .string)] + properties + [
          link("lists", to: "List", .many, inverse: "items")
        ],
        indexes: [IndexDescription(["title"])],
        classes: classes
      ),
      entity("List", [attribute("name", .string), link("items", to: "Media", .many, inverse: "lists")]),
    ])
  }

  static let classes = [
    ClassDescription(name: "Media", isAbstract: true, properties: ["title", "lists"]),
    ClassDescription(name: "Album", parent: "Media", properties: ["tracks"], required: ["tracks"]),
    ClassDescription(name: "Book", parent: "Media", properties: ["pages"], required: ["pages"]),
  ]

  static func fillApart(_ store: Store) throws {
    let context = try openStaged(store, Rearranging.apart()).context()
    let lists = try (0..<3).map { try context.make("List", ["name": .string("list \($0)")]) }
    for number in 0..<Rearranging.count {
      let title = AttributeValue.string("album \(number)")
      let album = try context.make("Album", ["title": title, "tracks": .int(number)])
      try context.make("Book", ["title": .string("book \(number)"), "pages": .int(100 + number)])
      try album.addAll(to: "lists", [lists[Int(number) % 3]])
    }
    try context.save()
    context.end()
  }

  static func fillTogether(_ store: Store) throws {
    let context = try openStaged(store, Rearranging.together()).context()
    let list = try context.make("List", ["name": .string("all")])
    for number in 0..<Rearranging.count {
      let isAlbum = number % 2 == 0
      let medium = try context.make(
        isAlbum ? "Album" : "Book",
        ["title": .string("\(number)"), isAlbum ? "tracks" : "pages": .int(number)]
      )
      try medium.addAll(to: "lists", [list])
    }
    try context.save()
    context.end()
  }

  @Sendable static func make(_ batch: MigrationBatch) throws {
    for object in batch.objects { try batch.makeSuccessor(of: object) }
  }

  @Sendable static func relink(_ batch: MigrationBatch) throws {
    for list in batch.objects {
      let items = try list.objects("items").compactMap { try batch.successor(of: $0) }
      try batch.successor(of: list)?.addAll(to: "items", items)
    }
  }

  static func titles(_ kind: String) -> Set<String> {
    Set((0..<count).map { "\(kind) \($0)" })
  }

  static func takeWholeStage(_ store: Store) throws {
    try takeStage(
      store,
      to: Rearranging.together(),
      makingAnew: ["Media"],
      .init(chunkByteCount: 500),
      .forEach("Album", inBatchesOf: 7, Rearranging.make),
      .forEach("Book", inBatchesOf: 7, Rearranging.make),
      .forEach("List", inBatchesOf: 2, Rearranging.relink)
    )
  }
}

extension ManagedObjectContext {
  func texts(_ entity: String, _ attribute: String) throws -> [String] {
    try values(entity, attribute).compactMap { if case .string(let text) = $0 { text } else { nil } }
  }
}

extension ManagedRecord {
  func addAll(to relationship: String, _ members: [ManagedRecord]) throws {
    for member in members { try add(member, to: relationship) }
  }
}
