import Cambium
import Foundation

struct Packing: CodableAttribute, Hashable {
  var material: String
  var layers: [Int]
}

/// A type that no attribute has.
struct ItemTint: Hashable, Sendable {
  var red: Int

  static let clear = ItemTint(red: 0)
  static func hex(_ tint: ItemTint) -> String { String(tint.red, radix: 16) }
  static func tint(_ hex: String) -> ItemTint? { Int(hex, radix: 16).map(ItemTint.init(red:)) }
}

@Embeddable struct ItemGrip: Hashable {
  var side: String = "left"
  var depth: Int?
}

@Embeddable struct ItemSize: Hashable {
  var width: Int
  var unit: String = "cm"
  @Embedded var grip: ItemGrip = ItemGrip()
  var isRough: Bool?
}

@Model final class Chest {
  @Attribute(.unique) var name: String
  @Relationship(.ordered, deleteRule: .cascade) var items: OrderedToMany<ChestItem> = []
  @Attribute(.derived("items.@count")) var itemCount: Int
  @Attribute(.derived("items.@sum.weight")) var load: Int

  init(_ name: String) { self.name = name }
}

/// A model with a property of every kind.
@Model(subclasses: ["Jar"])
class ChestItem {
  #Index<ChestItem>([\.tags, \.weight], [\.weight], [\.chest, \.weight])
  #Index<ChestItem>([\.size?.width], [\.size?.grip.depth], [\.tint])
  @Attribute(.unique(ifExists: .merge)) var code: Int
  var title: String = ""
  @Attribute(.derived("title[cd]")) var plainTitle: String
  var tags: [String] = []
  var weight: Int = 0
  var packing: Packing?
  @Attribute(
    .transformed(
      as: String.self,
      to: { ItemTint.hex($0) },
      from: { ItemTint.tint($0) },
      placeholder: ItemTint.clear
    )
  )
  var tint: ItemTint?
  @Embedded var size: ItemSize?
  @Attribute(.externalStorage) var photo: Data?
  @Attribute(.externalStorage) var notes: String = ""
  @Relationship(.ordered, inverse: \Chest.items) var chest: Chest?
  @Relationship var stickers: Set<Sticker> = []

  init(_ code: Int) { self.code = code }
}

/// An item of a class of its own.
@Model(superclass: "ChestItem")
final class Jar: ChestItem {
  #Index<Jar>([\.volume])
  var volume: Int?

  override init(_ code: Int) { super.init(code) }
}

@Model final class Sticker {
  var word: String
  @Relationship(inverse: \ChestItem.stickers) var items: Set<ChestItem> = []

  init(_ word: String) { self.word = word }
}

/// What a ``ChestItem`` has, without its chest.
struct PlainItem: Equatable {
  var code: Int
  var title = ""
  var tags: [String] = []
  var weight = 0
  var packing: Packing?
  var tint: ItemTint?
  var size: ItemSize?
  var photo: Data?
  var notes = ""
  var stickers: Set<String> = []
  var isJar = false
  var volume: Int?
}

/// What a store of chests shows.
struct PlainChests: Equatable {
  var items: [Int: PlainItem] = [:]
  /// The codes of each chest's items, in order.
  var chests: [String: [Int]] = [:]

  mutating func remove(_ code: Int) {
    items[code] = nil
    takeOut(code)
  }

  mutating func takeOut(_ code: Int) {
    for name in chests.keys { chests[name]?.removeAll { $0 == code } }
  }
}

extension PlainItem {
  init(_ item: ChestItem) {
    self.init(
      code: item.code,
      title: item.title,
      tags: item.tags,
      weight: item.weight,
      packing: item.packing,
      tint: item.tint,
      size: item.size,
      photo: item.photo,
      notes: item.notes,
      stickers: Set(item.stickers.map(\.word)),
      isJar: item is Jar,
      volume: (item as? Jar)?.volume
    )
  }
}
