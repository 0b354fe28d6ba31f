import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

@Embeddable struct VoucherHome: Hashable {
  var street: String = ""
  var country: String = "Japan"
  var floor: Int?
}

@Model final class Voucher {
  enum Tier: String, AttributeType { case basic, gold }

  @Attribute(.unique(ifExists: .merge)) var code: Int
  var key: UUID = UUID()
  var since: Date = .now
  var until: Date? = Date(timeIntervalSinceNow: 60)
  var tier: Tier = .basic
  var note: String = ""
  @Embedded var home: VoucherHome
  @Embedded var second: VoucherHome?

  init(_ code: Int, home: VoucherHome = VoucherHome()) {
    self.code = code
    self.home = home
  }
}

final class Coupon: StoredObject {
  @Stored var code: Int = 0
  @Stored var key: UUID = UUID()
  @Stored var note: String?
}

struct Flags: CodableAttribute, Equatable {
  static var standard: Flags { Flags(names: ["a", "b", "c", "d", "e"]) }
  var names: Set<String>
}

@Model final class Flagged {
  @Attribute(.unique(ifExists: .merge)) var code: Int
  var flags: Flags = Flags.standard

  init(_ code: Int) { self.code = code }
}

private enum OlderPasses {
  @Model final class Pass {
    var code: Int
    init(_ code: Int) { self.code = code }
  }
}

private enum NewerPasses {
  @Model final class Pass {
    var code: Int
    var key: UUID = UUID()
    init(_ code: Int) { self.code = code }
  }
}

/// Initial values in declarations: of new objects that no initialiser has made, of older ones, and in merges.
struct InitialValueTests {
  private let store: PersistentContainer
  private let context: ManagedObjectContext

  init() async throws {
    store = try await PersistentContainer(
      "Vouchers",
      models: Voucher.self,
      Coupon.self,
      Flagged.self,
      at: .inMemory
    )
    context = try store.context()
  }

  @Test func eachObjectOfABatchHasItsOwn() async throws {
    let before = Date.now
    try await store.batchInsert(Voucher.self, from: 0..<20, .set(\.code) { $0 })
    try await store.batchInsert(Coupon.self, from: 0..<20, .set(\.code) { $0 })
    try context.refresh()
    let vouchers = try context.fetch(From<Voucher>())
    #expect(Set(vouchers.map(\.key)).count == 20)
    #expect(vouchers.allSatisfy { $0.since >= before && $0.tier == .basic && $0.until ?? before > before })
    #expect(Set(try context.fetch(From<Coupon>()).map(\.key)).count == 20)
  }

  @Test func eachObjectWithoutAnInitialiserHasItsOwn() {
    let vouchers = (0..<3).map { _ in Voucher._$makeNew() }
    #expect(Set(vouchers.map(\.key)).count == 3)
    #expect(vouchers[0].since < vouchers[2].since && vouchers[0].tier == .basic)
    #expect(Set((0..<3).map { _ in Coupon._$makeNew().key }).count == 3)
  }

  @Test func olderObjectsHaveOne() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("passes.cambium"))
    let older = try await PersistentContainer("Passes", models: OlderPasses.Pass.self, at: url)
    try await older.batchInsert(OlderPasses.Pass.self, from: 0..<3, .set(\.code) { $0 })
    try await older.close()
    let newer = try await PersistentContainer("Passes", models: NewerPasses.Pass.self, at: url)
    try await newer.batchInsert(NewerPasses.Pass.self, from: 3..<6, .set(\.code) { $0 })
    let context = try newer.context()
    let keys = try context.fetch(From<NewerPasses.Pass>().orderBy(.ascending(\.code))).map(\.key)
    #expect(Set(keys[..<3]).count == 1 && Set(keys).count == 4)
  }

  /// Equal values of such a type have different texts in the store.
  @Test func aMergeComparesValuesAndNotTheirTexts() throws {
    for round in 0..<20 {
      context.insert(Flagged(round))
      try context.save()
      let new = Flagged(round)
      new.flags = Flags(names: ["z"])
      context.insert(new)
      try context.save()
    }
    #expect(try context.fetch(From<Flagged>()).allSatisfy { $0.flags.names == ["z"] })
  }

  /// An initial value that differs from object to object can't be distinguished from a value that the program has
  /// set. The existing object therefore keeps its own value.
  @Test func aMergeKeepsValuesThatDifferFromObjectToObject() throws {
    let old = Voucher(7)
    context.insert(old)
    try context.save()
    let (key, since) = (old.key, old.since)
    let new = Voucher(7)
    (new.tier, new.note) = (.gold, "new")
    context.insert(new)
    try context.save()
    #expect(old.key == key && old.since == since)
    #expect(old.tier == .gold && old.note == "new")
    context.insert(Voucher(7))
    try context.save()
    #expect(old.tier == .gold && old.note == "new")
  }

  @Test func aMergeTakesAnEmbeddedValueAsAWhole() throws {
    let old = Voucher(7, home: VoucherHome(street: "A", country: "France", floor: 3))
    old.second = VoucherHome(street: "B", country: "Peru", floor: 9)
    context.insert(old)
    try context.save()
    context.insert(Voucher(7))
    try context.save()
    #expect(old.home == VoucherHome(street: "A", country: "France", floor: 3))
    #expect(old.second == VoucherHome(street: "B", country: "Peru", floor: 9))
    let new = Voucher(7, home: VoucherHome(street: "C"))
    new.second = VoucherHome(street: "D")
    context.insert(new)
    try context.save()
    #expect(old.home == VoucherHome(street: "C", country: "Japan", floor: nil))
    #expect(old.second == VoucherHome(street: "D", country: "Japan", floor: nil))
    #expect(try store.verify().map(\.description) == [])
  }
}
