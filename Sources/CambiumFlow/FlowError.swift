import GraphContext

/// An error of saving, deleting and following values.
public enum FlowError: Error, Sendable {
  /// The container can't be loaded, or configured.
  case container(any Error)
  /// The request can't be answered.
  case request(any Error)
  /// The changes can't be saved; ``ObjectGone`` where the object of the value was deleted meanwhile.
  case saving(any Error)
  /// The ID of the value is that of an object of another model.
  case unexpectedType(ManagedObjectID)
  /// The container was made without the model of this name.
  case unknownEntity(String)
  /// The value can't be made of its object, or written into it.
  case value(any Error)
}

/// The object of a value that is saved doesn't exist any more.
public struct ObjectGone: Error, Hashable {
  /// The object.
  public let objectID: ManagedObjectID
}

extension FlowError: Equatable {
  /// Returns whether the errors are of one case and have equal contents.
  public static func == (left: FlowError, right: FlowError) -> Bool {
    switch (left, right) {
    case (.container(let left), .container(let right)), (.request(let left), .request(let right)),
      (.saving(let left), .saving(let right)), (.value(let left), .value(let right)):
      String(reflecting: left) == String(reflecting: right)
    case (.unexpectedType(let left), .unexpectedType(let right)): left == right
    case (.unknownEntity(let left), .unknownEntity(let right)): left == right
    default: false
    }
  }
}
