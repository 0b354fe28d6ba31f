/// Several values that belong to one object: the elements of a to-many relationship, those of them that meet a
/// condition, or a property of each.
public struct PredicateCollection: Sendable, Hashable {
  /// The selection of the elements that count.
  public struct Filter: Sendable, Hashable {
    /// The name of the element in the condition, without `$`.
    public var variable: String
    /// The condition on the element. Paths that begin with the variable start at the element, others at the object.
    public var condition: PredicateTree

    /// Makes a filter.
    public init(variable: String, condition: PredicateTree) {
      self.variable = variable
      self.condition = condition
    }
  }

  /// The variable that the names start from, without `$`; nil for the fetched object.
  public var variable: String?
  /// The names from the start to the collection. Several to-many relationships on the way make one collection of all
  /// their elements.
  public var names: [String]
  /// The filter of the elements; nil for all elements.
  public var filter: Filter?
  /// The names from an element to the value; none for the element itself.
  public var element: [String]
  /// True if equal values count once.
  public var isDistinct: Bool

  /// Makes a collection: by default all the elements, as they are.
  public init(
    variable: String? = nil,
    names: [String],
    filter: Filter? = nil,
    element: [String] = [],
    isDistinct: Bool = false
  ) {
    self.variable = variable
    self.names = names
    self.filter = filter
    self.element = element
    self.isDistinct = isDistinct
  }
}

/// A function that computes one value from several.
///
/// nil takes no part, and NaN takes part only in ``count``. Without values, the count and the sum are 0, all others are
/// nil.
public enum PredicateAggregate: Sendable, Hashable {
  /// The number of elements, or of values that aren't nil.
  case count
  /// The sum of the numbers.
  case sum
  /// The average of the numbers: of Decimals a Decimal, of others a Double.
  case average
  /// The least value.
  case minimum
  /// The greatest value.
  case maximum
  /// The middle one of the sorted values, or the average of the two in the middle.
  case median
  /// The value that occurs most often; of several such the least.
  case mode
  /// The standard deviation of the whole population.
  case standardDeviation
  /// The value of the element at an index, counted from 0: of objects in the order of their IDs, also where the
  /// relationship has an order; of a list in its own order.
  case element(Int)
  /// The value of the last element: of objects in the order of their IDs, of a list in its own order.
  case last
}

/// The quantifier: the number of a collection's values for which a comparison has to hold.
public enum PredicateQuantifier: String, Sendable, Hashable, CaseIterable {
  /// At least one.
  case any = "ANY"
  /// Each one; true without values.
  case all = "ALL"
  /// None.
  case none = "NONE"
}
