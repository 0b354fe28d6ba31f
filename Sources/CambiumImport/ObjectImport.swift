import Cambium

/// A description of an import: which object a source belongs to, whether it is made or updated, and how the source
/// is written into it.
///
/// A value that is made once and used for any number of sources and contexts. The protocols
/// ``ManagedObjectUpdatable``, on the side of the sources, and ``ImportableObject``, on the side of the objects,
/// make such descriptions.
///
/// ```swift
/// var songs = ObjectImport<SongRecord, Song>(key: \.isrc) { record, _ in record.isrc }
/// songs.updateProperties = { record, song, _ in song.title = record.title }
/// try await container.importRecords(.jsonLines(at: url), with: songs)
/// ```
///
/// An import of some sources takes these steps:
/// 1. The IDs of the sources are asked for, in order; the rule ``duplicates`` applies to sources of one ID.
/// 2. Objects of known IDs come from the cache, if there is one, and are updated at once.
/// 3. All other IDs are looked up at once, among the stored objects and the context's unsaved ones.
/// 4. For each source in order: the object that was found is updated, or a new one is inserted, its ID set, and
///   then its properties.
/// 5. Relationships, for each source in order: by now the object of every source exists.
///
/// A closure that throws ends the import.
///
/// A closure may save the context; what it saves stays if the import fails. The import then looks up the IDs of the
/// sources that are left again, in several lookups, so each save costs at least one lookup. A closure should not roll
/// the context back or reset it. Both take objects of earlier sources out of the context: the import doesn't return
/// these objects, and doesn't write their relationships.
public struct ObjectImport<Source: SendableMetatype, Object: ManagedObject>: Sendable {
  /// A question about a source.
  public typealias Condition = @Sendable (Source, ManagedObjectContext) throws -> Bool
  /// Writes the attributes of a source into an object.
  public typealias PropertiesPass = @Sendable (Source, Object, ManagedObjectContext) throws -> Void
  /// Writes the relationships of a source into an object. The cache is that of the import.
  public typealias RelationshipsPass =
    @Sendable (Source, Object, ManagedObjectContext, ImportedObjectCache?) throws -> Void

  /// Nil for an import that makes an object of each source.
  let key: ImportKey<Source, Object>?
  /// The condition under which a source without an object becomes a new object; nil for always.
  public var shouldInsert: Condition?
  /// The condition under which the object of a source is updated; nil for always.
  public var shouldUpdate: Condition?
  /// Inserts the object of a source; nil for one whose attributes begin as in their declaration, without a call of
  /// an initialiser.
  public var insertObject: (@Sendable (Source, ManagedObjectContext) throws -> Object)?
  /// The first pass; nil for none. It must not change the key: the second pass finds objects by it
  /// (``ImportReport/missingCount``).
  public var updateProperties: PropertiesPass?
  /// The first pass for objects that the import has inserted, instead of ``updateProperties``; nil for that one.
  public var didInsert: PropertiesPass?
  /// The second pass, which begins when the first one is done for all sources; nil for none.
  public var updateRelationships: RelationshipsPass?
  /// The rule for sources of the same ID in one batch. Where an import has one commit, all records of a collection
  /// are one batch, unless each source counts; those of a file or a stream are several.
  public var duplicates = DuplicateRule.everyInOrder
  /// True if objects that the closures themselves insert, and those of earlier sources, are found for later sources
  /// of their IDs, also after a closure has saved them.
  ///
  /// True by default. False is the rule of PeakCoreData: each source of a new ID inserts an object, and the save
  /// refuses or resolves the violations of unique constraints.
  public var isUniquing = true
  /// Drops or replaces the sources of a batch by their IDs; nil for none.
  private(set) var preProcessing: (@Sendable ([AttributeValue: Source]) throws -> [AttributeValue: Source])?

  /// Describes an import that makes a new object of each source.
  public init() { key = nil }

  /// Describes an import that finds objects by a unique value.
  ///
  /// - Parameters:
  ///   - key: the attribute. Without an index of it each lookup reads every object.
  ///   - id: the ID of a source; nil to leave the source out.
  public init<ID: AttributeType & Hashable>(
    key: any ReferenceWritableKeyPath<Object, ID> & Sendable,
    id: @escaping @Sendable (Source, ManagedObjectContext) throws -> ID?
  ) {
    self.key = ImportKey(keyPath: { key }, id: id)
  }

  /// Describes an import that finds objects by the key path of ``UniqueIdentifiable``.
  ///
  /// - Parameter id: the ID of a source; nil to leave the source out.
  public init(id: @escaping @Sendable (Source, ManagedObjectContext) throws -> Object.UniqueID?)
  where Object: UniqueIdentifiable {
    key = ImportKey(keyPath: { Object.uniqueIDKeyPath }, id: id)
  }

  /// Has `body` drop or replace the sources of each batch before they are looked up. `body` is called once for a
  /// batch, and again for the sources that one dictionary can't hold: the second sources of IDs where each source
  /// counts, and IDs that are strings of the same characters and other bytes. If an import makes two passes, `body`
  /// is called in each.
  ///
  /// - Parameter body: takes the sources by their IDs, and returns those that are imported. IDs that it adds are
  ///   ignored.
  public mutating func preProcess<ID: AttributeType & Hashable>(
    _ body: @escaping @Sendable ([ID: Source]) throws -> [ID: Source]
  ) {
    preProcessing = { sources in
      var (rest, kept) = (sources, [AttributeValue: Source]())
      repeat {
        let (given, exact) = Self.takeDistinct(from: &rest, as: ID.self)
        for (id, source) in try body(given) { kept[exact[id] ?? id._attributeValue] = source }
      } while !rest.isEmpty
      return kept
    }
  }

  /// Takes sources whose IDs differ as keys of a dictionary, and returns the ID of each key.
  ///
  /// Two strings of the same characters and other bytes are two IDs and one key: one of the two stays.
  private static func takeDistinct<ID: AttributeType & Hashable>(
    from sources: inout [AttributeValue: Source],
    as type: ID.Type
  ) -> (given: [ID: Source], exact: [ID: AttributeValue]) {
    var given: [ID: Source] = [:]
    var exact: [ID: AttributeValue] = [:]
    var rest: [AttributeValue: Source] = [:]
    for (id, source) in sources {
      guard let key = ID(_attributeValue: id) else { continue }
      if exact[key] == nil {
        (given[key], exact[key]) = (source, id)
      } else {
        rest[id] = source
      }
    }
    sources = rest
    return (given, exact)
  }

  /// The number of passes that progress counts: two if properties and relationships have one, else one.
  public var passCount: Int { hasTwoPasses ? 2 : 1 }

  var hasTwoPasses: Bool { hasProperties && updateRelationships != nil }
  var hasProperties: Bool { updateProperties != nil || didInsert != nil }
}

/// The rule of an import for sources with the same unique ID.
public enum DuplicateRule: Sendable, Hashable {
  /// Each source updates the object, in order.
  case everyInOrder
  /// The last source alone updates it, in the place of the first one.
  case lastWins
}

/// The key by which the objects of sources are found. IDs are attribute values, so that one type serves all types
/// of IDs.
struct ImportKey<Source: SendableMetatype, Object: ManagedObject>: Sendable {
  /// The ID of a source; nil and `null` for none.
  let id: @Sendable (Source, ManagedObjectContext) throws -> AttributeValue?
  /// Makes the accessors of IDs, for one import.
  let access: @Sendable () -> ImportKeyAccess<Object>

  init<ID: AttributeType & Hashable>(
    keyPath: @escaping @Sendable () -> ReferenceWritableKeyPath<Object, ID>,
    id: @escaping @Sendable (Source, ManagedObjectContext) throws -> ID?
  ) {
    self.id = { try id($0, $1)?._attributeValue }
    access = { ImportKeyAccess(keyPath()) }
  }
}

/// Reads and writes the IDs of objects, by a key path that is made once: making a key path of a generic class takes
/// as long as inserting an object.
struct ImportKeyAccess<Object: ManagedObject> {
  let value: (Object) -> AttributeValue
  let set: (AttributeValue, Object) -> Void
  /// The query for the objects of some IDs.
  let request: ([AttributeValue]) -> From<Object>

  init<ID: AttributeType & Hashable>(_ keyPath: ReferenceWritableKeyPath<Object, ID>) {
    value = { $0[keyPath: keyPath]._attributeValue }
    set = { if let id = ID(_attributeValue: $0) { $1[keyPath: keyPath] = id } }
    request = { ids in
      // The IDs are unique as the store compares them: strings of the same characters may have different bytes.
      let ids = Set(ids).compactMap { ID(_attributeValue: $0) }
      return From<Object>().where { $0[dynamicMember: keyPath].in(ids) }
    }
  }
}
