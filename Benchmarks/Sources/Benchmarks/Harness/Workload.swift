/// What one run of a workload came to.
struct Run {
  var time: Duration
  /// The sum of everything read; it has to be the same for every peer.
  var checksum: UInt64
}

/// One thing to do, that several peers can do.
struct Workload {
  /// The name in the tables of the design, such as `K1`.
  var id: String
  var title: String
  /// What a time is divided by: operations, records or commits. 1 shows the time of the whole.
  var operations: Int = 1
  var unit: String = ""
  var rounds: Int
  /// In the order of the table's columns.
  var contenders: [Contender]

  struct Contender {
    var peer: String
    var run: () async throws -> Run
  }
}

/// Two peers read different data.
struct ChecksumMismatch: Error, CustomStringConvertible {
  var workload: String
  var sums: [(peer: String, sum: UInt64)]

  var description: String {
    let lines = sums.map { "  \($0.peer): \(String($0.sum, radix: 16))" }
    return "\(workload): the peers did not read the same\n" + lines.joined(separator: "\n")
  }
}

/// Times `body`, and keeps what it read from being optimised away by handing on its sum.
func measured(_ body: () async throws -> Checksum) async throws -> Run {
  let clock = ContinuousClock()
  let start = clock.now
  let sum = try await body()
  return Run(time: clock.now - start, checksum: sum.value)
}
