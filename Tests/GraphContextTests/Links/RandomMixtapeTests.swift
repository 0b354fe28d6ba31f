import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// Random changes of to-many relationships without an inverse, by two contexts and a child, beside sets.
struct RandomMixtapeTests {
  /// The number of steps.
  private static let stepCount = TestEffort.times(700, long: 1_500)

  @Test(arguments: [true, false]) func listsAreWhatSetsAre(_ isInMemory: Bool) async throws {
    let folder = try TemporaryFolder()
    let location =
      isInMemory ? StoreLocation.inMemory : .file(URL(fileURLWithPath: folder.file("tapes.cambium")))
    let container = try await PersistentContainer.mixtapes(at: location)
    let run = try MixtapeRun(container, SeededGenerator(), MixtapeOracle())
    for _ in 0..<Self.stepCount { try run.step() }
    try run.finish()
    #expect(try await container.verify().map(\.description) == [])
  }
}

/// What the objects lead to, by their names.
private struct MixtapeOracle: Equatable {
  var ditties: Set<String> = []
  var scribbles: Set<String> = []
  /// Ditties, scribbles and similar tapes of each tape.
  var tapes: [String: (ditties: Set<String>, scribbles: Set<String>, similar: Set<String>)] = [:]

  static func == (left: MixtapeOracle, right: MixtapeOracle) -> Bool {
    left.ditties == right.ditties && left.scribbles == right.scribbles
      && left.tapes.mapValues { [$0.ditties, $0.scribbles, $0.similar] }
        == right.tapes.mapValues { [$0.ditties, $0.scribbles, $0.similar] }
  }

  mutating func deleteDitty(_ title: String) {
    ditties.remove(title)
    for name in tapes.keys { tapes[name]?.ditties.remove(title) }
  }

  mutating func deleteTape(_ name: String) {
    let gone = tapes.removeValue(forKey: name)?.scribbles ?? []
    scribbles.subtract(gone)
    for other in tapes.keys {
      tapes[other]?.scribbles.subtract(gone)
      tapes[other]?.similar.remove(name)
    }
  }
}

private final class MixtapeRun: ContextTurns<MixtapeOracle> {
  private var nextName = 0

  private func tape(_ name: String) throws -> Mixtape {
    try #require(try context.fetch(From<Mixtape>().where { $0.name == name }).first)
  }

  private func ditty(_ title: String) throws -> Ditty {
    try #require(try context.fetch(From<Ditty>().where { $0.title == title }).first)
  }

  private func scribble(_ text: String) throws -> Scribble {
    try #require(try context.fetch(From<Scribble>().where { $0.text == text }).first)
  }

  private func newName() -> String {
    nextName += 1
    return "\(nextName)"
  }

  func step() throws {
    let tapes = shown.tapes.keys.sorted()
    let ditties = shown.ditties.sorted()
    switch generator.number(in: 0...15) {
    case 0:
      let name = newName()
      context.insert(Mixtape(name))
      shown.tapes[name] = ([], [], [])
    case 1, 2:
      let title = newName()
      let ditty = Ditty(title)
      shown.ditties.insert(title)
      if let name = tapes.randomElement(using: &generator), generator.chance(1, in: 2) {
        try tape(name).tunes.append(ditty)
        shown.tapes[name]?.ditties.insert(title)
      } else {
        context.insert(ditty)
      }
    case 3:
      guard let name = tapes.randomElement(using: &generator) else { return }
      let text = newName()
      try tape(name).scribbles.insert(Scribble(text))
      shown.scribbles.insert(text)
      shown.tapes[name]?.scribbles.insert(text)
    case 4...6:
      guard let name = tapes.randomElement(using: &generator),
        let title = ditties.randomElement(using: &generator)
      else { return }
      try tape(name).tunes.append(ditty(title))
      shown.tapes[name]?.ditties.insert(title)
    case 7:
      guard let name = tapes.randomElement(using: &generator) else { return }
      let kept = Set(ditties.filter { _ in generator.chance(1, in: 3) })
      try tape(name).tunes = try kept.map { try ditty($0) }
      shown.tapes[name]?.ditties = kept
    case 8:
      guard let name = tapes.randomElement(using: &generator),
        let text = shown.scribbles.sorted().randomElement(using: &generator)
      else { return }
      try tape(name).scribbles.insert(scribble(text))
      shown.tapes[name]?.scribbles.insert(text)
    case 9:
      guard let name = tapes.randomElement(using: &generator),
        let other = tapes.randomElement(using: &generator)
      else { return }
      try tape(name).similar.append(tape(other))
      shown.tapes[name]?.similar.insert(other)
    case 10:
      guard let title = ditties.randomElement(using: &generator) else { return }
      context.delete(try ditty(title))
      shown.deleteDitty(title)
    case 11:
      guard tapes.count > 3, let name = tapes.randomElement(using: &generator) else { return }
      context.delete(try tape(name))
      shown.deleteTape(name)
    case 12:
      if child == nil { makeChild() }
    default: try turn()
    }
  }

  /// Ends the work of a child, or of a context.
  private func turn() throws {
    try check()
    let isSaving = generator.chance(3, in: 4)
    if let child {
      if !isSaving { child.context.rollback() }
      try endChild(saving: isSaving)
      return try check()
    }
    if isSaving { try saveContext() } else { rollBackContext() }
    try check()
    try handOver()
    try check()
  }

  override func finish() throws {
    if child != nil { try turn() }
    try turn()
  }

  private func check() throws {
    var found = MixtapeOracle()
    found.ditties = Set(try context.fetch(From<Ditty>()).map(\.title))
    found.scribbles = Set(try context.fetch(From<Scribble>()).map(\.text))
    for tape in try context.fetch(From<Mixtape>()) {
      found.tapes[tape.name] = (
        Set(tape.tunes.map(\.title)), Set(tape.scribbles.map(\.text)), Set(tape.similar.map(\.name))
      )
      if child == nil, shown == saved { #expect(tape.tuneCount == tape.tunes.count) }
    }
    try #require(found == shown)
    guard let title = shown.ditties.sorted().randomElement(using: &generator) else { return }
    let with = try context.fetch(From<Mixtape>().where { $0.tunes.any { $0.title == title } })
    try #require(Set(with.map(\.name)) == Set(shown.tapes.filter { $0.value.ditties.contains(title) }.keys))
    let counted = try context.fetch(From<Mixtape>().where { $0.tunes.count >= 2 })
    try #require(Set(counted.map(\.name)) == Set(shown.tapes.filter { $0.value.ditties.count >= 2 }.keys))
  }
}
