/// An object of the oracle's.
struct PlainObject {
  var entity: String
  var number: UInt64
  var values: [String: Plain]
}

/// The objects that a predicate refers to: the fetched object, and the current elements.
struct PlainScene {
  let world: PlainWorld
  /// The fetched object is number 0, elements have the numbers of their variables.
  private var objects: [Int: PlainObject]

  init(_ world: PlainWorld, _ object: PlainObject) {
    self.world = world
    objects = [0: object]
  }

  /// The value at a path, which starts at the fetched object, or at the variable `$n` that it begins with.
  func value(_ path: [String]) -> Plain {
    let (variable, names) = PlainScene.parts(of: path)
    guard let object = objects[variable] else { return .missing }
    return world.value(names, of: object)
  }

  /// The number of the variable that a path starts from, and the names after it.
  static func parts(of path: [String]) -> (variable: Int, names: ArraySlice<String>) {
    guard path[0].first == "$" else { return (0, path[...]) }
    return (Int(path[0].dropFirst()) ?? 0, path.dropFirst())
  }

  /// Returns a scene for each element of a collection that meets the collection's condition.
  func elements(_ collection: PlainCollection) -> [PlainScene] {
    var scenes = [self]
    for step in collection.steps {
      scenes = scenes.flatMap { scene in
        scene.world.elements(step.relationship, of: scene.value(step.owner)).map { element in
          var inner = scene
          inner.objects[step.variable] = element
          return inner
        }
      }
    }
    return scenes.filter { collection.condition.holds($0) }
  }
}
