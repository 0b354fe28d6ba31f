import Predicates

extension ModelValues {
  public static func == (left: Self, right: Self) -> Bool {
    left.objectID == right.objectID && left.list == right.list
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(objectID)
    hasher.combine(list)
  }

  /// Returns the names of the properties that have other values here than there, in the order of their declaration,
  /// without `objectID`. O(size of the values).
  public func differences(from other: Self) -> [String] {
    zip(Self._$names, zip(list, other.list)).compactMap { name, values in
      values.0 == values.1 ? nil : name
    }
  }

  /// The values, in the order of the names.
  var list: [ListedValue] {
    var lister = ValuesLister()
    _$visit(&lister)
    return lister.list
  }
}

/// A value among others of its object.
struct ListedValue {
  let value: ColumnValue
  /// The value itself, if it is stored as its own JSON and is `Equatable`: equal sets needn't have equal JSON.
  fileprivate var coded: (any Equatable)?
}

extension ListedValue: Hashable {
  static func == (left: ListedValue, right: ListedValue) -> Bool {
    guard let first = left.coded, let second = right.coded else { return left.value == right.value }
    func isSecond<Value: Equatable>(_ value: Value) -> Bool { second as? Value == value }
    return isSecond(first)
  }

  func hash(into hasher: inout Hasher) { if coded == nil { hasher.combine(value) } }
}

private struct ValuesLister: ValuesVisitor {
  var list: [ListedValue] = []

  mutating func visit<Value: AttributeType>(attribute value: Value) {
    let stored = value._attributeValue
    let isCoded = Value._attributeKind == .coded && Value._elementKind == nil && !stored.isNull
    list.append(
      ListedValue(value: .attribute(stored), coded: isCoded ? value as? any Equatable : nil)
    )
  }

  mutating func visit(toOne id: ManagedObjectID?) { list.append(ListedValue(value: .object(id))) }
}
