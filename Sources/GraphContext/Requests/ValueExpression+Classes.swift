import Predicates

extension ValueExpression where Value: ManagedObject {
  /// Returns the condition that the object is one of a class, or of a class below it:
  /// `{ $0.pet.isKind(of: Dog.self) }`. False where there is no object. The condition reads no record of the object.
  public func isKind<Kind: ManagedObject>(of model: Kind.Type) -> Where<Root> {
    isKind(ofClass: model.entityName)
  }
}
