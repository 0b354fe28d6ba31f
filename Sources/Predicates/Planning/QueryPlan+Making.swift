extension QueryPlan {
  /// How a plan was made. Plans that were made in different ways are equal if they do the same.
  struct Making: Sendable, Hashable, Codable {
    var usesTemplate = false

    static func == (left: Making, right: Making) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// Whether an earlier query of the same shape spared this one looking for its names and bringing its predicate into normal form. Takes no
  /// part in what the plan is equal to.
  public var usesTemplate: Bool {
    get { making.usesTemplate }
    set { making.usesTemplate = newValue }
  }
}
