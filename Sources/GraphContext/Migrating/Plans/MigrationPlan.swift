import Predicates

/// The versions of an app's schema, and the stages that lead from one to the next. A container is opened with a
/// plan if its store may have any of the versions.
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
/// A store is migrated by the fewest stages. Between a version and the next one of the list, changes are inferred
/// if no stage is given. The container works with the newest version.
///
/// The store keeps its version. A store that was written before the app declared versions is recognised by its
/// schema (``Schema/stableHash``).
public struct MigrationPlan: Sendable {
  /// A version as it was given.
  struct Version: Sendable {
    let number: Schema.Version
    let models: [any ManagedObject.Type]
    /// The schema; nil for a version that no stage leads to.
    let schema: Result<Schema?, SchemaError>
    /// The hash that the version declares; nil if it declares none.
    let stableHash: UInt64?
  }

  let versions: [Version]
  let stages: [MigrationStage]
  /// True if a store of a version that isn't in the plan is migrated to the first later version, and then on; a
  /// store without a version, to the first version of the plan.
  let takesLaterVersions: Bool

  /// - Parameters:
  ///   - versions: from the oldest to the newest.
  ///   - stages: in any order. Opening a container checks the plan, as ``check()`` does.
  public init(_ versions: [any VersionedSchema.Type], stages: [MigrationStage] = []) {
    self.versions = versions.map(Version.init)
    self.stages = stages
    takesLaterVersions = false
  }

  /// Makes a plan of versions without classes. Changes are inferred if no stage is given. The container's objects are
  /// ``ManagedRecord``s.
  ///
  /// A store of another version is migrated to the first version that is later than its own, and then on. A store
  /// without a version is migrated to the first version.
  ///
  /// - Parameters:
  ///   - documents: from the oldest to the newest. A document without a version gets the one after its
  ///     predecessor's: 1.0.0, 2.0.0.
  ///   - stages: in any order.
  public init(documents: [SchemaDocument], stages: [MigrationStage] = []) {
    var last: UInt32 = 0
    versions = documents.map { document in
      // Versions that don't ascend are a mistake, which `check()` reports.
      let number = document.version ?? Schema.Version(last == .max ? .max : last + 1)
      last = number.major
      return Version(document, number)
    }
    self.stages = stages
    takesLaterVersions = true
  }

  /// Checks that the versions ascend, that stages lead from a version of the plan to a later one, that there is a
  /// schema to migrate to, and that no version with a declared hash has changed.
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
