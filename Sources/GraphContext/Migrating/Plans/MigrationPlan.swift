import Predicates

/// The versions of an app's schema, and the stages that lead from one to the next: what a container is opened with whose store may be of
/// any of them.
///
/// ```swift
/// let plan = MigrationPlan(
///   [LibraryV1.self, LibraryV2.self, LibraryV3.self],
///   stages: [
///     .custom(from: LibraryV2.self, to: LibraryV3.self, .forEach("Book") { batch in … })
///   ]
/// )
/// let library = try await PersistentContainer("Library", plan: plan, at: url)
/// ```
///
/// A store goes the way with the fewest stages. Between a version and the next one of the list, changes are inferred where no stage is given. The
/// container works with the newest version.
///
/// The store keeps its version. One that was written before the app declared versions is recognised by its schema (``Schema/stableHash``).
public struct MigrationPlan: Sendable {
  /// A version as it was given.
  struct Version: Sendable {
    let number: Schema.Version
    let models: [any ManagedObject.Type]
    /// Nil for a version that no stage leads to.
    let schema: Result<Schema?, SchemaError>
    /// What the version says of itself; nil if it says nothing.
    let stableHash: UInt64?
  }

  let versions: [Version]
  let stages: [MigrationStage]
  /// Whether a store of another version takes the versions that are later than its own, all of them if it has none.
  let takesLaterVersions: Bool

  /// - Parameters:
  ///   - versions: from the oldest to the newest.
  ///   - stages: in any order. Opening a container checks the plan, as ``check()`` does.
  public init(_ versions: [any VersionedSchema.Type], stages: [MigrationStage] = []) {
    self.versions = versions.map(Version.init)
    self.stages = stages
    takesLaterVersions = false
  }

  /// A plan of versions without classes. Changes are inferred where no stage is given. The container's objects are ``ManagedRecord``s.
  ///
  /// A store of none of the versions is brought to the first one that is later than its own, and then on; one without a version to the first.
  ///
  /// - Parameters:
  ///   - documents: from the oldest to the newest. One that says no version follows the one before it: 1.0.0, 2.0.0.
  ///   - stages: in any order.
  public init(documents: [SchemaDocument], stages: [MigrationStage] = []) {
    var last: UInt32 = 0
    versions = documents.map { document in
      // Versions that don't ascend are a mistake, which `check()` tells.
      let number = document.version ?? Schema.Version(last == .max ? .max : last + 1)
      last = number.major
      return Version(document, number)
    }
    self.stages = stages
    takesLaterVersions = true
  }

  /// Checks that the versions ascend, that stages lead from a version of the plan to a later one, that there is a schema to get to, and that no
  /// version has changed whose hash is declared.
  ///
  /// - Throws: `schemaMismatch`, naming every mistake.
  public func check() throws(ContextError) { _ = try ResolvedPlan(self) }
}

extension MigrationPlan.Version {
  fileprivate init(_ type: any VersionedSchema.Type) {
    number = type.version
    models = type.models
    stableHash = type.stableHash
    do throws(SchemaError) { schema = .success(try type.schema()) } catch { schema = .failure(error) }
  }

  fileprivate init(_ document: SchemaDocument, _ number: Schema.Version) {
    self.number = number
    models = []
    stableHash = nil
    do throws(SchemaError) { schema = .success(try document.schema()) } catch { schema = .failure(error) }
  }
}
