/// The name of a value of an object's values: a property's, or that of a part of an embedded value.
struct ValuesName {
  /// The names as a path from the object.
  let path: [String]

  init(_ name: String) { path = name.split(separator: ".").map(String.init) }

  var property: String { path[0] }
  /// The names of the embedded values that the part is in, from that of the property on. Empty for the name of a
  /// property.
  var owners: ArraySlice<String> { path.dropLast() }
  var last: String { path[path.count - 1] }
  var isPart: Bool { path.count > 1 }
}

/// The names of an object's values, in their order.
struct ValuesNames {
  private let names: [ValuesName]

  init(_ names: [String]) { self.names = names.map(ValuesName.init) }

  subscript(place: Int) -> ValuesName { names[place] }

  /// Returns whether a value is the flag of an embedded value, whose parts come next.
  func isFlag(at place: Int) -> Bool { !names[place].isPart && isPart(place + 1, of: place) }

  /// Returns whether a value is the first one of an embedded value: its flag, or the first part of one that can't be
  /// nil.
  func beginsEmbedded(at place: Int) -> Bool {
    isFlag(at: place) || names[place].isPart && !isPart(place, of: place - 1)
  }

  /// Returns the places of the parts of the embedded value whose flag is at a place.
  func parts(ofFlagAt place: Int) -> Range<Int> {
    place + 1..<((place + 1..<names.count).first { !isPart($0, of: place) } ?? names.count)
  }

  /// Returns whether a value is a part of the embedded value that another one belongs to.
  private func isPart(_ place: Int, of other: Int) -> Bool {
    guard names.indices.contains(place), names.indices.contains(other) else { return false }
    return names[place].isPart && names[place].property == names[other].property
  }
}
