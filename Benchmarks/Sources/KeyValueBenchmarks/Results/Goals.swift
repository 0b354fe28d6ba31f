/// The goals of Cambium: multiples of the speed of the fastest peer.
enum Goals {
  static func timesTheFastest(_ workload: String) -> Double? {
    switch workload {
    case "K1", "K1t", "K2": 1.5
    case "K3a": 1.3
    case "K3b": 2
    case "K4", "K5": 1
    case "K6": 5_000
    case "K7": 0.5
    default: nil
    }
  }

  /// Times the speed of one committer, for so many at once.
  static func timesOneCommitter(_ committers: Int) -> Double? {
    switch committers {
    case 16: 6
    case 64: 8
    default: nil
    }
  }

  /// Bytes that a store may take on the disk after the load, or after the overwrites.
  static func storedBytes(_ title: String) -> Double? {
    switch title {
    case "after random load, allocated": 140e6
    case "after the overwrites, allocated": 145e6
    default: nil
    }
  }
}
