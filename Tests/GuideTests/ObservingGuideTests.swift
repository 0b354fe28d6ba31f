import Cambium
import Foundation
import Observation
import Testing

// Quoted in Docs/Observing.md
@Model final class Talk {
  #Index<Talk>([\.day, \.start])
  var title: String
  var day: Int
  /// Minutes since midnight.
  var start: Int
  var speaker: String?

  init(_ title: String, day: Int, start: Int) {
    self.title = title
    self.day = day
    self.start = start
  }
}
// End of quotation

// Quoted in Docs/Observing.md
/// A programme on a screen: a line for each talk, in sections by day.
@MainActor final class ProgrammeScreen {
  let talks: FetchedResults<Talk>
  private(set) var lines: [String] = []
  private var subscription: ContextSubscription?

  init(_ conference: PersistentContainer) throws {
    let byTime = From<Talk>().orderBy(\.day, \.start)
    talks = try FetchedResults(byTime, sectionedBy: SectionedBy(\.day), in: conference.viewContext)
    subscription = talks.onChange(notifyInitial: true) { [unowned self] changes in show(changes) }
  }

  private func show(_ changes: ListChanges) {
    if changes.isReload { return lines = talks.map(Self.line) }
    // Old positions from the last to the first, then new ones from the first to the last.
    guard let difference = changes.collectionDifference else { return }
    for step in difference {
      switch step {
      case .remove(let position, _, _): lines.remove(at: position)
      case .insert(let position, _, _): lines.insert(Self.line(talks[position]), at: position)
      }
    }
  }

  private static func line(_ talk: Talk) -> String { "\(talk.start / 60):\(talk.start % 60) \(talk.title)" }
}
// End of quotation

// Quoted in Docs/Observing.md
/// Is told of every step, as the delegates of table views are.
final class StepLog: ListObserver {
  var steps: [String] = []

  func listWillChange(_ list: FetchedResults<Talk>) { steps.append("will") }

  func list(_ list: FetchedResults<Talk>, didChange event: ListChanges.Event) {
    switch event {
    case .insertSection(let section): steps.append("section \(section.name) at \(section.section)")
    case .insert(let change): steps.append("insert at \(change.newPath!)")
    case .move(let change): steps.append("move from \(change.oldPath!) to \(change.newPath!)")
    case .update(let change): steps.append("update \(change.changedProperties) at \(change.newPath!)")
    case .delete(let change): steps.append("delete at \(change.oldPath!)")
    case .deleteSection(let section): steps.append("no section \(section.name)")
    }
  }

  func listDidChange(_ list: FetchedResults<Talk>, _ changes: ListChanges) { steps.append("did") }
}
// End of quotation

// Quoted in Docs/Observing.md
/// Sends the first talks of a day to a browser, and then what changes, as server-sent events with JSON patches.
func serve(
  _ day: Int,
  of conference: PersistentContainer,
  send: @Sendable (String) async throws -> Void
) async throws {
  let first = From<Talk>().where { $0.day == day }.orderBy(\.start).limit(50)
  for try await update in conference.follow(first) {
    try await send("data: \(String(decoding: try update.jsonPatch(), as: UTF8.self))\n\n")
  }
}
// End of quotation

// Quoted in Docs/Observing.md
/// Shows a talk, and shows it again whenever something changes that it shows.
@MainActor func show(
  _ id: ManagedObjectID,
  of conference: PersistentContainer,
  print: @escaping @MainActor (String) -> Void
) {
  withObservationTracking {
    guard let talk = try? conference.viewContext.existingObject(Talk.self, with: id) else { return }
    print("\(talk.title): \(talk.speaker ?? "?")")
  } onChange: {
    // Called before the value changes, once. Objects can't be sent, IDs can.
    Task { @MainActor in show(id, of: conference, print: print) }
  }
}
// End of quotation

// Quoted in Docs/Observing.md
/// Is told on its own executor how many talks have no speaker.
actor Notice {
  private(set) var texts: [String] = []

  func show(_ count: Int) { texts.append("\(count) without a speaker") }

  /// Returns when the observer or its context is released, or the task is cancelled.
  func follow(_ counts: AsyncStream<Int>) async {
    for await count in counts { show(count) }
  }
}
// End of quotation

/// What Docs/Observing.md says that code does.
@MainActor struct ObservingGuideTests {
  private func conference() async throws -> PersistentContainer {
    try await PersistentContainer("Conference", models: Talk.self, at: .inMemory)
  }

  @Test func aScreenFollowsTheViewContext() async throws {
    let conference = try await conference()
    let screen = try ProgrammeScreen(conference)
    let log = StepLog()
    screen.talks.addObserver(log)
    let context = conference.viewContext
    let first = Talk("Opening", day: 1, start: 540)
    context.insert(first)
    context.insert(Talk("Trees", day: 2, start: 600))
    context.processPendingChanges()
    #expect(screen.lines == ["9:0 Opening", "10:0 Trees"])
    #expect(
      log.steps == [
        "will", "section 1 at 0", "section 2 at 1", "insert at [section: 0, item: 0]",
        "insert at [section: 1, item: 0]", "did",
      ]
    )
    log.steps = []
    first.speaker = "Ada"
    context.processPendingChanges()
    first.day = 2
    context.processPendingChanges()
    #expect(
      log.steps == [
        "will", "update [\"speaker\"] at [section: 0, item: 0]", "did", "will",
        "move from [section: 0, item: 0] to [section: 0, item: 0]", "no section 1", "did",
      ]
    )
    #expect(screen.talks.isRanked)
  }

  @Test(.timeLimit(.minutes(60))) func aBrowserFollowsTheStore() async throws {
    let conference = try await conference()
    let (sent, continuation) = AsyncStream<String>.makeStream()
    let server = Task { try await serve(1, of: conference) { continuation.yield($0) } }
    var iterator = sent.makeAsyncIterator()
    #expect(await iterator.next()?.contains("\"replace\"") == true)
    _ = try await conference.write { $0.insert(Talk("Opening", day: 1, start: 540)) }
    #expect(await iterator.next()?.contains("\"Opening\"") == true)
    server.cancel()
  }

  @Test(.timeLimit(.minutes(60))) func aViewIsShownAgain() async throws {
    let conference = try await conference()
    let talk = Talk("Opening", day: 1, start: 540)
    conference.viewContext.insert(talk)
    let (shown, continuation) = AsyncStream<String>.makeStream()
    show(talk.objectID, of: conference) { continuation.yield($0) }
    var iterator = shown.makeAsyncIterator()
    #expect(await iterator.next() == "Opening: ?")
    talk.start = 600
    talk.speaker = "Ada"
    #expect(await iterator.next() == "Opening: Ada")
  }

  @Test func anActorIsToldOnItsOwnExecutor() async throws {
    let context = try await conference().viewContext
    let counter = try CountObserver(From<Talk>().where { $0.speaker == nil }, in: context)
    let (counts, notice, reader) = (counter.counts(), Notice(), Notice())
    let task = Task { await reader.follow(counts) }
    // Quoted in Docs/Observing.md
    let subscription = counter.onChange(on: notice, notifyInitial: true) { $0.show($1) }
    // End of quotation
    context.insert(Talk("Opening", day: 1, start: 540))
    context.processPendingChanges()
    for told in [notice, reader] {
      while await told.texts.last != "1 without a speaker" { await Task.yield() }
    }
    #expect(await notice.texts == ["0 without a speaker", "1 without a speaker"])
    task.cancel()
    await task.value
    withExtendedLifetime((counter, subscription)) {}
  }

  @Test func anActorThatIsAnOwnerIsToldOnItsExecutor() async throws {
    let context = try await conference().viewContext
    let counter = try CountObserver(From<Talk>().where { $0.speaker == nil }, in: context)
    let notice = Notice()
    // Quoted in Docs/Observing.md
    counter.addObserver(notice, notifyInitial: true) { $0.show($1) }
    // End of quotation
    context.insert(Talk("Opening", day: 1, start: 540))
    context.processPendingChanges()
    while await notice.texts.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(await notice.texts == ["0 without a speaker", "1 without a speaker"])
    withExtendedLifetime(counter) {}
  }

  @Test func observersOfOneObjectAndOfACount() async throws {
    let context = try await conference().viewContext
    let talk = Talk("Opening", day: 1, start: 540)
    context.insert(talk)
    var told: [String] = []
    // Quoted in Docs/Observing.md
    let observer = try ObjectObserver(talk)
    let ofTalk = observer.onChange { change in told.append("\(change)") }
    let counter = try CountObserver(From<Talk>().where { $0.speaker == nil }, in: context)
    let ofCount = counter.onChange(notifyInitial: true) { told.append("\($0) without a speaker") }
    talk.speaker = "Ada"
    // End of quotation
    context.processPendingChanges()
    #expect(told == ["1 without a speaker", "updated([\"speaker\"])", "0 without a speaker"])
    withExtendedLifetime((ofTalk, ofCount)) {}
  }

  @Test func aTableIsToldOfBatches() async throws {
    let conference = try await conference()
    let context = conference.viewContext
    let opening = Talk("Opening", day: 1, start: 540)
    context.insert(opening)
    context.insert(Talk("Trees", day: 1, start: 600))
    context.processPendingChanges()
    let byTime = From<Talk>().orderBy(\.day, \.start)
    let talks = try FetchedResults(byTime, sectionedBy: SectionedBy(\.day), in: context)
    // Quoted in Docs/Observing.md
    let table = RecordingListTarget { id in (try? context.existingObject(Talk.self, with: id).title) ?? "" }
    let source = ListDataSource(talks, target: table)
    opening.start = 700
    // End of quotation
    context.processPendingChanges()
    #expect(table.shown == [["Trees", "Opening"]])
    let move = ListMove(from: ListPath(item: 0), to: ListPath(item: 1))
    #expect(table.calls == [.reload, .beginBatch, .moveItems([move]), .endBatch])
    #expect(table.violations == [])
    withExtendedLifetime(source) {}
  }
}
