import Synchronization

/// A cache that holds at most so many values, or values of at most so much cost: the first that came is the first to go.
///
/// It may be used from any thread. Every call is O(1), but for what has to go.
public final class BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What to call the cache in messages.
  public let name: String
  private let state: Mutex<State>

  private struct Entry {
    let value: Value
    let cost: Int
    /// Where the entry is in the order of insertion.
    let turn: UInt64
  }

  private struct State {
    var countLimit: Int
    var totalCostLimit: Int
    var entries: [Key: Entry] = [:]
    /// Keys in the order of insertion; the turn tells those that have come again or have gone.
    var order: [(key: Key, turn: UInt64)] = []
    var first = 0
    var nextTurn: UInt64 = 0
    /// Costs may add up to more than one of them can be.
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

  /// The most that the costs of the values add up to; 0 for no limit. A lower limit takes effect at the next insertion.
  public var totalCostLimit: Int {
    get { state.withLock { $0.totalCostLimit } }
    set { state.withLock { $0.totalCostLimit = newValue } }
  }

  /// How many values the cache holds.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Calls `body` with each value that leaves the cache from now on: for want of room, because it was removed or replaced, and when the cache is
  /// cleared. Nil ends that.
  ///
  /// The call comes after the change, on the thread that has made it; `body` may use the cache.
  public func onObjectEviction(_ body: (@Sendable (Value) -> Void)?) {
    state.withLock { $0.onEviction = body }
  }

  /// Puts a value in, as the newest; then the oldest go until the limits hold. A value that alone is above the limit of costs goes as well.
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

  /// Takes a value out; does nothing where there is none.
  public func removeValue(forKey key: Key) {
    change { state, evicted in if let old = state.remove(key) { evicted.append(old) } }
  }

  /// Takes all values out, the oldest first.
  public func clearCache() {
    change { state, evicted in while let value = state.removeFirst() { evicted.append(value) } }
  }

  /// Takes all entries out, the oldest first, without telling the handler.
  func takeAll() -> [(key: Key, value: Value)] {
    state.withLock { state in
      let entries = state.order[state.first...].compactMap { item in
        state.entries[item.key].flatMap { $0.turn == item.turn ? (item.key, $0.value) : nil }
      }
      state.removeAll()
      return entries
    }
  }

  /// The value of a key. Nil takes it out; another value goes in with the cost 0.
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
