import SwiftDiagnostics
import SwiftSyntax

/// A mistake in the use of a macro.
struct ModelDiagnostic: DiagnosticMessage {
  let id: String
  let message: String

  var diagnosticID: MessageID { MessageID(domain: "Cambium", id: id) }
  var severity: DiagnosticSeverity { .error }

  /// Returns the mistake at a node, with fix-its.
  func at(_ node: some SyntaxProtocol, fixIts: FixIt?...) -> Diagnostic { at(node, fixIts: fixIts) }

  func at(_ node: some SyntaxProtocol, fixIts: [FixIt?]) -> Diagnostic {
    Diagnostic(node: Syntax(node), message: self, fixIts: fixIts.compactMap(\.self))
  }
}

extension ModelDiagnostic {
  // MARK: Properties

  /// - Parameter name: as written, between backticks.
  static func rawName(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "rawName",
      message: "\(name) can't be stored: the name of what is stored has letters, digits and '_', "
        + "and begins with no digit"
    )
  }

  static func constant(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "constant",
      message: "'\(name)' must be a 'var': its value is read from the store after the object was made; "
        + "'private(set) var' keeps others from changing it"
    )
  }

  static func missingType(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "missingType", message: "'\(name)' needs a type: a macro can't see what is inferred")
  }

  static let severalVariables = ModelDiagnostic(
    id: "severalVariables",
    message: "each property of a model needs a 'var' of its own"
  )

  static func modifier(_ modifier: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "modifier", message: "a property of a model can't be '\(modifier)'")
  }

  static func foreignAttribute(_ attribute: String, on name: String) -> ModelDiagnostic {
    let reason =
      attribute == "@MainActor"
      ? "an object is used where its context is, on any actor"
      : "a model stores its properties itself, without property wrappers or other macros"
    return ModelDiagnostic(
      id: "foreignAttribute",
      message: "'\(name)' can't be '\(attribute)': \(reason)"
    )
  }

  static let twoInitialValues = ModelDiagnostic(
    id: "twoInitialValues",
    message: "'.perInsert' makes the first value; the declaration can't give another"
  )

  static let transformation = ModelDiagnostic(
    id: "transformation",
    message: "a transformed attribute names the type that is stored, and two closures: "
      + "'.transformed(as: String.self, to: { $0.text }, from: { Color($0) })'"
  )

  static let externalAndTransformed = ModelDiagnostic(
    id: "externalAndTransformed",
    message: "a transformed value can't be stored externally"
  )

  static let derivation = ModelDiagnostic(
    id: "derivation",
    message:
      "a rule is a string literal like \"songs.@count\", \"songs.@sum.seconds\", \"songs.@min.seconds\", \"songs.@max.seconds\" or \"title[cd]\""
  )

  static let derivedValue = ModelDiagnostic(
    id: "derivedValue",
    message: "the store makes the value of a derived attribute; the declaration can't give one"
  )

  static func derivedAnd(_ option: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "derivedAnd",
      message: "'.\(option)' has no meaning for a derived attribute: the store makes its value"
    )
  }

  static let transientWithoutValue = ModelDiagnostic(
    id: "transientWithoutValue",
    message: "a transient property needs an initial value: an object that is read from the store has no other"
  )

  static func transientAndStored(_ attribute: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "transientAndStored",
      message: "a transient property is not stored: '\(attribute)' has no meaning for it"
    )
  }

  static let observer = ModelDiagnostic(
    id: "observer",
    message: "a property of a model can't have 'willSet' or 'didSet': its values come from the store"
  )

  static let conditional = ModelDiagnostic(
    id: "conditional",
    message: "stored properties and indexes can't depend on '#if': the schema would depend on it too"
  )

  static func taken(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "taken",
      message: "'\(name)' is a member of every model; the property needs another name"
    )
  }

  static func unsupported(_ type: String, _ hint: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "unsupported", message: "'\(type)' can't be stored: \(hint)")
  }

  static func unmarkedCollection(_ type: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "unmarkedCollection",
      message:
        "mark '\(type)' with '@Relationship' if its elements are models, and with '@Attribute' if they are values"
    )
  }

  static func relationshipToValues(_ type: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "relationshipToValues",
      message:
        "a relationship leads to models, and the elements of '\(type)' are values: remove '@Relationship'"
    )
  }

  static let attributeAndRelationship = ModelDiagnostic(
    id: "attributeAndRelationship",
    message: "a property is an '@Attribute' or a '@Relationship', not both"
  )

  static let orderedSet = ModelDiagnostic(
    id: "orderedSet",
    message: "a set has no order: an ordered relationship is an array or an 'OrderedToMany'"
  )

  static let recordsOfNoEntity = ModelDiagnostic(
    id: "recordsOfNoEntity",
    message:
      "a relationship to records names their entity, as in '@Relationship(to: \"Note\", inverse: \"song\")'"
  )

  static let entityOfNoRecords = ModelDiagnostic(
    id: "entityOfNoRecords",
    message: """
      a relationship to an entity without a class has the type 'ManagedRecord?', 'ManagedRecord' or \
      '[ManagedRecord]'
      """
  )

  static let countOfToOne = ModelDiagnostic(
    id: "countOfToOne",
    message:
      "only a to-many relationship has a count; a to-one relationship whose type isn't optional is required"
  )

  static let optionalToMany = ModelDiagnostic(
    id: "optionalToMany",
    message: "a to-many relationship is empty, never nil: its type can't be optional"
  )

  // MARK: Arguments

  static let unknownOption = ModelDiagnostic(
    id: "unknownOption",
    message:
      "'@Attribute' takes '.unique', '.min(…)', '.max(…)', '.length(…)', '.pattern(…)', '.perInsert { … }', "
      + "'.derived(…)', '.transformed(…)', '.externalStorage' and '.preserveValueOnDeletion'"
  )

  static func foreignOption(_ name: String, _ hint: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "foreignOption", message: "there is no '.\(name)' here: \(hint)")
  }

  static func repeatedOption(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "repeatedOption", message: "'.\(name)' is given twice")
  }

  static func repeatedMark(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "repeatedMark", message: "a property has one '@\(name)', with all that it says")
  }

  static let uniqueList = ModelDiagnostic(
    id: "uniqueList",
    message: "a list can't be unique: only a single value of an object can be"
  )

  static func unorderedRule(_ name: String, _ type: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "unorderedRule",
      message: "'.\(name)' is for values with an order, and those of '\(type)' have none"
    )
  }

  static func ruleOfText(_ name: String, _ types: String, _ type: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "ruleOfText", message: "'.\(name)' is for \(types), not for '\(type)'")
  }

  static func emptyRule(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "emptyRule",
      message: name == "length"
        ? "no length is in this range" : "no value is at least the minimum and at most the maximum"
    )
  }

  static func pattern(_ mistake: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "pattern", message: "this is no regular expression: \(mistake)")
  }

  static let noAction = ModelDiagnostic(
    id: "noAction",
    message: "there is no '.noAction': no object can lead to a deleted one. '.nullify' keeps the others"
  )

  static func unknownRule(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "unknownRule",
      message: "there is no delete rule '.\(name)'; there are '.nullify', '.cascade' and '.deny'"
    )
  }

  static let emptyCount = ModelDiagnostic(
    id: "emptyCount",
    message: "the maximum is less than the minimum: no object could be saved"
  )

  static func inverseOfAnother(_ model: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "inverseOfAnother",
      message: "the inverse is a property of '\(model)', which the relationship leads to"
    )
  }

  static func relationshipToValue(_ type: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "relationshipToValue",
      message: "a relationship leads to a model, and '\(type)' is a value: remove '@Relationship'"
    )
  }

  static let externalType = ModelDiagnostic(
    id: "externalType",
    message: "external storage is for 'Data' and 'String', which can be optional"
  )

  static let externalAndUnique = ModelDiagnostic(
    id: "externalAndUnique",
    message: "a value that is stored externally isn't compared with others, so it can't be unique"
  )

  static let externalAndPreserved = ModelDiagnostic(
    id: "externalAndPreserved",
    message: "the history keeps no value that is stored externally"
  )

  static func hook(_ name: String, _ declaration: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "hook",
      message: "'\(name)' is the name of a hook, which must be declared '\(declaration)'"
    )
  }

  static func conditionalHook(_ name: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "conditionalHook",
      message: "subclasses override '\(name)', so it can't depend on '#if': write the '#if' into its body"
    )
  }

  static let inverse = ModelDiagnostic(
    id: "inverse",
    message:
      "the inverse must be written as a key path to one property, such as '\\Album.songs', or as '.itself' or '.hidden'"
  )

  static let originalNameForm = ModelDiagnostic(
    id: "originalNameForm",
    message: "the original name must be written as a string literal, such as '\"title\"'"
  )

  static func notAName(_ name: String, of what: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "notAName", message: "no \(what) can have had the name '\(name)'")
  }

  static func notAProperty(_ name: String, of model: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "notAProperty", message: "'\(name)' is not a stored property of '\(model)'")
  }

  static func notOwnProperty(_ name: String, of model: String) -> ModelDiagnostic {
    ModelDiagnostic(
      id: "notOwnProperty",
      message:
        "'\(name)' is not a stored property that '\(model)' declares itself; what it inherits is not persistent"
    )
  }

  // MARK: Places

  static func outsideAModel(_ macro: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "outsideAModel", message: "'\(macro)' has a meaning only in a class marked '@Model'")
  }

  static func notStored(_ macro: String) -> ModelDiagnostic {
    ModelDiagnostic(id: "notStored", message: "'\(macro)' can only be attached to a stored property")
  }
}

/// The message of a fix-it, as the editor shows it.
private struct FixMessage: FixItMessage {
  let message: String
  var fixItID: MessageID { MessageID(domain: "Cambium", id: "fix") }
}

extension FixIt {
  /// Replaces one node by another.
  static func replacing(_ old: some SyntaxProtocol, by new: some SyntaxProtocol, _ message: String) -> FixIt {
    FixIt(
      message: FixMessage(message: message),
      changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))]
    )
  }
}
