import Synchronization

/// Buffers for overflowing values and keys that no checkpoint has written yet, numbered from 1.
///
/// Reading takes no lock. Allocation and release are safe from any thread. The caller that releases a buffer
/// has made sure that no reader uses it.
final class BlobTable: Sendable {
  private struct State {
    var free: [UInt64] = []
    var next: UInt64 = 1
    var usedByteCount = 0
    var retired = RetiredPages<Buffer>(batchCount: 8)
  }

  /// The start of a buffer: its length, then its bytes.
  private struct Buffer {
    // Safety: written before it is published, then never changed.
    nonisolated(unsafe) let start: UnsafeMutableRawPointer

    var bytes: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: start + BlobTable.headerByteCount, count: start.load(as: Int.self))
    }
  }

  /// The address of each buffer; 0 for one that was evicted.
  private let buffers: AtomicTable
  /// The pages to which buffers were written.
  let places: StoredPlaces
  private let readers: ReaderTable
  private let state = Mutex(State())

  private static let headerByteCount = 16

  /// - Parameter memory: the mapping of which the table takes ``mappedByteCount`` bytes.
  init(readers: ReaderTable, in memory: SharedMapping) {
    self.readers = readers
    buffers = AtomicTable(in: memory)
    places = StoredPlaces(in: memory)
  }

  /// Bytes that the table needs of a mapping.
  static let mappedByteCount = 2 * AtomicTable.mappedByteCount

  deinit {
    buffers.forEach { UnsafeMutableRawPointer(bitPattern: $0)?.deallocate() }
    state.withLock { state in
      for buffer in state.retired.all { buffer.start.deallocate() }
    }
    buffers.deallocate()
    places.deallocate()
  }

  /// Allocates a buffer with a copy of `bytes`, and returns its number.
  func allocate(copying bytes: UnsafeRawBufferPointer) -> UInt64 {
    let start = UnsafeMutableRawPointer.allocate(
      byteCount: Self.headerByteCount + bytes.count,
      alignment: 16
    )
    start.storeBytes(of: bytes.count, as: Int.self)
    if let source = bytes.baseAddress {
      (start + Self.headerByteCount).copyMemory(from: source, byteCount: bytes.count)
    }
    let index = state.withLock { state in
      state.usedByteCount += bytes.count
      if let index = state.free.popLast() { return index }
      defer { state.next += 1 }
      return state.next
    }
    buffers.exchange(UInt(bitPattern: start), at: index)
    return index
  }

  /// Returns the bytes of an allocated buffer; nil if it was evicted. The caller has begun to read
  /// (``ReaderTable``), or knows that the buffer isn't written to a page yet, so that it can't be evicted.
  func bytes(_ index: UInt64) -> ValueBytes? {
    guard let start = UnsafeMutableRawPointer(bitPattern: buffers.load(index)) else { return nil }
    return ValueBytes(borrowing: Buffer(start: start).bytes, in: start)
  }

  /// Evicts a buffer that was written to a page. Its number stays in use. Called with ``Committer/state``
  /// held.
  func evict(_ index: UInt64, storedAt place: StoredPlace) {
    places.set(place, at: index)
    state.withLock { state in
      guard let buffer = take(index, &state) else { return }
      state.retired.insert(buffer, at: buffer.start, readers)
      for buffer in state.retired.sweep(readers) { buffer.start.deallocate() }
    }
  }

  /// Frees buffers and their numbers.
  ///
  /// - Parameter mayBeNamed: true if a cursor of an expired snapshot may still protect a buffer by its
  ///   address.
  func free(_ indexes: [UInt64], mayBeNamed: Bool) {
    state.withLock { state in
      for index in indexes {
        if let buffer = take(index, &state) {
          if mayBeNamed {
            state.retired.insert(buffer, at: buffer.start, readers)
          } else {
            buffer.start.deallocate()
          }
        }
        places.clear(index)
      }
      state.free.append(contentsOf: indexes)
      for buffer in state.retired.sweep(readers) { buffer.start.deallocate() }
    }
  }

  /// Deallocates all freed buffers that no reader uses.
  func reuseFreed() {
    state.withLock { state in
      for buffer in state.retired.sweep(readers, regardless: true) { buffer.start.deallocate() }
    }
  }

  /// Takes a buffer out of the table, so that no new reader finds it.
  private func take(_ index: UInt64, _ state: inout State) -> Buffer? {
    guard let start = UnsafeMutableRawPointer(bitPattern: buffers.exchange(0, at: index)) else { return nil }
    let buffer = Buffer(start: start)
    state.usedByteCount -= buffer.bytes.count
    return buffer
  }

  /// Bytes in all buffers that can be found.
  var usedByteCount: Int { state.withLock { $0.usedByteCount } }
}
