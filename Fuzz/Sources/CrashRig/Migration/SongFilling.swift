import GraphContext
import Predicates
import TestSupport

/// Objects for a store of songs whose schema no change has touched.
struct SongFilling {
  private(set) var content = GraphContent()

  private static let albumCount = 5
  private static let sessionCount = 3
  private static let labelCount = 2

  /// - Parameter songCount: how many songs there may be.
  init(_ songCount: ClosedRange<Int>, using generator: inout SeededGenerator) {
    for code in 0..<Self.labelCount {
      content.rows["Label", default: [:]][code] = Self.row(code, ["name": .string("label \(code)")])
    }
    for code in 0..<Self.albumCount { fill("Album", code, "name", "Blue \(code)") }
    for code in 0..<Self.sessionCount { fill("Session", code, "place", "Studio \(code)") }
    for code in 0..<generator.number(in: songCount) { addSong(code, using: &generator) }
  }

  private static func row(_ code: Int, _ values: [String: AttributeValue]) -> GraphContent.Row {
    var row = values.mapValues(GraphContent.Shown.value)
    row[GraphContent.code] = .value(.int(Int64(code)))
    return row
  }

  /// An object that songs lead to.
  private mutating func fill(_ entity: String, _ code: Int, _ name: String, _ text: String) {
    var row = Self.row(code, [name: .string(text)])
    row["songs"] = .codes([])
    content.rows[entity, default: [:]][code] = row
  }

  private mutating func addSong(_ code: Int, using generator: inout SeededGenerator) {
    let words = ["Ecol", "école", "ÉCOLE", "straße", "日本", "", String(repeating: "long ", count: 20)]
    var row = Self.row(
      code,
      [
        "title": .string(generator.pick(words) + "\(generator.number(in: 0...9))"),
        "seconds": .int(Int64(generator.number(in: -9...400))),
        "rating": generator.chance(1, in: 3) ? .null : .int(Int64(generator.number(in: 0...5))),
        "notes": generator.chance(1, in: 2)
          ? .null : .string(generator.pick(words + [String(repeating: "long ", count: 200)])),
      ]
    )
    row["album"] = .codes(pick(below: Self.albumCount, atMost: 1, using: &generator))
    row["label"] = .codes(pick(below: Self.labelCount, atMost: 1, using: &generator))
    row["sessions"] = .codes(pick(below: Self.sessionCount, atMost: 3, using: &generator))
    content.rows["Song", default: [:]][code] = row
    for (name, entity) in [("album", "Album"), ("sessions", "Session")] {
      for target in Self.codes(row[name]) {
        let songs = Self.codes(content.rows[entity]?[target]?["songs"])
        content.rows[entity]?[target]?["songs"] = .codes(songs + [code])
      }
    }
  }

  private func pick(below count: Int, atMost limit: Int, using generator: inout SeededGenerator) -> [Int] {
    (0..<count).shuffled(using: &generator).prefix(generator.number(in: 0...limit)).sorted()
  }

  private static func codes(_ shown: GraphContent.Shown?) -> [Int] {
    if case .codes(let codes) = shown { codes } else { [] }
  }

  // MARK: Saving

  /// Makes the objects in a context, and saves.
  func save(in context: ManagedObjectContext) throws {
    var records: [String: [Int: ManagedRecord]] = [:]
    for (entity, rows) in content.rows {
      for (code, row) in rows {
        let record = try context.insert(entity: entity)
        records[entity, default: [:]][code] = record
        for case (let name, .value(let value)) in row { try record.set(name, to: value) }
      }
    }
    for (code, row) in content.rows["Song", default: [:]] {
      guard let song = records["Song"]?[code] else { continue }
      for target in Self.codes(row["album"]) { try song.setObject("album", to: records["Album"]?[target]) }
      for target in Self.codes(row["label"]) { try song.setObject("label", to: records["Label"]?[target]) }
      for target in Self.codes(row["sessions"]) {
        if let session = records["Session"]?[target] { try song.add(session, to: "sessions") }
      }
    }
    try context.save()
  }
}
