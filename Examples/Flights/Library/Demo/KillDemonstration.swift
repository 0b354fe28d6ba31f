import Cambium
import Foundation

/// Kills a process in the middle of its saves, again and again, and checks the store that it left.
///
/// A save puts a pair of flights into a copy of the store, out and back. Every acknowledged pair has to be there, and
/// no pair may be there with only one of its flights.
struct KillDemonstration {
  var store: String
  var kills: Int

  func run() async throws {
    Terminal.section("6. Killed in the middle of saves")
    print(
      "A second process saves pairs of flights, one pair a save, and says when a save has returned. SIGKILL, reopen, look.\n"
    )
    let copy = store + ".killed"
    try FileManager.default.removeStore(atPath: copy)
    try FileManager.default.copyItem(atPath: store, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }

    var acknowledged = 0
    for kill in 1...kills {
      let saves = Int.random(in: 20...80)
      acknowledged = max(acknowledged, try killAfter(saves: saves, store: copy, first: acknowledged + 1))
      let found = try await pairs(in: copy)
      guard found.halves == 0, found.whole >= acknowledged, found.whole <= acknowledged + 1 else {
        throw DataError(
          path: copy,
          message:
            "\(acknowledged) saves were acknowledged; there are \(found.whole) and \(found.halves) halves"
        )
      }
      let last = found.whole > acknowledged ? ", and one more, whole, whose answer the kill cut off" : ""
      print("    kill \(kill): \(acknowledged) saves acknowledged so far, all there\(last)")
      acknowledged = found.whole
    }
    print("\n    Nothing that was acknowledged is lost, and nothing is there by half.")
  }

  /// Starts the loop, and kills it a moment after the given number of saves: most likely within another one.
  ///
  /// - Returns: the number of the last pair whose save was acknowledged.
  private func killAfter(saves: Int, store: String, first: Int) throws -> Int {
    let pipe = Pipe()
    let process = Process.thisProgram(
      ["save-loop", "--store", store, "--first", String(first)],
      output: pipe
    )
    try process.run()

    var output = Data()
    while output.count(where: { $0 == UInt8(ascii: "\n") }) < saves {
      let more = pipe.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      output.append(more)
    }
    usleep(UInt32.random(in: 0...400))
    kill(process.processIdentifier, SIGKILL)
    output.append(pipe.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    guard process.terminationReason == .uncaughtSignal else {
      throw DataError(
        path: store,
        message: "the saving process ended by itself, with status \(process.terminationStatus)"
      )
    }
    // A line without its end was cut off by the kill: no reader could have read that acknowledgement.
    let lines = String(decoding: output, as: UTF8.self).split(
      separator: "\n",
      omittingEmptySubsequences: false
    )
    return lines.dropLast().last.flatMap { Int($0) } ?? first - 1
  }

  /// Opens the store that was left, which recovers it, and counts pairs and flights without their other half.
  private func pairs(in store: String) async throws -> (whole: Int, halves: Int) {
    let container = try await PersistentContainer.flights(at: store)
    let flights = try await container.performBackgroundTask { context in
      try context.fetch(From<Flight>().where { $0.carrier == SaveLoopCommand.carrier }).map(\.flight)
    }
    try await container.close()
    let counts = flights.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
    return (counts.count { $0.value == 2 }, counts.count { $0.value != 2 })
  }
}
