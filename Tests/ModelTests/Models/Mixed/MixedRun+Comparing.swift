import Cambium
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

extension MixedRun {
  func compare() throws {
    let items = try context.fetch(From<ChestItem>())
    #expect(items.count == shown.items.count)
    for item in items { #expect(PlainItem(item) == shown.items[item.code]) }
    for (name, codes) in shown.chests {
      #expect(try chest(name).items.map(\.code) == codes)
      let inOrder = From<ChestItem>().where { $0.chest.name == name }.orderBy(.position(in: \.chest))
      #expect(try context.fetch(inOrder).map(\.code) == codes)
    }
    let plain = shown.items.values
    #expect(try context.count(From<Jar>()) == plain.filter(\.isJar).count)
    let large = From<Jar>().where { $0.volume > 1 }
    #expect(try context.count(large) == plain.filter { ($0.volume ?? 0) > 1 }.count)
    for tag in Self.tagNames {
      let tagged = From<ChestItem>().where { $0.tags.contains(tag) }
      let expected = plain.filter { $0.tags.contains(tag) }
      #expect(try context.count(tagged) == expected.count)
      let weights = try context.fetch(tagged.orderBy(.ascending(\.weight)).select(\.weight))
      #expect(weights == expected.map(\.weight).sorted())
    }
    let name = generator.pick(Self.chestNames)
    let light = From<ChestItem>().where { $0.chest.name == name && $0.weight < 5 }
    let codes = Set(shown.chests[name] ?? [])
    #expect(try context.count(light) == plain.filter { codes.contains($0.code) && $0.weight < 5 }.count)
    let bare = From<ChestItem>().where { $0.photo == nil }
    #expect(try context.count(bare) == plain.filter { $0.photo == nil }.count)
    let wide = From<ChestItem>().where { $0.size.width > 2 && $0.size.isRough != true }
    #expect(
      try context.count(wide) == plain.filter { ($0.size?.width ?? 0) > 2 && $0.size?.isRough != true }.count
    )
    let sized = From<ChestItem>().where { $0.size != nil }.orderBy(.descending(\.size?.width))
    #expect(
      try context.fetch(sized.select(\.size?.width)) == plain.compactMap { $0.size?.width }.sorted(by: >)
    )
    let tinted = From<ChestItem>().where(format: "tint >= '5'").orderBy(.stored(\.tint))
    #expect(
      try context.fetch(tinted).map { $0.tint.map(ItemTint.hex) }
        == plain.compactMap(\.tint).map(ItemTint.hex).filter { $0 >= "5" }.sorted()
    )
    let deep = From<ChestItem>().where { $0.size.grip.depth >= 2 }.orderBy(\.size?.grip.depth)
    #expect(
      try context.fetch(deep.select(\.size?.grip.depth))
        == plain.compactMap { $0.size?.grip.depth }.filter { $0 >= 2 }.sorted()
    )
    let red = From<ChestItem>().where { $0.stickers.any { $0.word == "red" } && $0.tags.count > 1 }
    #expect(
      try context.count(red) == plain.filter { $0.stickers.contains("red") && $0.tags.count > 1 }.count
    )
  }

  /// Derived values are those of the last save.
  func compareDerived() throws {
    for item in try context.fetch(From<ChestItem>()) {
      #expect(item.plainTitle == shown.items[item.code]?.title.lowercased())
    }
    for (name, codes) in shown.chests {
      let chest = try chest(name)
      #expect(chest.itemCount == codes.count)
      #expect(chest.load == codes.compactMap { shown.items[$0]?.weight }.reduce(0, +))
    }
  }
}
