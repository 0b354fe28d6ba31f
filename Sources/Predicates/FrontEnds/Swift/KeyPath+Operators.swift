// The key-path spelling: `\.seconds > 180 && \.title == "Carey"`. The operators are static members of
// constrained extensions here, too. A key path's value may be optional, so each operator exists for the value
// and for its wrapped value.

extension KeyPath where Root: PredicateRoot, Value: AttributeType {
  /// Returns the condition that the property has this value; `nil` asks for a missing value.
  public static func == (left: KeyPath<Root, Value>, right: Value) -> Where<Root> {
    ValueExpression<Root, Value>(left).compare(.equal, right.operand)
  }

  /// Returns the condition that the property has another value, or none; for `nil`, that it has any.
  public static func != (left: KeyPath<Root, Value>, right: Value) -> Where<Root> {
    ValueExpression<Root, Value>(left).compare(.notEqual, right.operand)
  }

  /// Returns the condition that the value is one of these: `["JFK", "LGA"] ~= \.origin?.faa`.
  public static func ~= (values: [Value], keyPath: KeyPath<Root, Value>) -> Where<Root> {
    ValueExpression<Root, Value>(keyPath).isAmong(values.map { $0.operand })
  }
}

extension KeyPath where Root: PredicateRoot, Value: AttributeType & Comparable {
  /// Returns the condition that the property's value is less. False where it is missing, and for `nil`.
  public static func < (left: KeyPath<Root, Value>, right: Value?) -> Where<Root> {
    ValueExpression<Root, Value>(left) < right
  }

  /// Returns the condition that the property's value is less or equal. False where it is missing, and for
  /// `nil`.
  public static func <= (left: KeyPath<Root, Value>, right: Value?) -> Where<Root> {
    ValueExpression<Root, Value>(left) <= right
  }

  /// Returns the condition that the property's value is greater. False where it is missing, and for `nil`.
  public static func > (left: KeyPath<Root, Value>, right: Value?) -> Where<Root> {
    ValueExpression<Root, Value>(left) > right
  }

  /// Returns the condition that the property's value is greater or equal. False where it is missing, and for
  /// `nil`.
  public static func >= (left: KeyPath<Root, Value>, right: Value?) -> Where<Root> {
    ValueExpression<Root, Value>(left) >= right
  }

  /// Returns the condition that the value is in the range: `1980...1989 ~= \.year`.
  public static func ~= (range: some AttributeRange<Value>, keyPath: KeyPath<Root, Value>) -> Where<Root> {
    ValueExpression<Root, Value>(keyPath).between(range)
  }
}

// MARK: - Optional values

extension KeyPath where Root: PredicateRoot {
  /// Returns the condition that the property's value is less. False where it is missing, and for `nil`.
  public static func < <Wrapped: AttributeType & Comparable>(
    left: KeyPath<Root, Value>,
    right: Wrapped?
  ) -> Where<Root> where Value == Wrapped? {
    ValueExpression<Root, Wrapped>(left) < right
  }

  /// Returns the condition that the property's value is less or equal. False where it is missing, and for
  /// `nil`.
  public static func <= <Wrapped: AttributeType & Comparable>(
    left: KeyPath<Root, Value>,
    right: Wrapped?
  ) -> Where<Root> where Value == Wrapped? {
    ValueExpression<Root, Wrapped>(left) <= right
  }

  /// Returns the condition that the property's value is greater. False where it is missing, and for `nil`.
  public static func > <Wrapped: AttributeType & Comparable>(
    left: KeyPath<Root, Value>,
    right: Wrapped?
  ) -> Where<Root> where Value == Wrapped? {
    ValueExpression<Root, Wrapped>(left) > right
  }

  /// Returns the condition that the property's value is greater or equal. False where it is missing, and for
  /// `nil`.
  public static func >= <Wrapped: AttributeType & Comparable>(
    left: KeyPath<Root, Value>,
    right: Wrapped?
  ) -> Where<Root> where Value == Wrapped? {
    ValueExpression<Root, Wrapped>(left) >= right
  }

  /// Returns the condition that the property's value is in the range: `1980...1989 ~= \.year`. False where it
  /// is missing.
  public static func ~= <Wrapped: AttributeType & Comparable>(
    range: some AttributeRange<Wrapped>,
    keyPath: KeyPath<Root, Value>
  ) -> Where<Root> where Value == Wrapped? {
    ValueExpression<Root, Wrapped>(keyPath).between(range)
  }
}

// MARK: - Objects

extension KeyPath where Root: PredicateRoot {
  /// Returns the condition that the relationship leads to this object; `nil` asks for one that leads to none.
  public static func == <Object: ObjectReferencing>(
    left: KeyPath<Root, Value>,
    right: Value
  ) -> Where<Root> where Value == Object? {
    ValueExpression<Root, Object>(left) == right
  }

  /// Returns the condition that the relationship leads to another object, or to none; for `nil`, that it leads
  /// to any.
  public static func != <Object: ObjectReferencing>(
    left: KeyPath<Root, Value>,
    right: Value
  ) -> Where<Root> where Value == Object? {
    ValueExpression<Root, Object>(left) != right
  }
}

extension KeyPath where Root: PredicateRoot {
  /// Returns the condition that the relationship leads to this object: an ID, or anything else that stands for an
  /// object.
  public static func == <Object: ObjectReferencing>(
    left: KeyPath<Root, Value>,
    right: some ObjectReferencing
  ) -> Where<Root> where Value == Object? {
    ValueExpression<Root, Object>(left) == right
  }

  /// Returns the condition that the relationship leads to another object, or to none.
  public static func != <Object: ObjectReferencing>(
    left: KeyPath<Root, Value>,
    right: some ObjectReferencing
  ) -> Where<Root> where Value == Object? {
    ValueExpression<Root, Object>(left) != right
  }

  /// Returns the condition that the object is one of these: `[jfk, lga] ~= \.origin`.
  public static func ~= <Object: ObjectReferencing>(
    objects: [some ObjectReferencing],
    keyPath: KeyPath<Root, Value>
  ) -> Where<Root> where Value == Object? {
    ValueExpression<Root, Object>(keyPath).in(objects)
  }
}

extension KeyPath where Root: PredicateRoot, Value: ObjectReferencing {
  /// Returns the condition that the relationship leads to this object.
  public static func == (left: KeyPath<Root, Value>, right: some ObjectReferencing) -> Where<Root> {
    ValueExpression<Root, Value>(left) == right
  }

  /// Returns the condition that the relationship leads to another object.
  public static func != (left: KeyPath<Root, Value>, right: some ObjectReferencing) -> Where<Root> {
    ValueExpression<Root, Value>(left) != right
  }

  /// Returns the condition that the relationship leads to one of these objects.
  public static func ~= (objects: [some ObjectReferencing], keyPath: KeyPath<Root, Value>) -> Where<Root> {
    ValueExpression<Root, Value>(keyPath).in(objects)
  }
}
