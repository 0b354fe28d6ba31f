extension QueryPlan {
  /// Information about how a plan was made. Plans that do the same are equal, also if they were made in different ways.
  struct Making: Sendable, Hashable, Codable {
    var usesTemplate = false

    static func == (left: Making, right: Making) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// True if the template of an earlier query of the same shape was used, so that names weren't resolved and the
  /// predicate wasn't normalised again. It takes no part in equality of plans.
  public var usesTemplate: Bool {
    get { making.usesTemplate }
    set { making.usesTemplate = newValue }
  }
}
