import Foundation
import Predicates

extension ManagedObject {
  /// Returns the bytes of an attribute, to be read in parts; nil for nil. A value that the store keeps outside of
  /// the object's record isn't read, nor kept by the object.
  ///
  /// - Throws: `query` for a key path that isn't one attribute of the object itself; what the store says when the
  ///   object can't be read.
  public func blob<Value: AttributeType>(
    _ attribute: KeyPath<Self, Value>
  ) throws(ContextError) -> Blob? where Value._Present == Data {
    try blob(at: slot(of: attribute))
  }

  /// Returns the UTF-8 of an attribute, to be read in parts; nil for nil. A value that the store keeps outside of
  /// the object's record isn't read, nor kept by the object.
  ///
  /// - Throws: `query` for a key path that isn't one attribute of the object itself; what the store says when the
  ///   object can't be read.
  public func blob<Value: AttributeType>(
    _ attribute: KeyPath<Self, Value>
  ) throws(ContextError) -> Blob? where Value._Present == String {
    try blob(at: slot(of: attribute))
  }

  private func slot(of attribute: PartialKeyPath<Self>) throws(ContextError) -> Int {
    let names = try ContextError.resolving { () throws(QueryError) in try Self.predicatePath(of: attribute) }
    guard names.count == 1, let slot = _$objectModel.place(of: names[0]) else {
      let name = names.joined(separator: ".")
      throw ContextError(
        QueryError(.keyPath, "\(name) is no attribute of \(Self.entityName) itself", keyPath: name)
      )
    }
    return slot
  }

  /// - Parameter slot: the slot of an attribute whose values are strings or data.
  func blob(at slot: Int) throws(ContextError) -> Blob? {
    noteReading(.slot(slot))
    if !_$state.isLoaded(slot), let context {
      let record = findRecord()
      try context.checkUsable()
      if let record { return try context.blob(at: slot, of: self, record) }
    }
    return switch attributeValue(at: slot) {
    case .string(let text): Blob(LoadedBlob(bytes: Data(text.utf8)))
    case .data(let data): Blob(LoadedBlob(bytes: data))
    default: nil
    }
  }
}

extension ManagedRecord {
  /// Returns the bytes of an attribute, or the UTF-8 of a string, as a blob that can be read in parts; nil for nil.
  ///
  /// - Throws: `unknownProperty` when the entity has no attribute of this name; `wrongValue` when its values are
  ///   neither strings nor data; the store's error when the record can't be read.
  public func blob(_ name: String) throws(ContextError) -> Blob? {
    let slot = try attributeSlot(name)
    let kind = _$objectModel.layout.fields[slot].kind
    guard kind.inline == .string || kind.inline == .data else {
      throw error(.wrongValue, name, "has values of the kind \(kind), which aren't read in parts")
    }
    return try blob(at: slot)
  }
}

extension ManagedObjectContext {
  fileprivate func blob(
    at slot: Int,
    of object: any ManagedObject,
    _ record: UnsafeRawBufferPointer
  ) throws(ContextError) -> Blob? {
    let entity = entity(of: object)
    let view = RecordView(validated: record, layout: entity.layout)
    if let reference = view.externalReference(slot) {
      return Blob(try source.contents(of: reference, at: slot, of: entity))
    }
    return switch try source.value(of: view, at: slot, entity) {
    case .string(let text): Blob(LoadedBlob(bytes: Data(text.utf8)))
    case .data(let data): Blob(LoadedBlob(bytes: data))
    default: nil
    }
  }
}
