import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

@Model final class Essay {
  var title: String = ""
  var isPublished: Bool = false
  @Attribute(.externalStorage) var text: String?

  init() {}

  func validateForUpdate() throws {
    if context?.isReadOnly == true { EssayCheck.current?.whenPreviewed?() }
    if isPublished, text == nil { throw ValidationError("has no text", properties: ["text"]) }
  }
}

/// A closure that runs while an essay is validated in the preview of a save.
final class EssayCheck: @unchecked Sendable {
  // Tests use it on one thread.
  @TaskLocal static var current: EssayCheck?
  var whenPreviewed: (() -> Void)?
}

/// Values outside of records while others replace or remove them.
struct ExternalValueMeetingTests {
  private let store: PersistentContainer
  private let mine: ManagedObjectContext
  private let theirs: ManagedObjectContext
  private let essay = Essay()
  private let same: Essay

  init() async throws {
    store = try await PersistentContainer("Essays", models: [Essay.self], at: .inMemory)
    (mine, theirs) = (try store.context(), try store.context())
    essay.text = String(repeating: "word ", count: 5_000)
    mine.insert(essay)
    try mine.save()
    try theirs.refresh()
    same = try theirs.existingObject(Essay.self, with: essay.objectID)
  }

  /// The outcome of a validation is valid only for the text that the validation has read.
  @Test func anEssayIsValidatedAgainWhenItsTextIsRemovedMeanwhile() throws {
    same.title = "theirs"
    try theirs.save()
    essay.isPublished = true
    mine.mergePolicy = .mergeByPropertyObjectTrump
    let check = EssayCheck()
    check.whenPreviewed = { [check, same, theirs] in
      check.whenPreviewed = nil
      same.text = nil
      #expect(throws: Never.self) { try theirs.save() }
    }
    let error = #expect(throws: ContextError.self) {
      try EssayCheck.$current.withValue(check) { try mine.save() }
    }
    #expect(check.whenPreviewed == nil)
    #expect(error?.code == .validationFailed)
    try theirs.refresh()
    #expect(!same.isPublished)
  }

  /// The undo group refers to a text that is deleted together with its object.
  @Test func aGroupGoesOnWhenBothDeleteItsObject() throws {
    mine.undoManager = ContextUndoManager()
    mine.undoManager?.beginUndoGrouping()
    essay.title = "mine"
    theirs.delete(same)
    try theirs.save()
    try mine.refresh()
    mine.delete(essay)
    mine.undoManager?.endUndoGrouping()
    #expect(try mine.count(From<Essay>()) == 0)
    try mine.save()
    #expect(mine.undo())
    #expect(try mine.fetch(From<Essay>()).map(\.text?.count) == [25_000])
    try mine.save()
    #expect(try store.verify().map(\.description) == [])
  }
}
