import Cambium
import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import GraphContext

/// The engine of apps does what an engine of dictionaries does: the same edits of two contexts that race, on either, have the same outcome
/// and leave the same objects.
struct EngineAgreementTests {
  @Test(arguments: [
    (SourceUnderTest.pageStore, SourceUnderTest.dictionary), (.pageStoreBelowParent, .dictionaryBelowParent),
  ])
  func randomEditsEndInTheSameStores(_ first: SourceUnderTest, _ second: SourceUnderTest) throws {
    var generator = SeededGenerator()
    for _ in 0..<6 {
      var run = try RacingRun(first.library(), second.library())
      for _ in 0..<220 { try run.step(&generator) }
      try run.finish()
    }
  }
}

private struct RacingRun {
  private let libraries: [LibraryUnderTest]
  /// By library, two contexts each.
  private let editors: [[GraphEditor]]
  private var nextNumber = 0

  init(_ libraries: LibraryUnderTest...) throws {
    self.libraries = libraries
    editors = try libraries.map { library in
      let context = try library.context()
      context.insert(Publisher("Ace"))
      try library.save(context)
      return [GraphEditor(context: try library.context()), GraphEditor(context: try library.context())]
    }
  }

  mutating func step(_ generator: inout SeededGenerator) throws {
    let which = generator.number(in: 0...1)
    switch generator.number(in: 0...9) {
    case 0: try save(which)
    case 1: for editor in editors { try editor[which].context.refresh() }
    case 2: try compare(which)
    default:
      guard let edit = try editors[0][which].randomEdit(&generator, named: &nextNumber) else { return }
      for editor in editors { try editor[which].apply(edit) }
    }
  }

  private func save(_ which: Int) throws {
    let codes = zip(libraries, editors).map { library, editor in
      library.failure(ofSaving: editor[which].context)
    }
    try #require(codes[0] == codes[1])
    if codes[0] == nil { return }
    for (library, editor) in zip(libraries, editors) {
      library.rollback(editor[which].context)
      try editor[which].context.refresh()
    }
  }

  private func compare(_ which: Int) throws {
    let dumps = try editors.map { try $0[which].dump() }
    try #require(dumps[0] == dumps[1])
  }

  func finish() throws {
    for which in 0...1 { try save(which) }
    let dumps = try libraries.map { try GraphEditor(context: $0.context()).dump() }
    try #require(dumps[0] == dumps[1] && !dumps[0].isEmpty)
  }
}
