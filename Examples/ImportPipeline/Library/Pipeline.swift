import Cambium
import CambiumOperations

/// Reads a file, imports it, and sums up: three operations, each with the result of the one before.
public struct Pipeline: Sendable {
  private let container: PersistentContainer

  /// The sample: a day of readings.
  public static var sample: URL { URL(fileURLWithPath: Bundle.module.bundlePath + "/Sample/readings.jsonl") }

  /// Opens the store at a location, or makes it.
  public init(_ location: StoreLocation) async throws {
    container = try await PersistentContainer(
      "Readings",
      models: Station.self,
      Reading.self,
      at: location
    )
  }

  /// Closes the store.
  public func close() throws { try container.close() }

  /// Runs the three, one after the other. If one fails, all that follow fail with the same error.
  ///
  /// - Parameters:
  ///   - url: a JSON Lines file.
  ///   - onProgress: is called with each new part of the whole, from 0 to 1, on the threads of the operations.
  /// - Throws: the error of the first operation that failed; then nothing has changed.
  public func run(_ url: URL, onProgress: @escaping @Sendable (Double) -> Void) async throws -> Summary {
    let summing = ReadLines(url)
      .passesResult(to: ImportReadings(container))
      .passesResult(to: Summarise(container))
    let observation = summing.chainProgress().onChange(onProgress)
    defer { observation.cancel() }
    return try await summing.run()
  }
}

/// A progress in the terminal: `[#####.....] 50 %`.
public struct ProgressBar: Sendable {
  private let width: Int

  /// Makes a bar of so many characters.
  public init(width: Int = 20) { self.width = width }

  /// The bar for a part of the whole, from 0 to 1.
  public func line(_ fraction: Double) -> String {
    let done = Int((fraction * Double(width)).rounded(.down))
    let bar = String(repeating: "#", count: done) + String(repeating: ".", count: width - done)
    return "[\(bar)] \(Int((fraction * 100).rounded(.down))) %"
  }
}
