import Cambium
import Foundation

// One schema in three forms: with the macro, with property wrappers, and without classes.

/// The operations of a random program on an item, independent of the form of its class.
protocol ShelfItem: ManagedObject {
  associatedtype Owner: ShelfBox where Owner.Member == Self
  associatedtype Mark: ShelfLabel
  var name: String { get set }
  var size: Int { get set }
  var code: String? { get set }
  var tags: [String] { get set }
  var cover: Data? { get set }
  var box: Owner? { get set }
  var labels: [Mark] { get set }
}

protocol ShelfBox: ManagedObject {
  associatedtype Member: ManagedObject
  var items: OrderedToMany<Member> { get set }
}

protocol ShelfLabel: ManagedObject {
}

enum MacroShelf {
  @Model final class Item {
    #Index<Item>([\.box, \.size])
    var name: String = "new"
    @Attribute(.min(0)) var size: Int = 1
    @Attribute(.unique) var code: String?
    var tags: [String] = []
    @Attribute(.externalStorage) var cover: Data?
    @Relationship(.ordered, inverse: \Box.items) var box: Box?
    @Relationship(inverse: \Label.items) var labels: [Label] = []

    init() {}
  }

  @Model final class Box {
    var number: Int = 0
    @Relationship(.ordered, deleteRule: .cascade) var items: OrderedToMany<Item> = []

    init() {}
  }

  @Model final class Label {
    var word: String = ""
    @Relationship(deleteRule: .deny) var items: [Item] = []

    init() {}
  }

  static let models: [any ManagedObject.Type] = [Item.self, Box.self, Label.self]
}

enum WrappedShelf {
  final class Item: StoredObject {
    @Stored var name: String = "new"
    @Stored(.min(0)) var size: Int = 1
    @Stored(.unique) var code: String?
    @Stored var tags: [String] = []
    @Stored(.externalStorage) var cover: Data?
    @ToOneLink(.ordered, inverse: \Box.items) var box: Box?
    @ToManyLink(inverse: \Label.items) var labels: [Label]

    override class var indexes: [StoredIndex] { [.index(\Item.box, \Item.size)] }
  }

  final class Box: StoredObject {
    @Stored var number: Int = 0
    @ToManyLink(.ordered, deleteRule: .cascade) var items: OrderedToMany<Item>
  }

  final class Label: StoredObject {
    @Stored var word: String = ""
    @ToManyLink(deleteRule: .deny) var items: [Item]
  }

  static let models: [any ManagedObject.Type] = [Item.self, Box.self, Label.self]
}

extension MacroShelf.Item: ShelfItem {
  typealias Owner = MacroShelf.Box
  typealias Mark = MacroShelf.Label
}
extension MacroShelf.Box: ShelfBox {
  typealias Member = MacroShelf.Item
}
extension MacroShelf.Label: ShelfLabel {}

extension WrappedShelf.Item: ShelfItem {
  typealias Owner = WrappedShelf.Box
  typealias Mark = WrappedShelf.Label
}
extension WrappedShelf.Box: ShelfBox {
  typealias Member = WrappedShelf.Item
}
extension WrappedShelf.Label: ShelfLabel {}

enum RecordShelf {
  static var entities: [EntityDescription] {
    let item = EntityDescription(
      name: "Item",
      properties: [
        .attribute("name", String.self, default: "new"),
        .attribute("size", Int.self, default: 1, rules: [.min(0)]),
        .attribute("code", String?.self),
        .attribute("tags", [String].self, default: []),
        .externalAttribute("cover", Data?.self),
        .toOne("box", to: "Box", inverse: "items", isOrdered: true),
        .toMany("labels", to: "Label", inverse: "items"),
      ],
      indexes: [IndexDescription(["code"], isUnique: true), IndexDescription(["box", "size"])]
    )
    let box = EntityDescription(
      name: "Box",
      properties: [
        .attribute("number", Int.self, default: 0),
        .toMany("items", to: "Item", deleteRule: .cascade, isOrdered: true),
      ]
    )
    let label = EntityDescription(
      name: "Label",
      properties: [
        .attribute("word", String.self, default: ""), .toMany("items", to: "Item", deleteRule: .deny),
      ]
    )
    return [item, box, label]
  }
}
