import Cambium
import Foundation
import TestSupport
import Testing

@testable import GraphContext

/// Entities that are described while the program runs, beside models.
struct DynamicModelTests {
  private func error(_ body: () throws -> Void) -> ContextError? {
    do { try body() } catch { return error as? ContextError }
    return nil
  }

  /// A save that unifies a new record with an existing one leaves two IDs for it.
  @Test func aUnifiedRecordIsFoundByEitherID() async throws {
    let archive = try await Archive.open()
    try await archive.performBackgroundTask { context in
      let sheet = Archive.Sheet()
      context.insert(sheet)
      let old = try context.insert(entity: "Note")
      try old.set(["text": .string("old"), "code": .string("c1")])
      try old.setObject("sheet", to: sheet)
      try context.save()
      let new = try context.insert(entity: "Note")
      try new.set(["text": .string("new"), "code": .string("c1")])
      try new.setObject("sheet", to: sheet)
      let id = new.objectID
      try context.save(ifExists: .merge)
      #expect(try context.count(DynamicQuery("Note")) == 1)
      for context in [context, context.makeChild()] {
        for found in [
          try context.object(ManagedRecord.self, with: id),
          try context.existingObject(ManagedRecord.self, with: id),
          context.registeredObject(ManagedRecord.self, with: id),
        ] {
          #expect(try found?["text"] == .string("new") && found?.objectID == old.objectID)
        }
      }
    }
  }

  @Test func classesAndRecordsLeadToEachOther() async throws {
    let archive = try await Archive.open()
    let id = try await archive.performBackgroundTask { context in
      let folder = Archive.Folder(name: "A")
      let sheet = Archive.Sheet()
      sheet.number = 3
      folder.sheets.append(sheet)
      context.insert(folder)
      let note = try context.insert(entity: "Note")
      #expect(try note["rank"] == .int(7))
      #expect(try note.value("token", as: UUID.self) != nil)
      try note.set(["text": .string("first"), "code": .string("c1")])
      try note.setObject("sheet", to: sheet)
      try note.setObject("folder", to: folder)
      #expect(sheet.notes.contains(note) && sheet.notes.count == 1)
      let other = try context.insert(entity: "Note")
      try other.set("text", to: "second")
      sheet.notes.append(other)
      #expect(try other.object("sheet", as: Archive.Sheet.self) === sheet)
      let topic = try context.insert(entity: "Topic")
      #expect(try topic["word"] == .string("none"))
      sheet.topics = [topic]
      sheet.topics.append(try context.insert(entity: "Topic"))
      #expect(try topic.objects("sheets", as: Archive.Sheet.self).first === sheet)
      try note.setObject("topic", to: topic)
      sheet.stamp = try context.insert(entity: "Stamp")
      for text in ["a", "b", "c"] {
        let line = try context.insert(entity: "Line")
        try line.set("text", to: text)
        sheet.lines.insert(line, at: 0)
      }
      try context.save()
      return note.objectID
    }
    try await archive.performBackgroundTask { context in
      let note = try context.existingObject(ManagedRecord.self, with: id)
      #expect(try note.value(forKeyPath: "sheet.folder.name") == .string("A"))
      #expect(try note.value(forKeyPath: "topic.word") == .string("none"))
      let texts = try note.dictionary(of: ["text", "code"])
      #expect(texts == ["text": .string("first"), "code": .string("c1")])
      #expect(try note.dictionary().keys.sorted() == ["code", "rank", "text", "token"])
      let sheet = try #require(try note.object("sheet", as: Archive.Sheet.self))
      #expect(try sheet.value(forKeyPath: "folder.name") == .string("A"))
      #expect(sheet.notes.count == 2 && sheet.topics.count == 2)
      #expect(sheet.stamp?.entity.name == "Stamp")
      #expect(try sheet.lines.map { try $0["text"] } == [.string("c"), .string("b"), .string("a")])
      let sheets = try context.fetch(From<Archive.Sheet>().where(format: "ANY notes.text == %@", "second"))
      #expect(sheets.first === sheet)
      let notes = try context.fetch(
        DynamicQuery("Note", where: PredicateTree(format: "sheet.folder.name == 'A'"))
      )
      #expect(notes.count == 2)
      #expect(try context.fetch(DynamicQuery("Sheet"), as: Archive.Sheet.self).first === sheet)
      #expect(try context.count(DynamicQuery("Sheet")) == 1)
      #expect(error { _ = try context.fetch(DynamicQuery("Sheet")) }?.code == .unknownEntity)
      let mistaken = error { _ = try context.fetch(DynamicQuery("Note"), as: Archive.Sheet.self) }
      #expect(mistaken?.code == .unknownEntity)
      #expect(error { _ = try note.value(forKeyPath: "sheet.colour") }?.code == .unknownProperty)
      #expect(error { _ = try note.value(forKeyPath: "text.name") }?.code == .unknownProperty)
      #expect(error { _ = try note.value(forKeyPath: "sheet.notes") }?.code == .unknownProperty)
      #expect(error { try note.set(["text": .string("x"), "rank": .double(1)]) }?.code == .wrongValue)
      #expect(try note["text"] == .string("first"))
      context.delete(sheet)
      try context.save()
      #expect(try context.count(DynamicQuery("Note")) == 0)
      #expect(try context.count(DynamicQuery("Line")) == 0)
      #expect(try context.count(DynamicQuery("Topic")) == 2)
    }
    #expect(try await archive.verify().isEmpty)
  }

  @Test func aRecordOfAnotherEntityIsRefused() async throws {
    let archive = try await Archive.open()
    try await archive.performBackgroundTask { context in
      let sheet = Archive.Sheet()
      context.insert(sheet)
      let topic = try context.insert(entity: "Topic")
      try context.save()
      let links: [(String, () -> Void)] = [
        ("stamp", { sheet.stamp = topic }), ("notes", { sheet.notes.append(topic) }),
        ("notes", { sheet.notes = [topic] }), ("lines", { sheet.lines.insert(topic, at: 0) }),
      ]
      for (name, link) in links {
        link()
        let failure = error { try context.save() }
        #expect(failure?.code == .wrongDestination)
        #expect(failure?.context.properties == [name])
        context.rollback()
        #expect(sheet.stamp == nil && sheet.notes.isEmpty && sheet.lines.isEmpty)
      }
      let fresh = Archive.Sheet()
      fresh.stamp = topic
      context.insert(fresh)
      #expect(error { try context.save() }?.code == .wrongDestination)
      context.rollback()
    }
  }

  @Test func aModelWithTheMacroLeadsToRecords() async throws {
    let archive = try await Archive.open()
    try await archive.performBackgroundTask { context in
      let folder = Archive.Folder(name: "A")
      context.insert(folder)
      let labels = try ["red", "blue"].map { word in
        let label = try context.insert(entity: "Label")
        try label.set("word", to: word)
        return label
      }
      folder.labels = labels
      folder.first = labels[1]
      try context.save()
      context.reset()
      let same = try #require(try context.fetch(From<Archive.Folder>()).first)
      #expect(try same.labels.map { try $0["word"] } == [.string("red"), .string("blue")])
      #expect(try same.value(forKeyPath: "first.word") == .string("blue"))
      let label = try #require(same.first)
      #expect(try label.objects("folders", as: Archive.Folder.self).first === same)
      #expect(try context.count(From<Archive.Folder>().where(format: "ANY labels.word == 'red'")) == 1)
    }
  }

  @Test func rulesAndUniquenessHoldForRecords() async throws {
    let archive = try await Archive.open()
    try await archive.performBackgroundTask { context in
      let sheet = Archive.Sheet()
      context.insert(sheet)
      for text in ["", "ok"] {
        let note = try context.insert(entity: "Note")
        try note.set("text", to: text)
        try note.set("code", to: "same")
        try note.setObject("sheet", to: sheet)
      }
      let failure = error { try context.save() }
      #expect(failure?.failures.map(\.code) == [.validationFailed, .notUnique])
      try context.fetch(DynamicQuery("Note")).forEach { try $0.set("text", to: "long enough") }
      #expect(error { try context.save() }?.code == .notUnique)
    }
  }

  @Test func aStoreOpensWithSomeOfItsClasses() async throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("archive.cambium"))
    let archive = try await Archive.open(at: .file(url))
    try await archive.performBackgroundTask { context in
      let sheet = Archive.Sheet()
      sheet.folder = Archive.Folder(name: "B")
      context.insert(sheet)
      try context.save()
    }
    // Other containers with these share the store, those with others don't.
    let second = try await Archive.open(at: .file(url))
    #expect(second.coordinator === archive.coordinator)
    try await second.close()
    await #expect(throws: ContextError.self) {
      try await PersistentContainer("Archive", models: Archive.Folder.self, entities: .stored, at: url)
    }
    try await archive.close()
    let records = try await PersistentContainer("Archive", entities: .stored, at: url)
    try await records.performBackgroundTask { context in
      let folder = try #require(try context.fetch(DynamicQuery("Folder")).first)
      #expect(try folder["name"] == .string("B"))
    }
    try await records.close()
  }

  @Test func mistakesInDescriptionsAreListed() async throws {
    let lost = EntityDescription(
      name: "Lost",
      properties: [.toOne("x", to: "Nowhere"), .toOne("y", to: "Sheet", isOrdered: true)]
    )
    do {
      _ = try await PersistentContainer(
        "Archive",
        models: Archive.models,
        entities: .described(Archive.entities + [lost, Archive.note]),
        at: .inMemory
      )
      Issue.record("was opened")
    } catch {
      #expect(error.code == .schemaMismatch)
      #expect(error.message.contains("Lost.x leads to Nowhere"))
      #expect(error.message.contains("Lost.y is ordered, but has no to-many inverse"))
      #expect(error.message.contains("two models are named Note"))
    }
  }
}
