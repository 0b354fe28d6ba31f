import Predicates

extension CataloguedEntity {
  /// The reason why the library can't have written these classes; nil if it can have written them. O(classes and
  /// their properties).
  var classProblem: String? {
    if classes.isEmpty { return nil }
    if classes.count > SchemaLimits.classCount { return "\(name) has \(classes.count) classes" }
    var owners: Set<PropertyNumber> = []
    for (place, member) in classes.enumerated() {
      guard Int(member.tag) == place else { return "a class of \(name) has a wrong tag" }
      guard
        place == 0
          ? member.parent == nil && member.name == name : member.parent.map(Int.init) ?? place < place
      else { return "the class \(member.name) of \(name) has a wrong superclass" }
      guard member.properties.allSatisfy({ owners.insert($0).inserted && property($0) != nil }) else {
        return "the class \(member.name) of \(name) has a property that isn't its own"
      }
      guard Set(member.required).isSubset(of: member.properties),
        member.required.allSatisfy({ property($0)?.storedKind != nil })
      else { return "the class \(member.name) of \(name) requires a property that it can't require" }
    }
    return Set(classes.map(\.name)).count == classes.count ? nil : "\(name) has two classes of one name"
  }
}
