/// An element of a catalogue whose name may change while its number stays.
protocol NamedElement {
  var name: String { get }
  /// The name that the element got with its number; nil if it has this name.
  var firstName: String? { get set }
}

extension NamedElement {
  /// Notes the first name of the element of the store that this one continues.
  mutating func keepFirstName(of known: Self?) {
    let first = known.map { $0.firstName ?? $0.name }
    firstName = first == name ? nil : first
  }

  /// Returns whether two elements with one number are states of one element: both had the same name when they got
  /// the number. Two copies of a store give the same numbers to different new elements.
  func isState(of other: Self) -> Bool { firstName ?? name == other.firstName ?? other.name }
}

extension CataloguedEntity: NamedElement {}
extension CataloguedProperty: NamedElement {}
extension CataloguedClass: NamedElement {}
