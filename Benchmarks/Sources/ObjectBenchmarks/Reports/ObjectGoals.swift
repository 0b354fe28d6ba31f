/// The goals of Cambium: multiples of the speed of the fastest peer.
enum ObjectGoals {
  static func timesTheFastest(_ workload: String) -> Double? {
    switch workload {
    case "O1": 1.5
    case "O2", "O3", "O6a", "O7", "O11", "W1", "W2", "W3", "W4": 1
    case "O4", "O8a", "O8a-batch": 0.7
    case "O8b", "O8b-batch": 1
    case "O8c", "O8c-batch": 2
    case "O5": 500
    case "O6b": 50
    case "O9": 1.1
    default: nil
    }
  }
}
