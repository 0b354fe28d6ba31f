/// The name of a value of an object's values: a property's, or that of a part of an embedded value.
struct ValuesName {
  let property: String
  /// Nil for the name of a property.
  let part: String?

  init(_ name: String) {
    if let whole = PropertyDescription.propertyName(ofPart: name) {
      (property, part) = (String(whole), String(name.dropFirst(whole.count + 1)))
    } else {
      (property, part) = (name, nil)
    }
  }

  /// The names as a path from the object.
  var path: [String] { [property] + (part.map { [$0] } ?? []) }
}

/// The names of an object's values, in their order.
struct ValuesNames {
  private let names: [ValuesName]

  init(_ names: [String]) { self.names = names.map(ValuesName.init) }

  subscript(place: Int) -> ValuesName { names[place] }

  /// Whether a value says if an embedded value is there, whose parts come next.
  func isFlag(at place: Int) -> Bool { names[place].part == nil && isPart(place + 1, of: place) }

  /// Whether a value is the first one of an embedded value: its flag, or the first part of one that can't be nil.
  func beginsEmbedded(at place: Int) -> Bool {
    isFlag(at: place) || names[place].part != nil && !isPart(place, of: place - 1)
  }

  /// The places of the parts of the embedded value whose flag is at a place.
  func parts(ofFlagAt place: Int) -> Range<Int> {
    place + 1..<((place + 1..<names.count).first { !isPart($0, of: place) } ?? names.count)
  }

  /// Whether a value is a part of the embedded value that another one belongs to.
  private func isPart(_ place: Int, of other: Int) -> Bool {
    guard names.indices.contains(place), names.indices.contains(other) else { return false }
    return names[place].part != nil && names[place].property == names[other].property
  }
}
