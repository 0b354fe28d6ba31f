/// The result of one run of a workload.
package struct Run: Sendable {
  package var time: Duration
  /// The sum of everything read; it has to be the same for every peer.
  package var checksum: UInt64

  package init(time: Duration, checksum: UInt64) {
    self.time = time
    self.checksum = checksum
  }
}

/// A task that several peers can do.
package struct Workload {
  /// The name in the tables of results, such as `K1`.
  package var id: String
  package var title: String
  /// The divisor of the time: operations, records or commits. 1 shows the time of the whole.
  package var operations: Int
  package var unit: String
  package var rounds: Int
  /// In the order of the table's columns.
  package var contenders: [Contender]

  package init(
    id: String,
    title: String,
    operations: Int = 1,
    unit: String = "",
    rounds: Int,
    contenders: [Contender]
  ) {
    self.id = id
    self.title = title
    self.operations = operations
    self.unit = unit
    self.rounds = rounds
    self.contenders = contenders
  }

  package struct Contender {
    package var peer: String
    /// Runs the workload once; the argument is the number of the round, the same for every peer of it.
    package var run: (Int) async throws -> Run

    package init(peer: String, run: @escaping (Int) async throws -> Run) {
      self.peer = peer
      self.run = run
    }
  }
}

/// Two peers read different data.
package struct ChecksumMismatch: Error, CustomStringConvertible {
  package var workload: String
  package var sums: [(peer: String, sum: UInt64)]

  package init(workload: String, sums: [(peer: String, sum: UInt64)]) {
    self.workload = workload
    self.sums = sums
  }

  package var description: String {
    let lines = sums.map { "  \($0.peer): \(String($0.sum, radix: 16))" }
    return "\(workload): the peers did not read the same\n" + lines.joined(separator: "\n")
  }
}

/// Times `body`. Returns the sum of the data that it read, so that the reads aren't optimised away.
package func measured(_ body: () async throws -> Checksum) async throws -> Run {
  let clock = ContinuousClock()
  let start = clock.now
  let sum = try await body()
  return Run(time: clock.now - start, checksum: sum.value)
}
