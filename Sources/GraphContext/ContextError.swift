import Predicates

/// A failure of a container or a context: what kind, of which objects and properties, and what lies below it.
///
/// Decide on ``code``; ``description`` is for people. A save that throws has changed nothing, neither in the store nor
/// in the context.
public struct ContextError: Error, Sendable {
  /// What kind of failure this is.
  public let code: Code
  private let details: Box

  /// Everything but the code.
  private struct Details: Sendable {
    let message: String
    let context: Context
    let storeError: StoreError?
    let refusal: SchemaRefusal?
    let queryError: QueryError?
    let underlyingError: (any Error)?
    let failures: [ContextError]
    let oldestHistoryToken: HistoryToken?
    var committedIDs: [ManagedObjectID]
  }

  /// Keeps the details outside the error, so that an error is small.
  private final class Box: Sendable {
    let value: Details

    init(_ value: Details) { self.value = value }
  }

  private init(_ code: Code, _ details: Details) {
    self.code = code
    self.details = Box(details)
  }

  package init(
    _ code: Code,
    _ message: String,
    context: Context = Context(),
    storeError: StoreError? = nil,
    refusal: SchemaRefusal? = nil,
    queryError: QueryError? = nil,
    underlyingError: (any Error)? = nil,
    failures: [ContextError] = [],
    oldestHistoryToken: HistoryToken? = nil,
    committedIDs: [ManagedObjectID] = []
  ) {
    self.init(
      code,
      Details(
        message: message,
        context: context,
        storeError: storeError,
        refusal: refusal,
        queryError: queryError,
        underlyingError: underlyingError,
        failures: failures,
        oldestHistoryToken: oldestHistoryToken,
        committedIDs: committedIDs
      )
    )
  }

  /// Makes the error of a save that fails for several reasons.
  ///
  /// - Parameters:
  ///   - first: the failure that decides about code, message and context.
  ///   - list: the failures, the first included.
  ///   - count: the number of failures, which may be greater than that of the list.
  init(_ first: ContextError, with list: [ContextError], of count: Int) {
    self.init(
      first.code,
      "\(first.message); \(count - 1) more \(count == 2 ? "failure" : "failures")",
      context: first.context,
      failures: list
    )
  }

  /// Returns this error as that of a batch which had committed the chunks with these objects before it failed.
  func after(committing ids: [ManagedObjectID]) -> ContextError {
    var details = details.value
    details.committedIDs = ids
    return ContextError(code, details)
  }

  /// The cause, in a sentence.
  public var message: String { details.value.message }
  /// The objects and properties concerned, as far as they are known.
  public var context: Context { details.value.context }
  /// The store's error, when `code` is ``Code/store`` or ``Code/closed``.
  public var storeError: StoreError? { details.value.storeError }
  /// The list of everything that prevents a change of schema, when `code` says that one was refused.
  public var refusal: SchemaRefusal? { details.value.refusal }
  /// The mistake in the query, when `code` is ``Code/invalidQuery``.
  public var queryError: QueryError? { details.value.queryError }
  /// Everything that was found wrong with the objects of a save: conflicts, missing values, broken rules, values that
  /// are not unique, references to objects that don't exist, denied deletions, indexed values that are too long. At
  /// most 1,000. The first is this error itself, without the others; of any other error it is the only one.
  public var failures: [ContextError] { details.value.failures.isEmpty ? [self] : details.value.failures }
  /// The error that code of the program threw: of the pass, when `code` is ``Code/stageFailed``; of the object's
  /// validation, when it is ``Code/validationFailed``.
  public var underlyingError: (any Error)? { details.value.underlyingError }
  /// The oldest place from which the history can be read, when ``code`` is ``Code/historyExpired``.
  public var oldestHistoryToken: HistoryToken? { details.value.oldestHistoryToken }
  /// The objects of the chunks that a batch with a `chunkSize` had committed before it failed: what the call would have
  /// returned of them. They stay inserted, changed or deleted. Empty for any other error.
  public var committedIDs: [ManagedObjectID] { details.value.committedIDs }
}

extension ContextError {
  /// What a failure is about. Every field that is not known is nil or empty.
  public struct Context: Sendable, Hashable {
    /// The entity.
    public var entity: String?
    /// The object that the failure is about, or the first of several.
    public var objectID: ManagedObjectID?
    /// Another object that is involved: the one that has the values already, or that still refers to the first.
    public var otherID: ManagedObjectID?
    /// The attributes or relationships.
    public var properties: [String]
    /// What the object has in `properties`, in the same order, where that matters; empty if the container was made with
    /// `showsValuesInErrors: false`.
    public var values: [AttributeValue]

    /// Makes a context; what is left out is not known.
    public init(
      entity: String? = nil,
      objectID: ManagedObjectID? = nil,
      otherID: ManagedObjectID? = nil,
      properties: [String] = [],
      values: [AttributeValue] = []
    ) {
      self.entity = entity
      self.objectID = objectID
      self.otherID = otherID
      self.properties = properties
      self.values = values
    }
  }

  /// Another context has changed or deleted an object that is to be saved.
  ///
  /// - Parameter properties: those that were changed in both; empty for a deletion.
  static func conflict(_ id: ManagedObjectID, _ what: String, _ properties: [String] = []) -> ContextError {
    let names = properties.isEmpty ? "" : ": \(properties.joined(separator: ", "))"
    return ContextError(
      .conflict,
      "\(id.entityName) \(id.number)\(names) was \(what) by another context after this one had read it",
      context: Context(entity: id.entityName, objectID: id, properties: properties)
    )
  }

  /// Bytes are no record of their entity.
  static func damagedRecord(_ number: ObjectNumber, of entity: String) -> ContextError {
    ContextError(.corrupt, "the record of \(entity) \(number) is damaged", context: .init(entity: entity))
  }

  /// A query has a mistake.
  init(_ error: QueryError) { self.init(.invalidQuery, error.description, queryError: error) }

  /// Finds the names of a query in a schema; a mistake is thrown as an error of the context.
  static func resolving<R>(_ find: () throws(QueryError) -> R) throws(ContextError) -> R {
    do throws(QueryError) { return try find() } catch { throw ContextError(error) }
  }

  /// The container was made without a model.
  static func unknownModel(_ type: any ManagedObject.Type) -> ContextError {
    ContextError(
      .unknownEntity,
      "\(type) is not one of the models that the container was made with",
      context: .init(entity: type.entityName)
    )
  }

  /// The context that a list follows has ended.
  static func contextGone() -> ContextError {
    ContextError(.closed, "the context of the list or observer no longer exists")
  }

  /// A context that only reads was to change something.
  static func readOnlyContext() -> ContextError {
    ContextError(
      .readOnlyContext,
      "the context only reads: objects can't be inserted, changed, deleted or saved in it"
    )
  }

  /// A query was cancelled before it was done.
  static func cancelledQuery() -> ContextError {
    ContextError(.cancelled, "the task that runs or awaits the query was cancelled")
  }

  /// A token of a history is of no use.
  static func historyExpired(_ message: String, _ oldest: HistoryToken) -> ContextError {
    ContextError(.historyExpired, message, oldestHistoryToken: oldest)
  }

  static func noHistory() -> ContextError {
    ContextError(.noHistory, "the store keeps no history: keepHistory() begins one")
  }

  static func noHistoryConsumer(_ name: String) -> ContextError {
    ContextError(.noHistoryConsumer, "no consumer of the history is registered as \"\(name)\"")
  }

  /// Two objects have equal values where they must not.
  ///
  /// - Parameters:
  ///   - rule: the beginning of a sentence whose subject are the two objects.
  ///   - context: with the values, which neither the message nor the error's context shows unless `showsValues`.
  static func notUnique(_ rule: String, _ context: Context, showsValues: Bool) -> ContextError {
    var context = context
    var list = "the same " + context.properties.joined(separator: ", ")
    if showsValues {
      list = zip(context.properties, context.values).map { "\($0) \($1)" }.joined(separator: ", ")
    } else {
      context.values = []
    }
    return ContextError(.notUnique, "\(rule) have \(list)", context: context)
  }
}

extension ContextError {
  /// A kind of failure. New kinds may be added in any release.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }
    /// The code's name, such as `notUnique`.
    public var description: String { name }

    /// A query has a mistake in its text, its names or its types; ``ContextError/queryError`` says which.
    public static let invalidQuery = Code("invalidQuery")
    /// The page store failed; ``ContextError/storeError`` says how.
    public static let store = Code("store")
    /// A required attribute or relationship has no value.
    public static let missingValue = Code("missingValue")
    /// A value breaks a rule of its attribute; or a derived value would be a number that its attribute can't hold; or
    /// an object's validation refuses to save it: then ``ContextError/underlyingError`` is what it threw.
    public static let validationFailed = Code("validationFailed")
    /// `willSave` of models, or a listener of a context, goes on changing objects before a save.
    public static let endlessChanges = Code("endlessChanges")
    /// Two objects have equal values where the model says they are unique.
    public static let notUnique = Code("notUnique")
    /// Another context changed or deleted an object since this context read it.
    public static let conflict = Code("conflict")
    /// A relationship whose rule is `deny` still leads from a deleted object to others.
    public static let deletionDenied = Code("deletionDenied")
    /// A relationship leads to an object that doesn't exist.
    public static let missingDestination = Code("missingDestination")
    /// An indexed value, or several together, are longer than a key can be.
    public static let indexedValueTooLong = Code("indexedValueTooLong")
    /// The store was written with a schema that this one doesn't go together with, or in a format that this library
    /// doesn't read.
    public static let schemaMismatch = Code("schemaMismatch")
    /// An entity, an ID or a type that the container's models don't have.
    public static let unknownEntity = Code("unknownEntity")
    /// An object of an abstract class was to be inserted: only its subclasses have objects.
    public static let abstractClass = Code("abstractClass")
    /// A record has no attribute, or no relationship, of the name that was given.
    public static let unknownProperty = Code("unknownProperty")
    /// A value is of another kind than its attribute, out of its range, or can't be encoded, or is not what the whole
    /// object allows; or an attribute was read as another type.
    public static let wrongValue = Code("wrongValue")
    /// A record's attribute was to be set that the store makes of other values.
    public static let derivedValue = Code("derivedValue")
    /// A record's relationship was to lead to an object of another entity than its destination.
    public static let wrongDestination = Code("wrongDestination")
    /// An object is in another context than the one that was to insert, link or delete it, or a record to be linked is
    /// in none. Send its ID instead.
    public static let otherContext = Code("otherContext")
    /// An object was to be inserted, changed, deleted or saved in a context that only reads.
    public static let readOnlyContext = Code("readOnlyContext")
    /// There is no object of this ID.
    public static let objectNotFound = Code("objectNotFound")
    /// An ID was taken from an object before its insertion: no object can be found by it.
    public static let provisionalID = Code("provisionalID")
    /// So many objects of an entity were made that there is no number left for another.
    public static let tooManyObjects = Code("tooManyObjects")
    /// Another container of this process changes the store's schema: nothing is saved meanwhile.
    public static let schemaChanging = Code("schemaChanging")
    /// Another container of this process has taken the store over with other models.
    public static let schemaChanged = Code("schemaChanged")
    /// A record, an index entry or the stored schema is not what it must be.
    public static let corrupt = Code("corrupt")
    /// A store was to be opened at a URL, or copied to one, that isn't a file's.
    public static let invalidURL = Code("invalidURL")
    /// The task that a query ran in, or that waited for it, was cancelled; or that of `setBlob(_:of:from:)`, while the
    /// chunks came; or a monitor has cancelled a change of the schema or of records.
    public static let cancelled = Code("cancelled")
    /// The container is closed.
    public static let closed = Code("closed")
    /// A custom stage of a migration failed; the store has the schema that it had before the stage.
    public static let stageFailed = Code("stageFailed")
    /// A graph that a custom stage works with was saved where that is not allowed; a hook, a validation, a merge policy
    /// or a listener that a save calls saved the context whose save runs it; or a block of `write` waits for another
    /// one.
    public static let saveNotAllowed = Code("saveNotAllowed")
    /// The store keeps no history.
    public static let noHistory = Code("noHistory")
    /// A token is before the oldest transaction of the history, after the newest commit or of another store;
    /// ``ContextError/oldestHistoryToken`` is the oldest one that is of use.
    public static let historyExpired = Code("historyExpired")
    /// A pinned commit was released, or its lifetime is over.
    public static let commitNotHeld = Code("commitNotHeld")
    /// No consumer of the history is registered by a name.
    public static let noHistoryConsumer = Code("noHistoryConsumer")
  }
}

extension ContextError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
