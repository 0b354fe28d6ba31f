// Calls with keys and values as spans, for bytes that are in memory already and need not become arrays.

extension OrderedTree {
  /// Calls `body` with the value for `key`, or with nil if there is none. O(log *n*).
  public func withValue<R>(for key: RawSpan, _ body: (RawSpan?) throws -> R) throws -> R {
    try key.withUnsafeBytes { key in
      guard let value = try core.find(key) else { return try body(nil) }
      return try value.withBytes { bytes in try body(bytes.bytes) }
    }
  }
}

extension WriteTree {
  /// Stores `value` under `key`. Returns whether the key had a value before. O(log *n*).
  @discardableResult
  public func put(_ key: RawSpan, _ value: RawSpan) throws(StoreError) -> Bool {
    try key.withUnsafeBytes { key throws(StoreError) in
      try value.withUnsafeBytes { value throws(StoreError) in try put(key, value) }
    }
  }

  /// Appends entries whose keys ascend, as ``append(sorted:)`` does. `next` passes one entry to its argument
  /// and returns true, or returns false if there are no more.
  @discardableResult
  public func append(
    next: (_ take: (RawSpan, RawSpan) throws(StoreError) -> Void) throws(StoreError) -> Bool
  ) throws(StoreError) -> Int {
    try appending { (sink) throws(StoreError) in
      while try next({ (key, value) throws(StoreError) in
        try key.withUnsafeBytes { key throws(StoreError) in
          try value.withUnsafeBytes { value throws(StoreError) in try sink.append(key, value) }
        }
      }) {}
    }
  }
}
