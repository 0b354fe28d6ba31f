@testable import Predicates

/// An object of the oracle's for the evaluator in memory.
struct SceneSubject: PredicateSubject {
  let world: PlainWorld
  let translation: Translation
  let object: PlainObject

  func value(at path: ResolvedPath) -> AttributeValue { translation.value(plain(at: path)) }

  func elements(_ relationship: ToManyID, of owner: ResolvedPath) -> [SceneSubject] {
    world.elements(translation.plain(relationship), of: plain(at: owner)).map {
      SceneSubject(world: world, translation: translation, object: $0)
    }
  }

  /// The path starts here, whatever variable its name begins with.
  private func plain(at path: ResolvedPath) -> Plain {
    let names = path.name.split(separator: ".").map(String.init)
    return world.value(PlainScene.parts(of: names).names, of: object)
  }
}
