import GraphContext
import Predicates

/// A custom stage that inserts objects, links them to objects of the old graph, and deletes some, together with the
/// other changes.
enum CustomStage {
  /// The objects that the stage makes of songs with even codes.
  static let note = EntityDescription(
    name: "Note",
    properties: [
      .attribute(AttributeDescription(name: GraphContent.code, kind: .int64)),
      .relationship(
        RelationshipDescription(name: "song", destination: "Song", cardinality: .optional, inverse: nil)
      ),
    ]
  )

  private static let batchCount = 7

  private static func isDeleted(_ code: Int) -> Bool { code % 7 == 3 }
  private static func isNoted(_ code: Int) -> Bool { code % 2 == 0 && !isDeleted(code) }

  static func plan(from old: Schema, to new: Schema) -> MigrationPlan {
    let pass = MigrationPass.forEach("Song", inBatchesOf: batchCount) { batch in
      for song in batch.objects {
        guard let successor = try batch.successor(of: song) else { continue }
        let code = try GraphContent.code(of: song)
        if isDeleted(code) { batch.new.delete(successor) }
        guard isNoted(code) else { continue }
        let note = try batch.new.insert(entity: "Note")
        try note.set(GraphContent.code, to: .int(Int64(code)))
        try note.setObject("song", to: successor)
      }
    }
    let versions = (from: Schema.Version(1), to: Schema.Version(2))
    return MigrationPlan(
      documents: [SchemaDocument(old, version: versions.from), SchemaDocument(new, version: versions.to)],
      stages: [.custom(from: versions.from, to: versions.to, rebuilding: ["Song"], pass)]
    )
  }

  /// Returns the contents after the stage.
  static func apply(to content: inout GraphContent) {
    let codes = content.rows["Song", default: [:]].keys
    for code in codes where isNoted(code) {
      content.rows["Note", default: [:]][code] = [
        GraphContent.code: .value(.int(Int64(code))), "song": .codes([code]),
      ]
    }
    content.rows["Song"] = content.rows["Song"]?.filter { !isDeleted($0.key) }
    for entity in content.rows.keys where entity != "Song" {
      content.change(entity) { _, row in
        if case .codes(let songs)? = row["songs"] { row["songs"] = .codes(songs.filter { !isDeleted($0) }) }
      }
    }
  }
}
