import Foundation

/// Runs workloads in interleaved rounds, so that whatever else the machine does meets every peer alike.
struct Runner {
  /// Only workloads with these IDs; empty means all.
  var only: Set<String>
  private(set) var results: [Result] = []

  init(only: Set<String>) { self.only = only }

  struct Result: Codable {
    var id: String
    var title: String
    var unit: String
    var operations: Int
    var rounds: Int
    var times: [PeerTimes]
  }

  struct PeerTimes: Codable {
    var peer: String
    /// Seconds of each round's whole run.
    var seconds: [Double]

    var median: Double {
      let sorted = seconds.sorted()
      let middle = sorted.count / 2
      return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
  }

  func wants(_ id: String) -> Bool { only.isEmpty || only.contains(id) }

  /// Runs the workload if it is wanted. Throws ``ChecksumMismatch`` when two peers read different data.
  mutating func run(_ workload: Workload) async throws {
    guard wants(workload.id) else { return }
    note("\(workload.id) \(workload.title)")
    var times = workload.contenders.map { PeerTimes(peer: $0.peer, seconds: []) }
    for round in 0..<workload.rounds {
      var sums: [(peer: String, sum: UInt64)] = []
      for place in workload.contenders.indices {
        // Each round begins with another peer.
        let index = (place + round) % workload.contenders.count
        let run = try await workload.contenders[index].run()
        times[index].seconds.append(run.time / .seconds(1))
        sums.append((workload.contenders[index].peer, run.checksum))
      }
      guard sums.allSatisfy({ $0.sum == sums[0].sum }) else {
        throw ChecksumMismatch(workload: workload.id, sums: sums)
      }
    }
    for peer in times {
      note("   \(peer.peer): \(Report.duration(peer.median / Double(workload.operations)))")
    }
    results.append(
      Result(
        id: workload.id,
        title: workload.title,
        unit: workload.unit,
        operations: workload.operations,
        rounds: workload.rounds,
        times: times
      )
    )
  }

  private func note(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
