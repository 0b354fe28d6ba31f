import Cambium

/// The format in which an export writes values: the bytes before them, of each of them, and after them.
public struct ExportFormat<Value: SendableMetatype>: Sendable {
  /// Returns the bytes of one value; its second argument is the count of the values before it.
  public typealias Writer = (Value, Int) throws -> Data

  /// Begins to write.
  package let makeWriter: @Sendable () -> Writer
  /// Returns the bytes after the last value; its argument is the count of the values.
  package let end: @Sendable (Int) throws -> Data

  /// Makes a format.
  ///
  /// - Parameters:
  ///   - end: returns the bytes after the last value; its argument is the count of the values.
  ///   - makeWriter: makes the closure that encodes one value after the other, on one thread. The bytes of the
  ///     first value include what stands before it.
  public init(
    end: @escaping @Sendable (_ count: Int) throws -> Data = { _ in Data() },
    makeWriter: @escaping @Sendable () -> Writer
  ) {
    self.end = end
    self.makeWriter = makeWriter
  }
}

extension ExportFormat where Value: Encodable {
  /// Each value on a line.
  ///
  /// - Parameter encoder: makes the encoder, whose output must have no line breaks.
  public static func jsonLines(
    encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() }
  ) -> ExportFormat {
    ExportFormat {
      let encoder = encoder()
      return { value, _ in try encoder.encode(value) + Data("\n".utf8) }
    }
  }

  /// A JSON array with a value on each line.
  ///
  /// - Parameter encoder: makes the encoder.
  public static func jsonArray(
    encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() }
  ) -> ExportFormat {
    ExportFormat(end: { Data(($0 == 0 ? "[]\n" : "\n]\n").utf8) }) {
      let encoder = encoder()
      return { value, count in try Data((count == 0 ? "[\n" : ",\n").utf8) + encoder.encode(value) }
    }
  }
}

extension PersistentContainer {
  /// Writes the stored objects that a query describes into a file, as values, in the order of the query. All are
  /// read from one commit. Memory holds a batch of objects.
  ///
  /// The export writes a temporary file in the same directory and renames it at the end: an export that throws
  /// leaves the existing file as it was.
  ///
  /// - Parameters:
  ///   - request: the objects.
  ///   - type: the type of the values.
  ///   - url: the file.
  ///   - format: how values are written.
  ///   - progress: receives how far the export has come: one unit for each value. Cancelling it cancels the export.
  /// - Returns: how many values were written.
  /// - Throws: `CancellationError` when the task or the progress is cancelled; ``ImportError`` when the file can't
  ///   be written; a `ContextError` for a value that can't be read; what the values' initialiser, the encoder and
  ///   the query throw.
  @discardableResult
  public func exportRecords<Value: ManagedObjectInitialisable & SendableMetatype>(
    _ request: From<Value.Object>,
    as type: Value.Type,
    to url: URL,
    format: ExportFormat<Value>,
    progress: Progress? = nil
  ) async throws -> Int {
    try await export(request, format, progress) { export throws in
      var output = try ExportedFile(url)
      let count = try export { try output.append($0) }
      try output.finish()
      return count
    }
  }

  /// Hands the stored objects that a query describes to a closure, as values, in the order of the query: for a
  /// socket, a pipe, a compressor. All are read from one commit. Memory holds a batch of objects.
  ///
  /// - Parameters:
  ///   - request: the objects.
  ///   - type: the type of the values.
  ///   - format: how values are written.
  ///   - progress: receives how far the export has come: one unit for each value. Cancelling it cancels the export.
  ///   - write: receives the next bytes, on the thread of the export, which waits for it. The first call has the
  ///     bytes before the first value and of that value, further calls have one value each, and the last call has
  ///     the bytes after the last value. The store keeps the pages of the commit until the export ends.
  /// - Returns: how many values were written.
  /// - Throws: `CancellationError` when the task or the progress is cancelled; a `ContextError` for a value that
  ///   can't be read; what `write`, the values' initialiser, the encoder and the query throw.
  @discardableResult
  public func exportRecords<Value: ManagedObjectInitialisable & SendableMetatype>(
    _ request: From<Value.Object>,
    as type: Value.Type,
    format: ExportFormat<Value>,
    progress: Progress? = nil,
    to write: @escaping @Sendable (Data) throws -> Void
  ) async throws -> Int {
    try await export(request, format, progress) { export throws in try export(write) }
  }

  /// - Parameter body: is called with a function that hands all bytes to a closure, and returns the count of the
  ///   values.
  private func export<Value: ManagedObjectInitialisable & SendableMetatype>(
    _ request: From<Value.Object>,
    _ format: ExportFormat<Value>,
    _ progress: Progress?,
    _ body: @escaping @Sendable (_ export: ((Data) throws -> Void) throws -> Int) throws -> Int
  ) async throws -> Int {
    let monitor = ImportMonitor(progress)
    do {
      return try await withTaskCancellationHandler {
        try await query { context in
          if progress != nil { monitor.expect(try context.count(request)) }
          let count = try body { output in
            let write = format.makeWriter()
            var count = 0
            try context.forEach(request) { object in
              try monitor.check()
              let value = try Value(with: object)
              // A getter that can't read returns a placeholder, which must not be written.
              try context.checkUsable()
              let bytes = try write(value, count)
              // The value may have read the object while it was encoded.
              try context.checkUsable()
              try output(bytes)
              count += 1
              monitor.advance()
            }
            try monitor.check()
            let end = try format.end(count)
            if !end.isEmpty { try output(end) }
            return count
          }
          monitor.finish(count)
          return count
        }
      } onCancel: {
        monitor.cancel()
      }
    } catch let error as ContextError where error.code == .cancelled {
      throw CancellationError()
    }
  }

  /// Writes the stored objects that a query describes as JSON Lines: ``exportRecords(_:as:to:format:progress:)``.
  @discardableResult
  public func exportJSONLines<Value: ManagedObjectInitialisable & Encodable & SendableMetatype>(
    _ request: From<Value.Object>,
    as type: Value.Type,
    to url: URL
  ) async throws -> Int {
    try await exportRecords(request, as: type, to: url, format: .jsonLines())
  }

  /// Writes the stored objects that a query describes as a JSON array: ``exportRecords(_:as:to:format:progress:)``.
  @discardableResult
  public func exportJSONArray<Value: ManagedObjectInitialisable & Encodable & SendableMetatype>(
    _ request: From<Value.Object>,
    as type: Value.Type,
    to url: URL
  ) async throws -> Int {
    try await exportRecords(request, as: type, to: url, format: .jsonArray())
  }
}

/// A file that is written under another name in the same directory, and renamed when it is complete.
private struct ExportedFile: ~Copyable {
  private let url: URL
  private let partial: URL
  private let file: FileHandle
  /// The permissions of the file that is replaced, which the new file keeps; nil if there is no such file.
  private let permissions: Any?
  private var buffer = Data()
  private var isDone = false

  init(_ url: URL) throws {
    // A link stays, and its file is replaced.
    self.url = url.resolvingSymlinksInPath()
    // Without the file's name, which may be as long as names can be.
    partial = self.url.deletingLastPathComponent().appendingPathComponent(".export-\(UUID().uuidString)")
    permissions = try? FileManager.default.attributesOfItem(atPath: self.url.path)[.posixPermissions]
    let attributes = permissions.map { _ in [FileAttributeKey.posixPermissions: 0o600] }
    guard FileManager.default.createFile(atPath: partial.path, contents: nil, attributes: attributes) else {
      throw ImportError(.file, "\(partial.path) can't be made")
    }
    do { file = try FileHandle(forWritingTo: partial) } catch {
      try? FileManager.default.removeItem(at: partial)
      throw ImportError(.file, "\(partial.path) can't be written", underlyingError: error)
    }
  }

  deinit {
    // A partial file that can't be removed does no harm.
    if !isDone { try? FileManager.default.removeItem(at: partial) }
  }

  mutating func append(_ bytes: Data) throws {
    buffer.append(bytes)
    if buffer.count >= 256 << 10 { try flush() }
  }

  mutating func finish() throws {
    try flush()
    do {
      try file.synchronize()
      try file.close()
      if let permissions {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: partial.path)
      }
    } catch {
      throw ImportError(.file, "\(url.path) can't be written", underlyingError: error)
    }
    guard rename(partial.path, url.path) == 0 else {
      throw ImportError(.file, "\(url.path) can't be written: \(String(cString: strerror(errno)))")
    }
    isDone = true
  }

  private mutating func flush() throws {
    do {
      try file.write(contentsOf: buffer)
      buffer.removeAll(keepingCapacity: true)
    } catch {
      throw ImportError(.file, "\(url.path) can't be written", underlyingError: error)
    }
  }
}
