extension ModelDiagnostic {
  // MARK: Embedded values

  static let embeddableForm = ModelDiagnostic(
    id: "embeddableForm",
    message: "'@Embeddable' can only be attached to a struct without generic parameters"
  )

  static func embeddedAndOther(_ other: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "embeddedAndOther",
      message: "an embedded value is several attributes: '\(other)' belongs to the properties of its struct"
    )
  }

  static func embeddedType(_ type: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "embeddedType",
      message:
        "'\(type)' can't be embedded: an embedded value is a struct marked '@Embeddable', or an optional of one"
    )
  }

  static func embeddedInIndex(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "embeddedInIndex",
      message: "'\(name)' is several attributes: an index names one of them, as in '\\.\(name).city'"
    )
  }

  static let partKind = ModelDiagnostic(
    id: "partKind",
    message:
      "a part of an embedded value is an attribute, without '.unique', '.externalStorage', '.perInsert', '.derived' and '.transformed', or another embedded value"
  )

  static func optionalInEmbedded(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "optionalInEmbedded",
      message:
        "'\(name)' is embedded in an embedded value and can't be nil; make its parts optional, or embed it in the model"
    )
  }

  static let noParts = ModelDiagnostic(
    id: "noParts",
    message: "an embedded value has at least one stored property"
  )
}
