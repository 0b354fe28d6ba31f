import Cambium
import Foundation
import GraphTestSupport
import Testing

@testable import GraphContext

private enum Decided {
  enum Mood: String, AttributeType, CaseIterable { case calm, wild }

  @Model final class Post {
    var title: String
    var tags: [String] = []
    var mood: Mood = Mood.calm
    init(_ title: String) { self.title = title }
  }
}

/// A save refuses a value that a custom policy has chosen and that the attribute can't be read back from, although the
/// attribute's own values are stored in the same way.
struct MergeDecisionTypeTests {
  private let store: PersistentContainer
  private let mine: ManagedObjectContext
  private let theirs: ManagedObjectContext
  private let post: Decided.Post

  init() async throws {
    store = try await PersistentContainer("Posts", models: [Decided.Post.self], at: .inMemory)
    (mine, theirs) = (try store.context(), try store.context())
    post = Decided.Post("p")
    mine.insert(post)
    try mine.save()
    try theirs.refresh()
    let same = try theirs.existingObject(Decided.Post.self, with: post.objectID)
    (same.tags, same.mood) = (["theirs"], .wild)
    try theirs.save()
    post.tags = ["mine"]
    post.mood = .calm
  }

  /// Saves under a policy that has made a wrong decision, and expects what the store had.
  private func expectRefusal(_ name: String, _ policy: MergePolicy) throws {
    mine.mergePolicy = policy
    let error = #expect(throws: ContextError.self) { try mine.save() }
    #expect(error?.code == .wrongValue && error?.context.properties == [name])
    #expect(try store.verify().map(\.description) == [])
    let reader = try store.context()
    let stored = try reader.existingObject(Decided.Post.self, with: post.objectID)
    #expect(stored.tags == ["theirs"] && stored.mood == .wild)
    // A value that can't be read fails the context's next fetch.
    #expect(throws: Never.self) { try reader.count(From<Decided.Post>()) }
    for context in [mine, theirs, reader] { context.end() }
  }

  @Test func aTextIsNoList() throws {
    try expectRefusal(
      "tags",
      .custom { conflict in
        conflict.resolve("tags", with: "x")
        conflict.keepTheirs()
      }
    )
  }

  @Test func aListOfNumbersIsNoListOfTexts() throws {
    try expectRefusal(
      "tags",
      .custom { conflict in
        conflict.resolve("tags", with: [1, 2])
        conflict.keepTheirs()
      }
    )
  }

  @Test func aTextThatNamesNoCaseIsRefused() throws {
    post.mood = .wild
    try expectRefusal(
      "mood",
      .custom { conflict in
        conflict.resolve("mood", with: "nonsense")
        conflict.keepTheirs()
      }
    )
  }
}
