import Predicates

extension ValueExpression where Value: ManagedObject {
  /// Whether the object is one of a class, or of one below it: `{ $0.pet.isKind(of: Dog.self) }`. False where there is
  /// no object. No record of the object is read for it.
  public func isKind<Kind: ManagedObject>(of model: Kind.Type) -> Where<Root> {
    isKind(ofClass: model.entityName)
  }
}
