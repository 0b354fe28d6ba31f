import Cambium
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import GraphContext

/// Values that insertions make for the objects of some classes of a hierarchy.
@Suite(.serialized)
struct HierarchyInsertionTests {
  /// Counts the calls of a closure, for each of its names.
  enum Calls {
    private static let counts = Mutex([String: Int]())
    static func next(_ name: String) -> Int {
      counts.withLock { counts in
        counts[name, default: 0] += 1
        return counts[name] ?? 0
      }
    }
    /// How often each closure is called meanwhile.
    static func counted(_ body: () async throws -> Void) async rethrows -> [String: Int] {
      counts.withLock { $0 = [:] }
      try await body()
      return counts.withLock { $0 }
    }
  }

  @Model(isAbstract: true, subclasses: ["Letter", "Parcel"])
  class Piece {
    var title: String
    @Attribute(.perInsert { Calls.next("piece") }) var number: Int
    init(_ title: String) { self.title = title }
  }

  @Model(superclass: "Piece", subclasses: ["Registered"])
  class Letter: Piece {
    @Attribute(.perInsert { "seal \(Calls.next("letter"))" }) var seal: String
    @Attribute(.derived("title[c]")) var call: String
    override init(_ title: String) { super.init(title) }
  }

  @Model(superclass: "Letter")
  final class Registered: Letter {
    @Attribute(.perInsert { UUID() }, .unique) var receipt: UUID
    @Attribute(.perInsert({ "new" })) var state: String?
    override init(_ title: String) { super.init(title) }
    init(_ title: String, receipt: UUID) {
      super.init(title)
      self.receipt = receipt
    }
  }

  @Model(superclass: "Piece")
  final class Parcel: Piece {
    var weight: Int = 1
    override init(_ title: String) { super.init(title) }
  }

  private let container: PersistentContainer

  init() async throws {
    container = try await PersistentContainer("Post", models: Piece.self, at: .inMemory)
  }

  private func run(_ body: @Sendable (ManagedObjectContext) throws -> Void) throws {
    try container.inContext(body)
    let problems = try container.verify().map(\.description)
    #expect(problems == [])
  }

  @Test func objectsOfAClassGetWhatItsClassesDeclare() async throws {
    let given = UUID()
    let calls = try await Calls.counted {
      try run { (context: ManagedObjectContext) throws -> Void in
        let (letter, parcel) = (Letter("L"), Parcel("P"))
        let (first, second) = (Registered("R"), Registered("S", receipt: given))
        #expect(letter.call == "" && first.call == "")
        // A value that is read before the insertion stays.
        let seal = first.seal
        second.state = nil
        for piece in [letter, parcel, first, second] as [Piece] { context.insert(piece) }
        #expect(first.seal == seal && second.receipt == given && second.state == nil && first.state == "new")
        context.rollback()
        #expect(first.seal == seal && second.receipt == given && parcel.weight == 1)
        for piece in [letter, parcel, first, second] as [Piece] { context.insert(piece) }
        try context.save()
        #expect(Set([letter, first, second].map(\.seal)).count == 3 && first.receipt != given)
        #expect(letter.call == "l")
      }
      try run { (context: ManagedObjectContext) throws -> Void in
        let pieces = try context.fetch(From<Piece>())
        #expect(Set(pieces.map(\.number)) == [1, 2, 3, 4])
        let sealed = From<Letter>().where { $0.seal != "" }
        #expect(try context.count(sealed) == 3)
        let kept = From<Registered>().where { $0.receipt == given }
        #expect(try context.fetch(kept).map(\.title) == ["S"])
      }
    }
    #expect(calls == ["piece": 4, "letter": 3])
  }

  @Test func batchesGetThemToo() async throws {
    let calls = try await Calls.counted {
      try await container.batchInsert(Parcel.self, from: ["A", "B"], .set(\.title) { $0 })
      try await container.batchInsert(Letter.self, from: ["C"], .set(\.title) { $0 })
      try await container.batchInsert(Registered.self, from: ["D", "E"], .set(\.title) { $0 })
      try await container.batchInsert(
        Registered.self,
        from: ["F"],
        .set(\.title) { $0 },
        .set(\.seal) { _ in "given" }
      )
      try run { (context: ManagedObjectContext) throws -> Void in
        let registered = try context.fetch(From<Registered>().orderBy(\.title))
        #expect(
          Set(registered.map(\.receipt)).count == 3 && registered.map(\.state) == ["new", "new", "new"]
        )
        #expect(registered[2].seal == "given")
      }
    }
    #expect(calls == ["piece": 6, "letter": 3])
  }

  /// Values that insertions have made stay when the insertion is undone and redone. A child hands them to its parent.
  @Test func undoingAndChildrenKeepThem() async throws {
    let calls = try await Calls.counted {
      try run { (context: ManagedObjectContext) throws -> Void in
        context.undoManager = ContextUndoManager()
        let letter = Letter("L")
        context.insert(letter)
        let seal = letter.seal
        context.undo()
        context.redo()
        let again = try #require(try context.fetchOne(From<Letter>()))
        #expect(again.seal == seal)
        let child = context.makeChild()
        child.insert(Parcel("P"))
        child.insert(Registered("R"))
        try child.save()
        try context.save()
      }
      try run { (context: ManagedObjectContext) throws -> Void in
        #expect(try context.fetch(From<Letter>().orderBy(\.title)).map(\.seal) == ["seal 1", "seal 2"])
      }
    }
    #expect(calls == ["piece": 3, "letter": 2])
  }

  @Test func recordsGetThoseOfTheRoot() async throws {
    let calls = try await Calls.counted {
      let described = try Schema([Animals.Root.self]).entities
      let records = try await PersistentContainer("Post", entities: .described(described), at: .inMemory)
      try records.inContext { (context: ManagedObjectContext) throws -> Void in
        let record = try context.insert(entity: "Root")
        try record.set("title", to: "X")
        try context.save()
        #expect(try record["number"] == .int(1) && record["seal"] == .null)
      }
      #expect(try await records.verify().map(\.description) == [])
    }
    #expect(calls == ["root": 1])
  }

  enum Animals {
    @Model(subclasses: ["Below"])
    class Root {
      var title: String
      @Attribute(.perInsert { Calls.next("root") }) var number: Int
      init(_ title: String) { self.title = title }
    }
    @Model(superclass: "Root")
    final class Below: Root {
      var weight: Int = 4
      @Attribute(.perInsert { "\(Calls.next("below"))" }) var seal: String
      override init(_ title: String) { super.init(title) }
    }
  }
}
