extension ModelDiagnostic {
  // MARK: Indexes

  static func computedInIndex(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "computedInIndex",
      message: "'\(name)' is computed; an index has stored properties"
    )
  }

  static func toManyInIndex(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "toManyInIndex",
      message: "'\(name)' is a to-many relationship; an index has values of the object itself"
    )
  }

  static func externalInIndex(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "externalInIndex",
      message: "'\(name)' is stored externally, and such values aren't compared; no index has them"
    )
  }

  static func listInIndex(_ name: String, isUnique: Bool) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "listInIndex",
      message: isUnique
        ? "'\(name)' is a list, and lists can't be unique"
        : "'\(name)' is a list, which must be the first property of its index"
    )
  }

  static func emptyIndex(_ macro: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "emptyIndex",
      message: "'#\(macro)' needs an array of key paths, such as '[\\.title]'"
    )
  }

  static func indexWithoutModel(_ macro: String, _ model: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "indexWithoutModel",
      message: "'#\(macro)' needs the model's name: '#\(macro)<\(model)>'"
    )
  }

  static let indexForm = ModelDiagnostic(
    id: "indexForm",
    message: "each index must be written as an array of key paths to one property each, "
      + "such as '[\\.title, \\.year]'"
  )

  static func repeatedIndex(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "repeatedIndex",
      message: "there is an index over \(name) already; a unique one serves queries too"
    )
  }

  static func repeatedInIndex(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "repeatedInIndex", message: "'\(name)' is in this index twice")
  }

  static func indexOfAnother(_ other: String, in model: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "indexOfAnother", message: "an index in '\(model)' can't be an index of '\(other)'")
  }
}
