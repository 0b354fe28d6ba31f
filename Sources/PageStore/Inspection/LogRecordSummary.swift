/// The contents of one record of the log.
package struct LogRecordSummary: Sendable, Encodable {
  /// One change of a transaction.
  package struct Operation: Sendable, Encodable {
    /// `create tree`, `drop tree`, `put`, `remove`, `remove range`.
    package var kind: String
    package var treeID: UInt32?
    /// A tree's name, or an entry's key.
    package var key: [UInt8]?
    package var valueByteCount: Int?
  }

  package var sequence: UInt64
  /// `transaction`, `checkpoint`, `link`, `watermark`.
  package var kind: String
  /// Bytes from the start of the file.
  package var offset: UInt64
  /// Header and payload, without padding.
  package var byteCount: UInt32
  package var epoch: UInt32
  package var commit: UInt64
  /// Milliseconds since 1970.
  package var timestamp: Int64
  /// `full`, `relaxed`, `none`.
  package var durability: String
  /// The sequence number up to which records were known to be durable when this one was written.
  package var durableSequence: UInt64
  package var operations: [Operation] = []
  /// For a checkpoint, the first record that it doesn't contain.
  package var replaySequence: UInt64?

  init(_ record: LogExtentImage.Record, at offset: UInt64, pageSize: UInt64) {
    let header = record.header
    sequence = header.sequence
    kind = "\(header.kind)"
    self.offset = offset
    byteCount = header.byteCount
    epoch = header.epoch
    commit = header.commit
    timestamp = header.timestamp
    durability = "\(header.durability)"
    durableSequence = header.durableSequence
    switch header.kind {
    case .transaction: operations = Self.operations(record.payload)
    case .checkpoint:
      let content = try? CheckpointRecord(record.payload, pageSize: pageSize)
      replaySequence = content.map { $0.replayStart?.position.sequence ?? header.sequence &+ 1 }
    case .link, .watermark: break
    }
  }

  private static func operations(_ payload: UnsafeRawBufferPointer) -> [Operation] {
    var operations: [Operation] = []
    var selected: UInt32?
    var reader = ByteReader(payload)
    while !reader.isAtEnd, let operation = LogOperation(&reader) {
      switch operation {
      case .createTree(let id, let name):
        operations.append(Operation(kind: "create tree", treeID: id, key: [UInt8](name)))
      case .dropTree(let id): operations.append(Operation(kind: "drop tree", treeID: id))
      case .selectTree(let id): selected = id
      case .put(let key, let value):
        operations.append(
          Operation(kind: "put", treeID: selected, key: [UInt8](key), valueByteCount: value.count)
        )
      case .remove(let key): operations.append(Operation(kind: "remove", treeID: selected, key: [UInt8](key)))
      case .removeRange: operations.append(Operation(kind: "remove range", treeID: selected))
      }
    }
    return operations
  }
}
