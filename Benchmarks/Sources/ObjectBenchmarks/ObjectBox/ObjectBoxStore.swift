import BenchmarkHarness
import CObjectBox

/// An open store with its transactions, cursors and queries. One thread at a time; a transaction stays on its thread.
final class ObjectBoxStore {
  let obx: cobx_functions
  private let store: OpaquePointer
  private var queries: [OpaquePointer] = []

  /// Makes a store of persons and cities in an empty folder.
  init(folder: String) throws {
    obx = try ObjectBoxLibrary.functions.get()
    let options = obx.opt()
    // The ownership of the model, and then of the options, passes to the store.
    guard obx.opt_model(options, ObjectBoxModel.make(obx)) == 0, obx.opt_directory(options, folder) == 0
    else {
      throw Self.failure(obx)
    }
    // The maximum size of the file; by default 1 GB, which many persons would fill.
    obx.opt_max_db_size_in_kb(options, 8 << 20)
    guard let store = obx.store_open(options) else { throw Self.failure(obx) }
    self.store = store
  }

  deinit {
    for query in queries { _ = obx.query_close(query) }
    _ = obx.store_close(store)
  }

  // MARK: Transactions

  /// Runs `body` in a transaction that reads one moment. The values passed to `body` are valid until its end.
  func reading<Answer>(_ body: (_ transaction: OpaquePointer) throws -> Answer) throws -> Answer {
    let transaction = try unwrap(obx.txn_read(store))
    defer { _ = obx.txn_close(transaction) }
    return try body(transaction)
  }

  /// Runs `body` in a transaction and commits it, durably.
  func writing(_ body: (_ transaction: OpaquePointer) throws -> Void) throws {
    let transaction = try unwrap(obx.txn_write(store))
    do {
      try body(transaction)
    } catch {
      _ = obx.txn_close(transaction)
      throw error
    }
    try check(obx.txn_success(transaction))
  }

  func withCursor<Answer>(
    of entity: UInt32,
    in transaction: OpaquePointer,
    _ body: (_ cursor: OpaquePointer) throws -> Answer
  ) throws -> Answer {
    let cursor = try unwrap(obx.cursor(transaction, entity))
    defer { _ = obx.cursor_close(cursor) }
    return try body(cursor)
  }

  // MARK: Objects

  /// Calls `body` with each object of the cursor's entity, in the order of their IDs.
  func forEach(_ cursor: OpaquePointer, _ body: (FlatTable) throws -> Void) throws {
    var (data, size): (UnsafeRawPointer?, Int) = (nil, 0)
    var status = obx.cursor_first(cursor, &data, &size)
    while status == 0, let object = data {
      try body(FlatTable(object))
      status = obx.cursor_next(cursor, &data, &size)
    }
    guard status == COBX_NOT_FOUND else { throw failure() }
  }

  /// Makes a query that lives as long as the store does.
  func query(of entity: UInt32, _ build: (_ builder: OpaquePointer) -> Void) throws -> OpaquePointer {
    let builder = try unwrap(obx.query_builder(store, entity))
    defer { _ = obx.qb_close(builder) }
    // Errors of building stay in the builder, until it is asked for the query.
    build(builder)
    let query = try unwrap(obx.query(builder))
    queries.append(query)
    return query
  }

  // MARK: Errors

  func check(_ status: Int32) throws {
    guard status == 0 else { throw failure() }
  }

  func unwrap<Pointer>(_ pointer: Pointer?) throws -> Pointer {
    guard let pointer else { throw failure() }
    return pointer
  }

  func failure() -> PeerError { Self.failure(obx) }

  private static func failure(_ obx: cobx_functions) -> PeerError {
    let message = obx.last_error_message().map { String(cString: $0) }
    return PeerError(peer: ObjectBoxPeer.name, message: message ?? "no reason given")
  }
}
