import Cambium
import Foundation
import Testing

private enum Drawer {
  @Model final class Sheet {
    var label: String
    var subtitle: String?
    var place: Int?
    var isLent: Bool?
    @Relationship var box: Box?
    init(_ label: String, _ subtitle: String?, _ place: Int?, _ box: Box?) {
      (self.label, self.subtitle, self.place, self.box) = (label, subtitle, place, box)
    }
  }

  @Model final class Box {
    var name: String?
    @Relationship(inverse: \Sheet.box) var records: [Sheet] = []
    init(_ name: String?) { self.name = name }
  }
}

/// Optionals in a `#Predicate`: each query finds what Foundation's `evaluate` accepts.
@MainActor struct OptionalPredicateTests {
  private typealias Sheet = Drawer.Sheet
  private typealias Box = Drawer.Box

  nonisolated private static let predicates: [Predicate<Sheet>] = {
    let missing: Bool? = nil
    var all: [Predicate<Sheet>] = []
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty ?? true })
    all.append(#Predicate<Sheet> { !($0.subtitle?.isEmpty ?? true) })
    all.append(#Predicate<Sheet> { !($0.subtitle?.isEmpty ?? false) })
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty == true })
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty == false })
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty != true })
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty == nil })
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty == missing })
    all.append(#Predicate<Sheet> { $0.subtitle?.count == 0 })
    all.append(#Predicate<Sheet> { ($0.subtitle?.count ?? 7) == 7 })
    all.append(#Predicate<Sheet> { $0.box?.records.count == 0 })
    all.append(#Predicate<Sheet> { ($0.box?.records.count ?? 5) == 5 })
    all.append(#Predicate<Sheet> { $0.box?.records.isEmpty == true })
    all.append(#Predicate<Sheet> { $0.box?.records.isEmpty ?? true })
    all.append(#Predicate<Sheet> { ($0.box?.records.filter { $0.place == 1 }.count ?? 9) == 9 })
    all.append(#Predicate<Sheet> { ($0.box?.records.filter { $0.place == 1 }.count ?? 9) == 0 })
    all.append(#Predicate<Sheet> { $0.box.flatMap { $0.name ?? "none" } == "none" })
    all.append(#Predicate<Sheet> { ($0.box.flatMap { $0.name ?? "none" } ?? "no box") == "no box" })
    all.append(#Predicate<Sheet> { $0.box.flatMap { $0.name ?? "none" } == nil })
    all.append(#Predicate<Sheet> { $0.box?.name?.isEmpty ?? true })
    all.append(#Predicate<Sheet> { $0.box?.name?.isEmpty == false })
    all.append(#Predicate<Sheet> { ($0.box?.name?.count ?? 1) == 1 })
    all.append(#Predicate<Sheet> { $0.subtitle?.starts(with: "x") == $0.box?.name?.starts(with: "x") })
    all.append(#Predicate<Sheet> { $0.subtitle?.starts(with: "x") != $0.box?.name?.starts(with: "x") })
    all.append(#Predicate<Sheet> { ($0.place ?? 1) > 0 })
    all.append(#Predicate<Sheet> { $0.box?.records.first?.place == 1 })
    all.append(#Predicate<Sheet> { $0.box?.records.first != nil })
    all.append(#Predicate<Sheet> { ($0.box?.records.first?.place ?? 4) == 4 })
    all.append(#Predicate<Sheet> { $0.box?.records.filter { $0.place == 1 }.first?.label == "b" })
    all.append(#Predicate<Sheet> { ($0.box?.records.first?.subtitle?.isEmpty ?? true) })
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty == $0.isLent })
    all.append(#Predicate<Sheet> { $0.subtitle?.isEmpty != $0.isLent })
    all.append(#Predicate<Sheet> { $0.place.flatMap { $0 + 1 } == nil })
    return all
  }()

  @Test(arguments: predicates.indices)
  func aQueryFindsWhatFoundationAccepts(place: Int) async throws {
    let predicate = Self.predicates[place]
    let container = try await PersistentContainer("optionals", models: Sheet.self, Box.self, at: .inMemory)
    let context = container.viewContext
    let boxes = [nil, Box(nil), Box(""), Box("xyz"), Box("n")]
    var records: [Sheet] = []
    for subtitle in [nil, "", "x", "seven t"] {
      for number in [nil, 0, 1] {
        for box in boxes {
          let sheet = Sheet(records.count % 2 == 0 ? "a" : "b", subtitle, number, box)
          sheet.isLent = [nil, true, false][records.count % 3]
          records.append(sheet)
        }
      }
    }
    records.forEach { context.insert($0) }
    let accepted = Set(try records.filter { try predicate.evaluate($0) }.map(\.objectID))
    let request = From<Sheet>().where(predicate)
    #expect(try Set(context.fetch(request).map(\.objectID)) == accepted)
    try context.save()
    #expect(try Set(context.fetch(request).map(\.objectID)) == accepted)
    let condition = Where(predicate)
    let evaluated = try records.filter { try condition.evaluate($0) }
    #expect(Set(evaluated.map(\.objectID)) == accepted)
  }
}
