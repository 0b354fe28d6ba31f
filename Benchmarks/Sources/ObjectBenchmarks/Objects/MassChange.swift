/// A change of every person in one durable transaction: O8 of the performance goals.
enum MassChange {
  /// Adds to the score, which no index has.
  case score(Double)
  /// Adds to the age, which is indexed.
  case age(Int)
  case deletion

  /// The way in which a peer makes the change.
  enum Way: CaseIterable {
    /// Reads each person, and changes or deletes it.
    case byObjects
    /// By the peer's single call for it.
    case byBatch
  }
}

/// A change of every person, for the comparison of peers.
struct MassWorkload {
  let id: String
  let title: String
  let way: MassChange.Way
  let isDeletion: Bool
  /// The work of a round.
  let change: (Int) -> MassChange

  private init(
    _ id: String,
    _ what: String,
    _ way: MassChange.Way,
    isDeletion: Bool = false,
    _ change: @escaping (Int) -> MassChange
  ) {
    self.id = way == .byBatch ? id + "-batch" : id
    title = "\(what), \(way == .byBatch ? "by batch" : "by objects"), one transaction"
    self.way = way
    self.isDeletion = isDeletion
    self.change = change
  }

  static var all: [MassWorkload] {
    MassChange.Way.allCases.flatMap { way in
      [
        MassWorkload("O8a", "score of everybody", way) { .score($0 % 2 == 0 ? 1 : -1) },
        MassWorkload("O8b", "indexed age of everybody", way) { .age($0 % 2 == 0 ? 1 : -1) },
        MassWorkload("O8c", "everybody deleted", way, isDeletion: true) { _ in .deletion },
      ]
    }
  }
}
