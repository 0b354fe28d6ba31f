// Conditions on strings by key path, for attributes that may be nil and for those that may not.

extension KeyPath where Root: PredicateRoot, Value == String {
  /// Returns the condition that the string begins with another: `(\Song.title).hasPrefix("Ca")`.
  public func hasPrefix(_ prefix: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).hasPrefix(prefix, options)
  }

  /// Returns the condition that the string ends with another: `(\Song.title).hasSuffix("ey")`.
  public func hasSuffix(_ suffix: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).hasSuffix(suffix, options)
  }

  /// Returns the condition that the string contains another: `(\Song.title).contains("are")`.
  public func contains(_ part: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).contains(part, options)
  }

  /// See ``ValueExpression/like(_:_:)``.
  public func like(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).like(pattern, options)
  }

  /// See ``ValueExpression/matches(_:_:)``.
  public func matches(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).matches(pattern, options)
  }

  /// See ``ValueExpression/localizedStandardContains(_:)``.
  public func localizedStandardContains(_ part: String?) -> Where<Root> {
    ValueExpression<Root, String>(self).localizedStandardContains(part)
  }
}

extension KeyPath where Root: PredicateRoot, Value == String? {
  /// Returns the condition that the string begins with another: `(\Song.title).hasPrefix("Ca")`.
  public func hasPrefix(_ prefix: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).hasPrefix(prefix, options)
  }

  /// Returns the condition that the string ends with another: `(\Song.title).hasSuffix("ey")`.
  public func hasSuffix(_ suffix: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).hasSuffix(suffix, options)
  }

  /// Returns the condition that the string contains another: `(\Song.title).contains("are")`.
  public func contains(_ part: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).contains(part, options)
  }

  /// See ``ValueExpression/like(_:_:)``.
  public func like(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).like(pattern, options)
  }

  /// See ``ValueExpression/matches(_:_:)``.
  public func matches(_ pattern: String?, _ options: StringOptions = []) -> Where<Root> {
    ValueExpression<Root, String>(self).matches(pattern, options)
  }

  /// See ``ValueExpression/localizedStandardContains(_:)``.
  public func localizedStandardContains(_ part: String?) -> Where<Root> {
    ValueExpression<Root, String>(self).localizedStandardContains(part)
  }
}
