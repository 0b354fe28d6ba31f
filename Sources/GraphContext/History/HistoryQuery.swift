import Foundation

/// A selection of the transactions of a history: all of them, unless a property says otherwise.
///
/// ```swift
/// let query = HistoryQuery(after: token, entities: [Song.entityName], excludingAuthors: ["sync"])
/// for transaction in try await container.history(query) { print(transaction.date, transaction.changes.count) }
/// ```
public struct HistoryQuery: Sendable, Hashable {
  /// Only transactions after this place; nil for all that the store still has.
  public var token: HistoryToken?
  /// Only changes of objects of these entities or classes, and of the classes below them; nil for all.
  public var entities: Set<String>?
  /// Only changes of these objects; nil for all.
  public var objectIDs: Set<ManagedObjectID>?
  /// Only transactions of these authors; nil for all.
  public var authors: Set<String>?
  /// No transactions of these authors.
  public var excludedAuthors: Set<String>
  /// Only transactions from this date on; nil for all.
  public var startDate: Date?
  /// Only transactions before this date; nil for all.
  public var endDate: Date?
  /// True if the newest transaction comes first. With a ``limit``, only the newest ones are read.
  public var newestFirst: Bool
  /// The greatest number of transactions, the first ones in their order; nil for no limit.
  public var limit: Int?

  /// Makes a query; an argument that is left out restricts nothing.
  ///
  /// A transaction without a change of the entities and objects that are asked for is left out; the others have only
  /// the changes of these.
  public init(
    after token: HistoryToken? = nil,
    entities: Set<String>? = nil,
    objectIDs: Set<ManagedObjectID>? = nil,
    authors: Set<String>? = nil,
    excludingAuthors excludedAuthors: Set<String> = [],
    from startDate: Date? = nil,
    before endDate: Date? = nil,
    newestFirst: Bool = false,
    limit: Int? = nil
  ) {
    self.token = token
    self.entities = entities
    self.objectIDs = objectIDs
    self.authors = authors
    self.excludedAuthors = excludedAuthors
    self.startDate = startDate
    self.endDate = endDate
    self.newestFirst = newestFirst
    self.limit = limit
  }
}

extension HistoryQuery {
  /// Returns true if the query includes transactions of this date and author.
  func includes(_ date: Date, _ author: String?) -> Bool {
    if let startDate, date < startDate { return false }
    if let endDate, date >= endDate { return false }
    if let author, excludedAuthors.contains(author) { return false }
    return authors.map { authors in author.map(authors.contains) ?? false } ?? true
  }

  /// Returns the changes of a transaction that the query selects; nil if it selects none.
  func part(of transaction: HistoryTransaction) -> HistoryTransaction? {
    if entities == nil, objectIDs == nil { return transaction }
    var part = transaction
    part.changes.removeAll { change in
      if let entities, !entities.contains(change.objectID.entityName) { return true }
      return objectIDs.map { !$0.contains(change.objectID) } ?? false
    }
    return part.changes.isEmpty ? nil : part
  }
}
