// Mistakes in a relationship's order and links.

extension ModelDiagnostic {
  static let orderedItself = ModelDiagnostic(
    id: "orderedItself",
    message: "a relationship that is its own inverse can't be ordered"
  )

  static let linksForm = ModelDiagnostic(
    id: "linksForm",
    message: "the links must be written as a key path to one property, such as '\\Band.memberships'"
  )

  static let linkTargetForm = ModelDiagnostic(
    id: "linkTargetForm",
    message:
      "what a link leads to must be written as a key path to one property, such as '\\Membership.person'"
  )

  static let linkedType = ModelDiagnostic(
    id: "linkedType",
    message: "links lead to many objects: the type is an array or a set of a model"
  )

  static let linkedValue = ModelDiagnostic(
    id: "linkedValue",
    message: "a property that stands for the objects behind links can't have an initial value"
  )

  static func linkedAndStored(_ mark: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "linkedAndStored",
      message:
        "a property that stands for the objects behind links isn't stored itself: it takes no '\(mark)'"
    )
  }

  static let unmarkedOrder = ModelDiagnostic(
    id: "unmarkedOrder",
    message: "an 'OrderedToMany' is for a relationship that is marked as ordered"
  )
}
