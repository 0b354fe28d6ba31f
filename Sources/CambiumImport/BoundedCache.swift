import Synchronization

/// A cache with a limit of the count of its values, or of their total cost. It evicts the oldest values first.
///
/// It may be used from any thread. Every call is O(1), apart from the values that it evicts.
public final class BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The name of the cache in messages.
  public let name: String
  private let state: Mutex<State>

  private struct Entry {
    let value: Value
    let cost: Int
    /// The position of the entry in the order of insertion.
    let turn: UInt64
  }

  private struct State {
    var countLimit: Int
    var totalCostLimit: Int
    var entries: [Key: Entry] = [:]
    /// Keys in the order of insertion. A key whose turn differs from that of its entry was inserted again or removed.
    var order: [(key: Key, turn: UInt64)] = []
    var first = 0
    var nextTurn: UInt64 = 0
    /// The sum of the costs may be too large for the type of one cost.
    var totalCost: Int128 = 0
    var onEviction: (@Sendable (Value) -> Void)?

    var isFull: Bool {
      countLimit > 0 && entries.count > countLimit || totalCostLimit > 0 && totalCost > Int128(totalCostLimit)
    }

    mutating func remove(_ key: Key) -> Value? {
      guard let entry = entries.removeValue(forKey: key) else { return nil }
      totalCost -= Int128(entry.cost)
      // `order` still holds the keys of removed entries: it is compacted before they outnumber the others.
      if order.count > 2 * entries.count + 64 { compact() }
      return entry.value
    }

    mutating func removeAll() {
      (entries, order, first, totalCost) = ([:], [], 0, 0)
    }

    mutating func removeFirst() -> Value? {
      while first < order.count {
        let (key, turn) = order[first]
        first += 1
        if entries[key]?.turn == turn { return remove(key) }
      }
      compact()
      return nil
    }

    private mutating func compact() {
      order = order[first...].filter { entries[$0.key]?.turn == $0.turn }
      first = 0
    }
  }

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - name: what to call it.
  ///   - countLimit: the most values; 0 for no limit.
  ///   - totalCostLimit: the most cost; 0 for no limit.
  public init(name: String = "", countLimit: Int = 0, totalCostLimit: Int = 0) {
    self.name = name
    state = Mutex(State(countLimit: countLimit, totalCostLimit: totalCostLimit))
  }

  /// The most values that the cache holds; 0 for no limit. A lower limit takes effect at the next insertion.
  public var countLimit: Int {
    get { state.withLock { $0.countLimit } }
    set { state.withLock { $0.countLimit = newValue } }
  }

  /// The limit of the sum of the costs; 0 for no limit. A lower limit takes effect at the next insertion.
  public var totalCostLimit: Int {
    get { state.withLock { $0.totalCostLimit } }
    set { state.withLock { $0.totalCostLimit = newValue } }
  }

  /// The number of values in the cache.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Calls `body` with each value that leaves the cache from now on: because it is evicted, removed or replaced, or
  /// because the cache is cleared. Nil ends the calls.
  ///
  /// The call comes after the change, on the thread that has made the change; `body` may use the cache.
  public func onObjectEviction(_ body: (@Sendable (Value) -> Void)?) {
    state.withLock { $0.onEviction = body }
  }

  /// Inserts a value as the newest, and then evicts the oldest values until the limits hold. A value whose own cost
  /// is above the limit of costs is evicted as well.
  public func insert(_ value: Value, forKey key: Key, cost: Int = 0) {
    change { state, evicted in
      if let old = state.remove(key) { evicted.append(old) }
      state.entries[key] = Entry(value: value, cost: cost, turn: state.nextTurn)
      state.order.append((key, state.nextTurn))
      state.nextTurn += 1
      state.totalCost += Int128(cost)
      while state.isFull, let value = state.removeFirst() { evicted.append(value) }
    }
  }

  /// The value of a key; nil for none.
  public func value(forKey key: Key) -> Value? { state.withLock { $0.entries[key]?.value } }

  /// Removes a value; does nothing where there is none.
  public func removeValue(forKey key: Key) {
    change { state, evicted in if let old = state.remove(key) { evicted.append(old) } }
  }

  /// Removes all values, the oldest first.
  public func clearCache() {
    change { state, evicted in while let value = state.removeFirst() { evicted.append(value) } }
  }

  /// Removes and returns all entries, the oldest first, without calling the handler.
  func takeAll() -> [(key: Key, value: Value)] {
    state.withLock { state in
      let entries = state.order[state.first...].compactMap { item in
        state.entries[item.key].flatMap { $0.turn == item.turn ? (item.key, $0.value) : nil }
      }
      state.removeAll()
      return entries
    }
  }

  /// The value of a key. Setting nil removes the value; any other value is inserted with the cost 0.
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set {
      if let newValue { insert(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// Calls the handler outside of the lock, as it may use the cache.
  private func change(_ body: (inout State, inout [Value]) -> Void) {
    let (evicted, handler) = state.withLock { state in
      var evicted: [Value] = []
      body(&state, &evicted)
      return (evicted, state.onEviction)
    }
    if let handler { for value in evicted { handler(value) } }
  }
}
