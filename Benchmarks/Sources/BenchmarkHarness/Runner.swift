import Foundation

/// Runs workloads in interleaved rounds, so that other work of the machine affects all peers alike.
package struct Runner {
  /// Only workloads with these IDs; empty means all.
  package var only: Set<String>
  package private(set) var results: [Result] = []

  package init(only: Set<String>) { self.only = only }

  /// The times that a workload took.
  package struct Result: Codable, Sendable {
    package var id: String
    package var title: String
    package var unit: String
    package var operations: Int
    package var rounds: Int
    package var times: [PeerTimes]

    package func times(of peer: String) -> PeerTimes? { times.first { $0.peer == peer } }
  }

  package struct PeerTimes: Codable, Sendable {
    package var peer: String
    /// Seconds of each round's whole run.
    package var seconds: [Double]

    package var median: Double { Figures.median(seconds) }
  }

  package func wants(_ id: String) -> Bool { only.isEmpty || only.contains(id) }

  /// Runs the workload if it is wanted. Throws ``ChecksumMismatch`` when two peers read different data.
  package mutating func run(_ workload: Workload) async throws {
    guard wants(workload.id) else { return }
    Self.note("\(workload.id) \(workload.title)")
    var times = workload.contenders.map { PeerTimes(peer: $0.peer, seconds: []) }
    for round in 0..<workload.rounds {
      var sums: [(peer: String, sum: UInt64)] = []
      for place in workload.contenders.indices {
        // Each round begins with another peer.
        let index = (place + round) % workload.contenders.count
        let run = try await workload.contenders[index].run(round)
        times[index].seconds.append(run.time / .seconds(1))
        sums.append((workload.contenders[index].peer, run.checksum))
      }
      guard sums.allSatisfy({ $0.sum == sums[0].sum }) else {
        throw ChecksumMismatch(workload: workload.id, sums: sums)
      }
    }
    for peer in times {
      Self.note("   \(peer.peer): \(Figures.duration(peer.median / Double(workload.operations)))")
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

  /// Reports the progress on the terminal.
  package static func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
