/// The entities of a container that have no classes. Their objects are ``ManagedRecord``s.
///
/// ```swift
/// let note = EntityDescription(
///   name: "Note",
///   properties: [.attribute("text", String.self), .toOne("song", to: "Song")]
/// )
/// let music = try await PersistentContainer("Music", models: Song.self, entities: [note], at: url)
/// ```
public enum RecordEntities: Sendable {
  /// The described entities. Relationships can lead from them to the models, and from the models to them. If there are
  /// no models either, an empty list stands for ``stored``.
  case described([EntityDescription])
  /// All entities of the store except those that the models continue, by their names or their original names. The
  /// store must exist.
  case stored
}

extension RecordEntities: ExpressibleByArrayLiteral {
  /// These entities.
  public init(arrayLiteral entities: EntityDescription...) { self = .described(entities) }
}
