import ArgumentParser

/// The subject of a scenario. Its seed alone determines the kind, so that it can be repeated.
enum ScenarioKind: String, CaseIterable, ExpressibleByArgument {
  /// A store's life, with images of every change.
  case store
  /// The same for objects and their relationships.
  case graph
  /// The same for a graph whose schema changes.
  case migration
  /// Files whose bytes change at rest.
  case rot
  /// Bits flipped one at a time.
  case flips
  /// A store that a copy of itself replaces.
  case replacement
  /// Calls to the disk that fail.
  case faults
  /// Disks that are soon full.
  case fullDisk = "full-disk"

  /// The number of consecutive seeds that have scenarios of all kinds.
  static let roundLength: UInt64 = 16

  init(seed: UInt64) {
    switch seed % Self.roundLength {
    case 0, 4: self = .rot
    case 8: self = .replacement
    case 12: self = .flips
    case 1, 9: self = .faults
    case 5, 13: self = .fullDisk
    case 2, 10, 15: self = .graph
    case 14: self = .migration
    default: self = .store
    }
  }
}
