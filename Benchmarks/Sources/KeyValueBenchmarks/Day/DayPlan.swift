/// The hours of a simulated day: when an app works, and its other activities.
struct DayPlan {
  /// Steps in an hour: five minutes each.
  static let stepsPerHour = 12

  /// The hours in which the store is closed.
  var closed: [Range<Double>] = [2..<6, 12.5..<13, 19..<19.25]

  /// Snapshots that are kept for long, for example for a report, a synchronisation or an open window.
  var readers: [Range<Double>] = [
    0.5..<1.75, 6.5..<7.5, 7..<8.5, 8..<8.5, 9..<10.25, 9.75..<11, 10.5..<11.5, 11.25..<12.25, 13.25..<14.75,
    14..<14.5,
    14.5..<16, 15.5..<16.5, 16.25..<17.25, 17..<18.5, 18..<18.75, 19.5..<20.5, 20..<22, 21.5..<22.5,
    22.75..<23.5,
  ]

  /// The hours at which a project is removed.
  static let removals: [Double] = [1, 9, 11, 15, 18, 21]

  /// The hour from which the size must stay within the bounds: the store has been closed once, and the first events
  /// have reached their full age.
  static let warmUp = 7.0

  /// Returns the activity of the app, from 0 to 1.
  static func activity(hour: Double) -> Double {
    switch hour {
    case ..<2: 0.1
    case ..<8: 0.3
    case ..<12: 1
    case ..<13.5: 0.3
    case ..<18: 1
    case ..<22: 0.6
    default: 0.2
    }
  }

  func isClosed(at hour: Double) -> Bool { closed.contains { $0.contains(hour) } }
}
