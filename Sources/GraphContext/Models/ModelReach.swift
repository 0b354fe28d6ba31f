import Predicates
import Synchronization

/// The models that a model's relationships lead to, found from the class alone.
enum ModelReach {
  private static let known = Mutex<[ObjectIdentifier: Schema]>([:])

  /// Returns the schema of the model and of all that its relationships lead to. The schema is worked out once for each
  /// model.
  ///
  /// - Throws: `QueryError` where these models make no valid schema.
  static func schema(of root: (some ManagedObject).Type) throws(QueryError) -> Schema {
    let key = ObjectIdentifier(root)
    if let schema = known.withLock({ $0[key] }) { return schema }
    do throws(SchemaError) {
      let schema = try Schema(models(from: root)).withClasses
      known.withLock { $0[key] = schema }
      return schema
    } catch {
      throw QueryError(.unknownName, "\(root.entityName) and the models it leads to make no schema: \(error)")
    }
  }

  private static func models(from root: any ManagedObject.Type) -> [any ManagedObject.Type] {
    var found = [root]
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(root)]
    var next = 0
    while next < found.count {
      for target in found[next].relatedModels where seen.insert(ObjectIdentifier(target)).inserted {
        found.append(target)
      }
      next += 1
    }
    return found
  }
}

extension ManagedObject {
  /// The models at the other ends of the relationships. A relationship's description has only a name, but an object's
  /// cache has the type. So an object is made, and released again.
  fileprivate static var relatedModels: [any ManagedObject.Type] {
    _$model.types(or: self).flatMap { $0.ownRelatedModels }
  }

  private static var ownRelatedModels: [any ManagedObject.Type] {
    var collector = TargetCollector()
    withSample { sample in
      for property in Self._$model.relationshipProperties { sample._$visit(property, &collector) }
    }
    // Records belong to entities without classes. A class alone can't find these.
    return collector.targets.filter { $0 != ManagedRecord.self }
  }
}

private struct TargetCollector: PropertyVisitor {
  var targets: [any ManagedObject.Type] = []

  mutating func visit<Value: AttributeType>(attribute slot: Int, _ cache: inout Cached<Value>) {}
  mutating func visit<Target: ManagedObject>(toOne slot: Int, _ cache: inout ToOneReference<Target>) {
    targets.append(Target.self)
  }
  mutating func visit<Target: ManagedObject>(toMany ordinal: Int, _ cache: inout ToManyMembers<Target>) {
    targets.append(Target.self)
  }
}
