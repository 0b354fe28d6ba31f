import Cambium
import Foundation
import GraphTestSupport
import PageStore
import TestSupport
import Testing

@testable import GraphContext

/// The same random program on models with the macro, on models with property wrappers and on records: the stores are the same, byte for byte.
struct ShelfOracleTests {
  @Test func theFormOfAModelMakesNoDifference() async throws {
    let folder = try TemporaryFolder()
    let paths = ["a", "b", "c"].map { folder.file("\($0).cambium") }
    var generator = SeededGenerator()
    var saveCount = 0
    for turn in 0..<6 {
      // In the next turn each store is opened in another form.
      var containers: [PersistentContainer] = []
      var sides: [any ShelfSide] = []
      for (place, path) in paths.enumerated() {
        let container = try await open(path, form: (place + turn) % 3)
        containers.append(container)
        sides.append(try side(container, form: (place + turn) % 3))
      }
      for _ in 0..<TestEffort.times(200) {
        let step = ShelfStep(&generator)
        let outcomes = try sides.map { try $0.run(step) }
        #expect(outcomes[1] == outcomes[0] && outcomes[2] == outcomes[0], "\(step)")
        if case .saved = outcomes[0] { saveCount += 1 }
      }
      for (side, container) in zip(sides, containers) {
        side.end()
        #expect(try await container.verify().map(\.description) == [])
        try await container.close()
      }
      let dumps = try paths.map(StoreDump.init)
      #expect(dumps[1] == dumps[0] && dumps[2] == dumps[0])
    }
    #expect(saveCount > 20)
  }

  private func open(_ path: String, form: Int) async throws -> PersistentContainer {
    var options = StoreOptions()
    options.durability = .relaxed
    return try await PersistentContainer(
      "Shelf",
      models: [MacroShelf.models, WrappedShelf.models, []][form],
      entities: .described(form == 2 ? RecordShelf.entities : []),
      at: .file(URL(fileURLWithPath: path)),
      options: options
    )
  }

  private func side(_ container: PersistentContainer, form: Int) throws -> any ShelfSide {
    let context = try container.context()
    return switch form {
    case 0:
      ClassSide(
        context: context,
        makers: ({ MacroShelf.Item() }, { MacroShelf.Box() }, { MacroShelf.Label() })
      )
    case 1:
      ClassSide(
        context: context,
        makers: ({ WrappedShelf.Item() }, { WrappedShelf.Box() }, { WrappedShelf.Label() })
      )
    default: RecordSide(context)
    }
  }
}

/// One step of the program. A step names an object by its position among those of its entity, modulo their number.
private enum ShelfStep {
  case insertItem, insertBox, insertLabel
  case setName(Int, String)
  case setSize(Int, Int)
  case setCode(Int, String?)
  case setTags(Int, [String])
  case setCover(Int, Data?)
  case setBox(Int, Int?)
  case move(Int, box: Int, position: Int)
  case addLabel(Int, Int)
  case removeLabel(Int, Int)
  case deleteItem(Int), deleteBox(Int), deleteLabel(Int)
  case save, rollBack, read(Int)

  init(_ generator: inout SeededGenerator) {
    func number() -> Int { generator.number(in: 0...999) }
    let isNil = generator.chance(1, in: 4)
    self =
      switch generator.number(in: 0...24) {
      case 0...3: .insertItem
      case 4: .insertBox
      case 5: .insertLabel
      case 6...7: .setName(number(), generator.pick(["", "Ä", "a name that is longer than a word"]))
      case 8...9: .setSize(number(), generator.number(in: generator.chance(1, in: 20) ? -2...0 : 0...50))
      case 10: .setCode(number(), isNil ? nil : "c\(generator.number(in: 0...60))")
      case 11: .setTags(number(), (0..<generator.number(in: 0...3)).map { "t\($0)" })
      case 12: .setCover(number(), isNil ? nil : Data(generator.bytes(generator.pick([3, 700]))))
      case 13...14: .setBox(number(), isNil ? nil : number())
      case 15...16: .move(number(), box: number(), position: number())
      case 17...18: .addLabel(number(), number())
      case 19: .removeLabel(number(), number())
      case 20: generator.chance(1, in: 3) ? .deleteBox(number()) : .deleteItem(number())
      case 21: .deleteLabel(number())
      case 22: .save
      case 23: generator.chance(1, in: 6) ? .rollBack : .save
      default: .read(number())
      }
  }
}

/// What a step has shown.
private enum ShelfOutcome: Equatable {
  case done
  case saved
  case failed([String])
  case values([String])
}

/// One form of the models.
private protocol ShelfSide {
  var context: ManagedObjectContext { get }
  func run(_ step: ShelfStep) throws -> ShelfOutcome
}

extension ShelfSide {
  func end() {
    context.rollback()
    context.end()
  }

  func save() -> ShelfOutcome {
    do throws(ContextError) {
      try context.save()
      return .saved
    } catch {
      context.rollback()
      let failures = error.failures.map { failure in
        let number = failure.context.objectID.map { "\($0.number)" } ?? ""
        return "\(failure.code) \(failure.context.entity ?? "") \(number) \(failure.context.properties)"
      }
      return .failed(failures)
    }
  }

  func pick<Object>(_ place: Int, _ objects: [Object]) -> Object? {
    objects.isEmpty ? nil : objects[place % objects.count]
  }
}

private struct ClassSide<Item: ShelfItem>: ShelfSide {
  let context: ManagedObjectContext
  /// Make an item, a box and a label.
  let makers: (() -> Item, () -> Item.Owner, () -> Item.Mark)

  private func item(_ place: Int) throws -> Item? { pick(place, try context.fetch(From<Item>())) }
  private func box(_ place: Int) throws -> Item.Owner? { pick(place, try context.fetch(From<Item.Owner>())) }
  private func label(_ place: Int) throws -> Item.Mark? {
    pick(place, try context.fetch(From<Item.Mark>()))
  }

  func run(_ step: ShelfStep) throws -> ShelfOutcome {
    switch step {
    case .insertItem: context.insert(makers.0())
    case .insertBox: context.insert(makers.1())
    case .insertLabel: context.insert(makers.2())
    case .setName(let place, let name): try item(place)?.name = name
    case .setSize(let place, let size): try item(place)?.size = size
    case .setCode(let place, let code): try item(place)?.code = code
    case .setTags(let place, let tags): try item(place)?.tags = tags
    case .setCover(let place, let cover): try item(place)?.cover = cover
    case .setBox(let place, let box): try item(place)?.box = try box.flatMap { try self.box($0) }
    case .move(let place, let owner, let position):
      guard let item = try item(place), let box = try box(owner) else { break }
      let others = box.items.count - (box.items.contains(item) ? 1 : 0)
      box.items.insert(item, at: position % (others + 1))
    case .addLabel(let place, let other):
      guard let item = try item(place), let label = try label(other), !item.labels.contains(label) else {
        break
      }
      item.labels.append(label)
    case .removeLabel(let place, let other):
      guard let item = try item(place), let label = try label(other) else { break }
      item.labels.removeAll { $0 === label }
    case .deleteItem(let place): if let item = try item(place) { context.delete(item) }
    case .deleteBox(let place): if let box = try box(place) { context.delete(box) }
    case .deleteLabel(let place): if let label = try label(place) { context.delete(label) }
    case .save: return save()
    case .rollBack: context.rollback()
    case .read(let place):
      guard let item = try item(place) else { break }
      return .values([
        item.name, "\(item.size)", "\(item.code as Any)", "\(item.tags)", "\(item.cover?.count as Any)",
        "\(item.box?.objectID.number as Any)", "\(item.labels.map(\.objectID.number))",
        "\(item.box?.items.firstIndex(of: item) as Any)",
      ])
    }
    return .done
  }
}

private struct RecordSide: ShelfSide {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  private func record(_ entity: String, _ place: Int) throws -> ManagedRecord? {
    pick(place, try context.fetch(DynamicQuery(entity)))
  }

  func run(_ step: ShelfStep) throws -> ShelfOutcome {
    switch step {
    case .insertItem: try context.insert(entity: "Item")
    case .insertBox: try context.insert(entity: "Box")
    case .insertLabel: try context.insert(entity: "Label")
    case .setName(let place, let name): try record("Item", place)?.set("name", to: name)
    case .setSize(let place, let size): try record("Item", place)?.set(["size": .int(Int64(size))])
    case .setCode(let place, let code): try record("Item", place)?.set("code", to: code)
    case .setTags(let place, let tags): try record("Item", place)?.set("tags", to: tags)
    case .setCover(let place, let cover): try record("Item", place)?.set("cover", to: cover)
    case .setBox(let place, let box):
      try record("Item", place)?.setObject("box", to: try box.flatMap { try record("Box", $0) })
    case .move(let place, let owner, let position):
      guard let item = try record("Item", place), let box = try record("Box", owner) else { break }
      let isMember = try item.object("box") === box
      let others = try box.count(of: "items") - (isMember ? 1 : 0)
      try box.insert(item, into: "items", at: position % (others + 1))
    case .addLabel(let place, let other):
      guard let item = try record("Item", place), let label = try record("Label", other) else { break }
      try item.add(label, to: "labels")
    case .removeLabel(let place, let other):
      guard let item = try record("Item", place), let label = try record("Label", other) else { break }
      try item.remove(label, from: "labels")
    case .deleteItem(let place): if let item = try record("Item", place) { context.delete(item) }
    case .deleteBox(let place): if let box = try record("Box", place) { context.delete(box) }
    case .deleteLabel(let place): if let label = try record("Label", place) { context.delete(label) }
    case .save: return save()
    case .rollBack: context.rollback()
    case .read(let place):
      guard let item = try record("Item", place) else { break }
      let box = try item.object("box")
      return .values([
        try item.value("name", as: String.self) ?? "", "\(try item.value("size", as: Int.self) ?? 0)",
        "\(try item.value("code", as: String.self) as Any)",
        "\(try item.value("tags", as: [String].self) ?? [])",
        "\(try item.value("cover", as: Data.self)?.count as Any)", "\(box?.objectID.number as Any)",
        "\(try item.objects("labels").map(\.objectID.number))",
        "\(try box?.objects("items").firstIndex { $0 === item } as Any)",
      ])
    }
    return .done
  }
}
