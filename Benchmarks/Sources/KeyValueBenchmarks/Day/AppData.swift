import BenchmarkHarness
import PageStore

/// The data of an app: notes in projects, an index of them in the order of their changes, attachments, and a log of
/// events that is kept for some hours. Its size stays level: the app adds as much as it removes.
///
/// Seven of eight changed notes are in the projects that are under way: an eighth of all projects, others every six
/// hours.
struct AppData {
  struct Sizes {
    var notes = 40_000
    var attachments = 60
    /// Hours that events are kept.
    var eventHours = 6
    /// Transactions in five busy minutes.
    var commits = 12

    static var smoke: Sizes {
      var sizes = Sizes()
      sizes.notes = 4_000
      sizes.attachments = 6
      sizes.commits = 4
      return sizes
    }
  }

  private struct Note {
    /// Project and identity.
    var key: [UInt8]
    /// Number of its last change; its entry in the index.
    var change: UInt64
  }

  private static let projectCount = 64
  private static let projectsUnderWay = 8

  private let sizes: Sizes
  private var random: SeededGenerator
  private var projects: [[Note]]
  private var noteCount = 0
  private var changeCount: UInt64 = 0
  private var eventCount: UInt64 = 0
  private var attachments: [UInt64] = []
  /// The first project that is under way; nil for work on all projects alike.
  private var firstUnderWay: Int?

  init(_ sizes: Sizes, seed: UInt64) {
    self.sizes = sizes
    random = SeededGenerator(seed: seed)
    projects = Array(repeating: [], count: Self.projectCount)
  }

  // MARK: Work

  /// Puts all missing notes and attachments into a store.
  mutating func load(into store: Store) throws {
    while noteCount < sizes.notes { try write(to: store) { data, tree in try data.insertNotes(1_000, tree) } }
    while attachments.count < sizes.attachments {
      try write(to: store) { data, tree in try data.replaceAttachment(tree) }
    }
  }

  /// Makes one transaction of the app at `hour`, which also adds some of the missing notes.
  mutating func work(on store: Store, hour: Double) throws {
    firstUnderWay = Int(hour / 6) * Self.projectsUnderWay
    try write(to: store) { data, tree in
      try data.insertNotes(20, tree)
      for _ in 0..<60 { try data.changeNote(tree) }
      for _ in 0..<20 { try data.removeNote(tree) }
      try data.insertNotes(20, tree)
      for _ in 0..<30 { try data.noteEvent(hour: hour, tree) }
      if data.random.next() % 8 == 0 { try data.replaceAttachment(tree) }
    }
  }

  /// Removes the events that are old at `hour`, as a range.
  mutating func forgetEvents(in store: Store, hour: Double) throws {
    let oldest = Self.bytes(Self.moment(hour: hour - Double(sizes.eventHours)))
    try write(to: store) { _, tree in try tree("events").removeRange(KeyRange(upper: .excluding(oldest))) }
  }

  /// Removes a whole project: its notes as a range, the index entry by entry.
  mutating func removeProject(in store: Store) throws {
    let project = Int(random.next() % UInt64(Self.projectCount))
    try write(to: store) { data, tree in
      try tree("notes").removeRange(.prefix([UInt8(project)]))
      for note in data.projects[project] { try tree("notes by change").remove(Self.bytes(note.change)) }
      data.noteCount -= data.projects[project].count
      data.projects[project] = []
    }
  }

  // MARK: Parts

  private typealias Trees = (String) throws -> WriteTree

  /// The data here isn't rolled back when a transaction fails: the run ends then.
  private mutating func write(
    to store: Store,
    _ body: (inout AppData, Trees) throws -> Void
  ) throws {
    try store.write(durability: .relaxed) { transaction in
      try withoutActuallyEscaping(body) { body in try body(&self, { name in try transaction.tree(name) }) }
    }
  }

  private mutating func insertNotes(_ limit: Int, _ tree: Trees) throws {
    for _ in 0..<min(limit, sizes.notes - noteCount) {
      let project = anyProject()
      var note = Note(
        key: [UInt8(project)] + Self.bytes(random.next()) + Self.bytes(random.next()),
        change: 0
      )
      try save(&note, tree)
      projects[project].append(note)
      noteCount += 1
    }
  }

  private mutating func changeNote(_ tree: Trees) throws {
    guard let (project, index) = anyNote() else { return }
    var note = projects[project][index]
    try tree("notes by change").remove(Self.bytes(note.change))
    try save(&note, tree)
    projects[project][index] = note
  }

  private mutating func removeNote(_ tree: Trees) throws {
    guard let (project, index) = anyNote() else { return }
    projects[project].swapAt(index, projects[project].count - 1)
    let note = projects[project].removeLast()
    noteCount -= 1
    try tree("notes").remove(note.key)
    try tree("notes by change").remove(Self.bytes(note.change))
  }

  private mutating func save(_ note: inout Note, _ tree: Trees) throws {
    changeCount += 1
    note.change = changeCount
    try tree("notes").put(note.key, bytes(150 + Int(random.next() % 450)))
    try tree("notes by change").put(Self.bytes(note.change), note.key)
  }

  private mutating func noteEvent(hour: Double, _ tree: Trees) throws {
    eventCount += 1
    try tree("events").put(Self.bytes(Self.moment(hour: hour)) + Self.bytes(eventCount), bytes(80))
  }

  /// Overwrites the oldest attachment, once there are enough.
  private mutating func replaceAttachment(_ tree: Trees) throws {
    let key = attachments.count < sizes.attachments ? UInt64(attachments.count) : attachments.removeFirst()
    try tree("attachments").put(Self.bytes(key), bytes(20_000 + Int(random.next() % 180_000)))
    attachments.append(key)
  }

  private mutating func anyNote() -> (project: Int, index: Int)? {
    guard noteCount > 0 else { return nil }
    while true {
      let project = anyProject()
      if projects[project].isEmpty { continue }
      return (project, Int(random.next() % UInt64(projects[project].count)))
    }
  }

  private mutating func anyProject() -> Int {
    let word = random.next()
    guard let firstUnderWay, word % 8 > 0 else { return Int(word / 8 % UInt64(Self.projectCount)) }
    return firstUnderWay + Int(word / 8 % UInt64(Self.projectsUnderWay))
  }

  // MARK: Bytes

  private mutating func bytes(_ count: Int) -> [UInt8] {
    let byte = UInt8(truncatingIfNeeded: random.next())
    return [UInt8](repeating: byte, count: count)
  }

  /// Milliseconds since the day before, so that none is negative.
  private static func moment(hour: Double) -> UInt64 { UInt64((hour + 24) * 3_600_000) }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
  }
}
