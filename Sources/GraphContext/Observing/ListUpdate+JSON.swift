import Foundation

/// An operation of a JSON patch (RFC 6902) on an array.
public struct JSONPatchOperation<Value: Encodable & Sendable>: Encodable, Sendable {
  /// Kinds of operations.
  public enum Kind: String, Encodable, Sendable {
    /// Removal of an element.
    case remove
    /// Insertion of an element.
    case add
    /// Replacement of an element by another value, or of the whole array by another one.
    case replace
  }

  /// A value of the operation.
  public enum Content: Encodable, Sendable {
    /// One element.
    case element(Value)
    /// The whole array.
    case array([Value])

    /// Encodes the element or the array, without a mark that tells the two apart.
    public func encode(to encoder: any Encoder) throws {
      switch self {
      case .element(let value): try value.encode(to: encoder)
      case .array(let values): try values.encode(to: encoder)
      }
    }
  }

  /// The kind.
  public let op: Kind
  /// A JSON pointer (RFC 6901): `/3` for an element, nothing for the whole array.
  public let path: String
  /// The new value; nil for a removal.
  public let value: Content?
}

extension ListUpdate where Value: Encodable {
  /// The update as operations on a JSON array of the values, to be carried out in this order: removals from the last to
  /// the first, additions from the first to the last, then replacements. An object that moves is removed and added. O(k
  /// log k) for k changes.
  public var jsonPatchOperations: [JSONPatchOperation<Value>] {
    guard case .changes(let changes, let values) = self else {
      if case .all(let values) = self { return [.init(op: .replace, path: "", value: .array(values))] }
      return []
    }
    func operation(
      _ kind: JSONPatchOperation<Value>.Kind,
      _ position: Int,
      _ id: ManagedObjectID? = nil
    ) -> JSONPatchOperation<Value> {
      let value = id.flatMap { values[$0] }
      return .init(op: kind, path: "/\(position)", value: value.map { .element($0) })
    }
    let (removed, added, updated) = changes.steps
    return removed.reversed().map { operation(.remove, $0) }
      + added.map { operation(.add, $0.newPosition!, $0.objectID) }
      + updated.map { operation(.replace, $0.newPosition!, $0.objectID) }
  }

  /// Returns the JSON text of ``jsonPatchOperations``.
  ///
  /// - Throws: what `encoder` throws.
  public func jsonPatch(_ encoder: JSONEncoder = JSONEncoder()) throws -> Data {
    try encoder.encode(jsonPatchOperations)
  }
}
