/// Something that has values at paths: an object in memory, a row of plain values.
package protocol PredicateSubject {
  /// The value at the path, which starts here whatever its scope; `null` where it, or an object on the way, is missing.
  func value(at path: ResolvedPath) -> AttributeValue
  /// The objects that a to-many relationship leads to, from the owner at the path; in the order of their IDs.
  func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [Self]
}

extension ResolvedPredicate {
  /// Returns whether the predicate holds for the subject. Values are read in the order of the predicate and
  /// only as needed.
  package func matches<Subject: PredicateSubject>(_ subject: Subject) -> Bool {
    SubjectEvaluator(subject).holds(self)
  }
}

extension NormalPredicate {
  /// Returns whether the predicate holds for the subject. A value is found in a list of n values in O(log n).
  package func matches<Subject: PredicateSubject>(_ subject: Subject) -> Bool {
    SubjectEvaluator(subject).holds(self)
  }
}

/// Evaluates predicates over subjects, without records.
private struct SubjectEvaluator<Subject: PredicateSubject> {
  /// The start of the paths of scope 0.
  private let subject: Subject
  /// Objects that collections lead to, by the scope of the paths that start there.
  private var objects: [Int: Subject] = [:]
  /// Elements of lists, by their scope.
  private var elements: [Int: AttributeValue] = [:]

  init(_ subject: Subject) { self.subject = subject }

  private func start(of scope: Int) -> Subject? { scope == 0 ? subject : objects[scope] }

  func holds(_ predicate: NormalPredicate) -> Bool {
    switch predicate {
    case .constant(let value): value
    case .values(let path, let set): set.contains(value(at: path).folded(by: set.folding))
    case .test(let test, let isNegated): holds(test) != isNegated
    case .and(let children): children.allSatisfy { holds($0) }
    case .or(let children): children.contains { holds($0) }
    }
  }

  func holds(_ predicate: ResolvedPredicate) -> Bool {
    switch predicate {
    case .constant(let value):
      return value
    case .isNull(let path):
      return value(at: path).isNull
    case .compare(let path, let comparison, let literal, let options):
      return ValueComparison.holds(value(at: path), comparison, literal, options)
    case .comparePaths(let left, let comparison, let right, let options):
      let value = value(at: left)
      return ValueComparison.holds(value, comparison, self.value(at: right), options)
    case .among(let path, let values, let includesNull, let options):
      let value = value(at: path)
      if value.isNull { return includesNull }
      return values.contains { ValueComparison.areEqual(value, $0, options) }
    case .within(let path, let range):
      return ValueComparison.contains(range, value(at: path))
    case .compareValues(let left, let comparison, let right, let options):
      let value = value(left)
      return ValueComparison.holds(value, comparison, self.value(right), options)
    case .exists(let collection):
      return !forEachElement(collection) { _ in false }
    case .not(let child):
      return !holds(child)
    case .and(let children):
      for child in children where !holds(child) { return false }
      return true
    case .or(let children):
      for child in children where holds(child) { return true }
      return false
    }
  }

  func value(_ expression: ResolvedExpression) -> AttributeValue {
    switch expression {
    case .literal(let value): return value
    case .path(let path): return value(at: path)
    case .function(let function, let arguments):
      var values: [AttributeValue] = []
      for argument in arguments { values.append(value(argument)) }
      return function.value(of: values)
    case .conditional(let condition, let first, let second):
      return value(holds(condition) ? first : second)
    case .aggregate(let aggregate, let collection):
      var accumulator = Accumulator()
      var known: Set<AttributeValue> = []
      _ = forEachElement(collection) { element in
        let value = element.elementValue(of: collection)
        if collection.isDistinct, !known.insert(value).inserted { return true }
        if collection.countsElements(aggregate) {
          accumulator.countValue()
        } else {
          accumulator.add(value, to: aggregate)
        }
        return !accumulator.isComplete(aggregate)
      }
      return accumulator.value(of: aggregate, collection.value?.kind ?? .reference)
    }
  }

  private func value(at path: ResolvedPath) -> AttributeValue {
    if let element = elements[path.scope] { return element }
    return start(of: path.scope)?.value(at: path) ?? .null
  }

  private func elementValue(of collection: ResolvedCollection) -> AttributeValue {
    let scope = collection.steps[collection.steps.count - 1].scope
    let element = ResolvedPath(scope: scope, hops: [], leaf: .objectID, isOptional: false, name: "SELF")
    return value(at: collection.value ?? element)
  }

  private enum Element {
    case object(Subject)
    case value(AttributeValue)
  }

  /// A list that can't be read has no elements. This doesn't happen, because a subject's values have been
  /// decoded before.
  private func elements(of step: ResolvedCollection.Step) -> [Element] {
    switch step.elements {
    case .objects(let relationship, _):
      return (start(of: step.owner.scope)?.elements(relationship, of: step.owner) ?? []).map(
        Element.object
      )
    case .values(let kind):
      guard case .string(let json) = value(at: step.owner) else { return [] }
      return ((try? ListElements.values(of: json, kind)) ?? []).map(Element.value)
    }
  }

  /// Calls `body` in the scope of each element that counts, until `body` returns false. Returns false if `body`
  /// did.
  private func forEachElement(
    _ collection: ResolvedCollection,
    from level: Int = 0,
    _ body: (SubjectEvaluator) -> Bool
  ) -> Bool {
    let step = collection.steps[level]
    for element in elements(of: step) {
      var inner = self
      switch element {
      case .object(let object): inner.objects[step.scope] = object
      case .value(let value): inner.elements[step.scope] = value
      }
      if level + 1 < collection.steps.count {
        guard inner.forEachElement(collection, from: level + 1, body) else { return false }
      } else if inner.holds(collection.condition) {
        guard body(inner) else { return false }
      }
    }
    return true
  }
}
