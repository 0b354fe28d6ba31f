extension ModelDiagnostic {
  // MARK: Classes

  static let notAClass = ModelDiagnostic(id: "notAClass", message: "'@Model' can only be attached to a class")

  static func notFinal(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "notFinal",
      message:
        "'\(name)' must be final, or name the models that inherit from it: '@Model(subclasses: [\"…\"])'"
    )
  }

  static func hasLocalScope(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "hasLocalScope",
      message: "'\(name)' can't be a model in a function: move the class out of the function"
    )
  }

  static func privateInside(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "privateInside",
      message: "a model in another type can't be private: '\(name)' can be fileprivate"
    )
  }

  static func storageTaken(_ name: String, _ property: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "storageTaken",
      message: "'\(name)' is where the model stores '\(property)'; one of the two needs another name"
    )
  }

  static let generic = ModelDiagnostic(
    id: "generic",
    message: "a model can't be generic: an entity is one class"
  )

  static let noClassName = ModelDiagnostic(
    id: "noClassName",
    message: "the names of classes must be string literals: the macro can't see other values"
  )

  static func otherSuperclass(_ name: String, _ superclass: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "otherSuperclass",
      message:
        "'\(name)' doesn't inherit from '\(superclass)': 'superclass' names the class that it inherits from"
    )
  }

  static func unnamedSuperclass(_ name: String, _ superclass: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "unnamedSuperclass",
      message: "'\(name)' inherits from a model and must name it: '@Model(superclass: \"\(superclass)\")'"
    )
  }

  static func noInitializer(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "noInitializer",
      message: "'\(name)' needs an initializer: no object of it can be made without one"
    )
  }

  static func tooMany(_ count: Int, limit: Int) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "tooMany",
      message: "\(count) attributes and to-one relationships; a model can have \(limit). "
        + "Move some to a model of their own and relate the two"
    )
  }
}
