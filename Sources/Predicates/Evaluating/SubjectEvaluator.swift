extension SubjectCondition {
  /// Returns whether the condition holds for the subject. Values are read only as needed. A value is found in a list of
  /// n values in O(log n).
  package func matches<Subject: PredicateSubject>(_ subject: Subject) -> Bool {
    SubjectEvaluator(subject).holds(test)
  }
}

/// An evaluator of conditions over subjects, without records.
private struct SubjectEvaluator<Subject: PredicateSubject> {
  /// The start of the paths of scope 0.
  private let subject: Subject
  /// Objects that collections lead to, by the scope of the paths that start there.
  private var objects: [Int: Subject] = [:]
  /// Elements of lists, by their scope.
  private var elements: [Int: AttributeValue] = [:]

  init(_ subject: Subject) { self.subject = subject }

  private func start(of scope: Int) -> Subject? { scope == 0 ? subject : objects[scope] }

  func holds(_ test: SubjectCondition.Test) -> Bool {
    switch test {
    case .constant(let value): return value
    case .values(let path, let set): return set.contains(value(at: path).folded(by: set.folding))
    case .text(let operand, let test):
      guard case .string(let text) = value(operand) else { return false }
      return test.holds(text)
    case .among(let operand, let literals): return literals.contains(value(operand))
    case .compare(let left, let comparison, let right, let options):
      let value = value(left)
      return ValueComparison.holds(value, comparison, self.value(right), options)
    case .exists(let elements): return !forEachElement(elements) { _ in false }
    case .not(let child): return !holds(child)
    case .and(let children): return children.allSatisfy { holds($0) }
    case .or(let children): return children.contains { holds($0) }
    }
  }

  func value(_ operand: SubjectCondition.Operand) -> AttributeValue {
    switch operand {
    case .literal(let value): return value
    case .path(let path): return value(at: path)
    case .function(let function, let arguments):
      var values: [AttributeValue] = []
      for argument in arguments { values.append(value(argument)) }
      return function.value(of: values)
    case .conditional(let condition, let first, let second):
      return value(holds(condition) ? first : second)
    case .aggregate(let aggregate, let elements):
      let collection = elements.collection
      var accumulator = Accumulator()
      var known: Set<AttributeValue> = []
      _ = forEachElement(elements) { element in
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

  /// Returns the elements of a collection step. A list that can't be read has no elements. This doesn't happen, because
  /// a subject's values have been decoded before.
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
    _ collected: SubjectCondition.Elements,
    from level: Int = 0,
    _ body: (SubjectEvaluator) -> Bool
  ) -> Bool {
    let steps = collected.collection.steps
    let step = steps[level]
    for element in elements(of: step) {
      var inner = self
      switch element {
      case .object(let object): inner.objects[step.scope] = object
      case .value(let value): inner.elements[step.scope] = value
      }
      if level + 1 < steps.count {
        guard inner.forEachElement(collected, from: level + 1, body) else { return false }
      } else if inner.holds(collected.condition) {
        guard body(inner) else { return false }
      }
    }
    return true
  }
}
