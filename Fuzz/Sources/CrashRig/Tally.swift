import Glibc
import Synchronization
import TestSupport

/// The layer on which images are checked.
enum Layer: String, CaseIterable, Sendable {
  /// Trees of bytes.
  case store = "images of stores"
  /// Objects and their relationships.
  case graph = "images of graphs"

  /// Returns whether scenarios of this layer have the operation. The sharing of a write by several threads, and the
  /// uses of a file's pages, don't depend on the contents.
  func has(_ operation: Operation) -> Bool {
    switch (self, operation) {
    case (.store, .refusedSave), (.store, .migration): false
    case (.graph, .groupCommit), (.graph, .reuse), (.graph, .truncation), (.graph, .punching): false
    default: true
    }
  }
}

/// The operation that ran when the power failed.
enum Operation: String, CaseIterable, Sendable {
  case creation
  case commitFull = "commit, full"
  case commitRelaxed = "commit, relaxed"
  case commitNone = "commit, none"
  case largeValue = "large value"
  case groupCommit = "group commit"
  case bulk = "bulk transaction"
  case checkpoint
  case concurrentCheckpoint = "concurrent checkpoint"
  case compaction
  /// Dead pages were overwritten, and that isn't synced.
  case reuse = "reuse of pages"
  /// The file was cut, and that isn't synced.
  case truncation
  /// Holes were made, and that isn't synced.
  case punching = "punching of holes"
  case refusedSave = "refused save"
  case migration = "change of schema"
  case idle = "going idle"
  case close
  case firstCommit = "first commit"
  case recovery
  case nestedRecovery = "recovery of recovery"

  /// Whether the operation mainly writes anchors.
  var writesAnchors: Bool {
    switch self {
    case .checkpoint, .concurrentCheckpoint, .largeValue, .close, .firstCommit, .recovery: true
    case .compaction, .reuse, .truncation, .punching: true
    default: false
    }
  }
}

extension Damage {
  /// Returns whether a run of any length has images of it. Files become shorter, and get holes, when they are
  /// compacted.
  func isExpected(in operation: Operation) -> Bool {
    switch self {
    case .cut: operation == .compaction || operation == .truncation
    case .holes: operation == .compaction || operation == .punching
    default: true
    }
  }
}

/// The result of a check.
enum Verdict: Sendable {
  case right
  /// An acknowledged commit is missing.
  case lost(String)
  /// Anything else that is wrong.
  case wrong(String)

  var isFailure: Bool {
    if case .right = self { return false }
    return true
  }
}

/// Counts of the work of all workers.
final class Tally: Sendable {
  struct Counts: Sendable {
    var images: [Layer: [Operation: [Damage: Int]]] = [:]
    /// Files with bytes changed at rest, and runs with failing calls, by kind.
    var others: [String: [String: Int]] = [:]
    var lost = 0
    var wrong = 0
    var scenarios = 0
    var failures: [String] = []

    var imageCount: Int { Layer.allCases.reduce(0) { $0 + imageCount(of: $1) } }
    func imageCount(of layer: Layer) -> Int {
      images[layer, default: [:]].values.reduce(0) { $0 + $1.values.reduce(0, +) }
    }
    var failureCount: Int { lost + wrong }
  }

  private let state = Mutex(Counts())
  /// The folder in which images that failed are kept.
  let folder: String?

  init(keepingImagesIn folder: String?) { self.folder = folder }

  /// Keeps the image if there is a folder for it; returns a note about it.
  func keep(_ image: SparseBytes, isFailure: Bool, scenario: UInt64, suffix: String = "") -> String {
    guard let folder, isFailure, image.byteCount < 1 << 30 else { return "" }
    let path = "\(folder)/\(scenario)-\(counts.failureCount)\(suffix).cambium"
    guard let file = fopen(path, "w") else { return "" }
    defer { fclose(file) }
    let bytes = image.bytes
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { return "" }
    return "; kept as \(path)"
  }

  var counts: Counts { state.withLock { $0 } }

  func countImage(
    of layer: Layer,
    _ operation: Operation,
    _ damage: Damage,
    _ verdict: Verdict,
    scenario: UInt64,
    image: SparseBytes
  ) {
    let kept = keep(image, isFailure: verdict.isFailure, scenario: scenario)
    state.withLock { counts in
      counts.images[layer, default: [:]][operation, default: [:]][damage, default: 0] += 1
      counts.note(verdict, "\(operation.rawValue), \(damage.rawValue)\(kept)", scenario: scenario)
    }
  }

  func count(_ group: String, _ kind: String, _ verdict: Verdict, scenario: UInt64) {
    state.withLock { counts in
      counts.others[group, default: [:]][kind, default: 0] += 1
      counts.note(verdict, "\(group), \(kind)", scenario: scenario)
    }
  }

  func countScenario() { state.withLock { $0.scenarios += 1 } }

  /// Notes that a scenario itself, not an image of it, went wrong.
  func note(_ verdict: Verdict, _ place: String, scenario: UInt64) {
    state.withLock { $0.note(verdict, place, scenario: scenario) }
  }
}

extension Tally.Counts {
  private static let keptFailures = 20

  fileprivate mutating func note(_ verdict: Verdict, _ place: String, scenario: UInt64) {
    let text: String
    switch verdict {
    case .right: return
    case .lost(let what):
      lost += 1
      text = "LOST (\(place)): \(what)"
    case .wrong(let what):
      wrong += 1
      text = "WRONG (\(place)): \(what)"
    }
    if failures.count < Self.keptFailures {
      failures.append("\(text)\n  repeat with: crash-rig --scenario \(scenario)")
    }
  }

  /// The operations and damage classes that no image had. For stores these are pairs. For graphs each is counted by
  /// itself, because the effect of damage in an operation depends on the store below.
  var emptyCells: [String] {
    let ofStores = Operation.allCases.filter(Layer.store.has).flatMap { operation in
      Damage.allCases.filter { $0.isExpected(in: operation) && count(.store, operation, $0) == 0 }
        .map { "\(operation.rawValue) × \($0.rawValue)" }
    }
    let operations = Operation.allCases.filter { operation in
      // These depend on the options of a few scenarios.
      let isRare = operation == .bulk || operation == .commitNone
      return Layer.graph.has(operation) && !isRare
        && Damage.allCases.allSatisfy { count(.graph, operation, $0) == 0 }
    }
    let damages = Damage.allCases.filter { damage in
      !Damage.rare.contains(damage) && Operation.allCases.allSatisfy { count(.graph, $0, damage) == 0 }
    }
    return ofStores + (operations.map(\.rawValue) + damages.map(\.rawValue)).map { "graph, \($0)" }
  }

  private func count(_ layer: Layer, _ operation: Operation, _ damage: Damage) -> Int {
    images[layer]?[operation]?[damage] ?? 0
  }

  /// The tables of images, and the other counts below them.
  var report: String {
    var lines = Layer.allCases.flatMap { table(of: $0) + [""] }.dropLast()
    for (group, kinds) in others.sorted(by: { $0.key < $1.key }) {
      lines.append("")
      lines.append(group)
      lines += kinds.sorted { $0.key < $1.key }.map {
        "  " + $0.key.padded(to: 40) + String($0.value).paddedLeft(to: 9)
      }
    }
    return lines.joined(separator: "\n")
  }

  private func table(of layer: Layer) -> [String] {
    let width = 22
    let rows = Operation.allCases.filter(layer.has).map { operation in
      operation.rawValue.padded(to: width)
        + Damage.allCases.map { String(count(layer, operation, $0)).paddedLeft(to: 11) }.joined()
    }
    let damages = Damage.allCases.map { $0.rawValue.paddedLeft(to: 11) }.joined()
    return [layer.rawValue.padded(to: width) + damages] + rows
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + spaces(width) }
  fileprivate func paddedLeft(to width: Int) -> String { spaces(width) + self }
  private func spaces(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) }
}
