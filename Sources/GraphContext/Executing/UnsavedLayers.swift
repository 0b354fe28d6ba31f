import Predicates

/// The unsaved changes of a stack of contexts, which queries see in place of a store's state: the changes of a
/// context take precedence over those of its parent.
final class UnsavedLayers {
  /// The contexts, the lowest first.
  private let contexts: [ManagedObjectContext]

  private init(_ contexts: [ManagedObjectContext]) { self.contexts = contexts }

  /// Makes the changes of one context.
  convenience init(of context: ManagedObjectContext) { self.init([context]) }

  /// Returns these layers on top of the changes of another context; `layers` may be nil for none.
  static func stack(_ layers: UnsavedLayers?, on parent: ManagedObjectContext) -> UnsavedLayers {
    UnsavedLayers([parent] + (layers?.contexts ?? []))
  }

  /// True if any object has changes; links between unchanged objects don't count. O(entities).
  var hasChangedObjects: Bool {
    contexts.contains { context in context.entities.contains { !$0.changes.isEmpty } }
  }

  /// Returns the unsaved records of an entity, up to date; nil for none.
  func records(of entity: StoredEntity) -> UnsavedRecords? {
    UnsavedRecords(contexts.compactMap { $0.encodedChanges(of: entity) })
  }

  /// Returns the unsaved links of a table, as differences from the store's links; nil for none.
  func links(in table: LinkTable) -> PendingLinks? {
    var result: PendingLinks?
    for context in contexts {
      guard let links = context.pendingLinks(in: table), !links.isEmpty else { continue }
      if result?.merge(links) == nil { result = links }
    }
    return result
  }
}

/// The records of the unsaved objects of one entity, from one layer or several.
struct UnsavedRecords {
  /// The layers, the lowest first; never empty.
  private let layers: [EncodedChanges]
  /// Objects whose stored record doesn't count: changed or deleted.
  let hidden: Set<ObjectNumber>

  /// Makes the records of layers; nil for no layer.
  init?(_ layers: [EncodedChanges]) {
    guard let first = layers.first else { return nil }
    self.layers = layers
    hidden = layers.dropFirst().reduce(first.hidden) { $0.union($1.hidden) }
  }

  /// The records' only layer; nil if there are several.
  var onlyLayer: EncodedChanges? { layers.count == 1 ? layers[0] : nil }

  /// Returns the record of a new or changed object.
  func record(_ number: ObjectNumber) -> UnsafeRawBufferPointer? {
    for layer in layers.reversed() {
      if let record = layer.record(number) { return record }
      if layer.hidden.contains(number) { return nil }
    }
    return nil
  }

  /// Calls `body` with the record of each new or changed object, in no order.
  func forEach(_ body: (ObjectNumber, UnsafeRawBufferPointer) throws -> Void) rethrows {
    for (position, layer) in layers.enumerated() {
      for (number, bytes) in layer.records where !isCovered(number, above: position) {
        try body(number, bytes)
      }
    }
  }

  /// Returns the new and changed objects whose value in a slot has this component (``KeyCoder``). O(layers) from
  /// the second call for a slot on.
  func numbers(withKey key: [UInt8], at slot: Int) -> [ObjectNumber] {
    layers.enumerated().flatMap { position, layer in
      layer.numbers(withKey: key, at: slot).filter { !isCovered($0, above: position) }
    }
  }

  /// Returns whether a layer above has another record of the object, or has deleted it.
  private func isCovered(_ number: ObjectNumber, above position: Int) -> Bool {
    layers[(position + 1)...].contains { $0.hidden.contains(number) || $0.record(number) != nil }
  }
}
