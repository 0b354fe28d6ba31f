/// A class of the objects of an entity, as queries see it. An object's number contains the class tag, so no record is
/// read.
package struct SchemaClass: Sendable, Hashable {
  package let name: String
  /// Its own tag.
  package let tag: UInt16
  /// Its own tag and those of the classes below it.
  let tags: [UInt16]

  package init(name: String, tag: UInt16, tags: [UInt16]) {
    self.name = name
    self.tag = tag
    self.tags = tags
  }
}

extension EntitySchema {
  /// Returns a predicate that also asks for the selected classes.
  func restricting(_ predicate: ResolvedPredicate) -> ResolvedPredicate {
    guard let condition = classCondition else { return predicate }
    return predicate == .constant(true) ? condition : .and([condition, predicate])
  }

  /// Returns a predicate that also asks for the selected classes, in normal form like the given one.
  func restricting(_ predicate: NormalPredicate) -> NormalPredicate {
    guard let condition = classCondition else { return predicate }
    return Normaliser.combine([Normaliser.normalise(condition), predicate], .all)
  }

  /// The condition on a number that the object is of the class or of one below it; nil for the root and where there
  /// are no classes.
  private var classCondition: ResolvedPredicate? {
    guard let own = classes.first(where: { $0.name == name }), own.tag != 0 else { return nil }
    let path = ResolvedPath(hops: [], leaf: .objectID, isOptional: false, name: "objectID")
    return path.hasClass(in: own.tags)
  }
}

extension ResolvedPath {
  /// Returns the predicate that the path, which ends at an object, leads to one whose number has one of these class
  /// tags.
  func hasClass(in tags: [UInt16]) -> ResolvedPredicate {
    var ranges: [ClosedRange<UInt16>] = []
    for tag in tags.sorted() {
      if let last = ranges.last, last.upperBound + 1 == tag {
        ranges[ranges.count - 1] = last.lowerBound...tag
      } else {
        ranges.append(tag...tag)
      }
    }
    let conditions = ranges.map { range in
      ResolvedPredicate.within(
        self,
        ValueRange(
          lower: .init(.reference(ObjectNumber.first(ofClass: range.lowerBound)), isIncluded: true),
          upper: .init(.reference(ObjectNumber.last(ofClass: range.upperBound)), isIncluded: true)
        )
      )
    }
    return conditions.count == 1 ? conditions[0] : conditions.isEmpty ? .constant(false) : .or(conditions)
  }
}

extension ObjectNumber {
  /// Returns the least number that an object of a class can have.
  static func first(ofClass tag: UInt16) -> ObjectNumber {
    ObjectNumber(rawValue: UInt64(tag) << UInt64(sequenceBitCount) | 1)
  }

  /// Returns the greatest number that an object of a class can have.
  static func last(ofClass tag: UInt16) -> ObjectNumber {
    ObjectNumber(rawValue: UInt64(tag) << UInt64(sequenceBitCount) | greatestSequence)
  }
}
