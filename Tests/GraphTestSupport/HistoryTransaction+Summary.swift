import Cambium

extension HistoryTransaction {
  /// The changes in few words: kind, entity, number, and what changed.
  package var summary: [String] {
    changes.map { change in
      let names = change.properties.isEmpty ? "" : " \(change.properties.joined(separator: ","))"
      return "\(change.kind) \(change.objectID.entityName) \(change.objectID.number)\(names)"
    }
  }
}
