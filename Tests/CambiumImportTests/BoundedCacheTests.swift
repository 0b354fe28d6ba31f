import CambiumImport
import Testing

/// Caches that evict their oldest entries.
struct BoundedCacheTests {
  private final class Evicted: Sendable {
    private let values = Locked<[Int]>([])
    func add(_ value: Int) { values.withLock { $0.append(value) } }
    var all: [Int] { values.withLock { $0 } }
  }

  private let evicted = Evicted()

  private func cache(countLimit: Int = 0, totalCostLimit: Int = 0) -> BoundedCache<Int, Int> {
    let cache = BoundedCache<Int, Int>(name: "test", countLimit: countLimit, totalCostLimit: totalCostLimit)
    let evicted = evicted
    cache.onObjectEviction { evicted.add($0) }
    return cache
  }

  @Test(arguments: [(2, 0), (0, 20)]) func theFirstGoesFirst(_ countLimit: Int, _ totalCostLimit: Int) {
    let cache = cache(countLimit: countLimit, totalCostLimit: totalCostLimit)
    for value in 1...2 { cache.insert(value, forKey: value, cost: 10) }
    #expect(evicted.all == [])
    cache.insert(3, forKey: 3, cost: 10)
    #expect(evicted.all == [1])
    // Reading doesn't make it newer.
    #expect(cache.value(forKey: 2) == 2)
    cache.insert(4, forKey: 4, cost: 10)
    #expect(evicted.all == [1, 2])
    cache.clearCache()
    #expect(evicted.all == [1, 2, 3, 4] && cache.count == 0)
    #expect(cache.name == "test")
  }

  @Test func keysOfOneHashValueAreDifferent() {
    struct Key: Hashable, Sendable {
      let value: Int
      func hash(into hasher: inout Hasher) {}
    }
    let cache = BoundedCache<Key, Int>(name: "test")
    for value in 0..<50 { cache[Key(value: value)] = value }
    cache[Key(value: 7)] = nil
    for value in 0..<50 { #expect(cache[Key(value: value)] == (value == 7 ? nil : value)) }
  }

  @Test func removalIsReportedAndAHandlerCanBeTakenAway() {
    let cache = cache()
    cache[1] = 10
    cache[2] = 20
    cache.insert(11, forKey: 1)
    #expect(evicted.all == [10])
    cache[2] = nil
    cache.removeValue(forKey: 1)
    cache.removeValue(forKey: 1)
    #expect(evicted.all == [10, 20, 11] && cache[1] == nil)
    cache[3] = 30
    cache.onObjectEviction(nil)
    cache.clearCache()
    #expect(evicted.all == [10, 20, 11])
  }

  @Test func aRandomCacheIsAList() {
    let seed = UInt64.random(in: 0..<1_000_000)
    var random = SplitMix(seed)
    let cache = cache(countLimit: 5, totalCostLimit: 12)
    var list: [(key: Int, value: Int, cost: Int)] = []
    var gone: [Int] = []
    for step in 0..<3_000 {
      let key = Int(random.next() % 9)
      if random.next() % 4 == 0 {
        gone += list.filter { $0.key == key }.map(\.value)
        list.removeAll { $0.key == key }
        cache.removeValue(forKey: key)
      } else {
        let cost = Int(random.next() % 6)
        gone += list.filter { $0.key == key }.map(\.value)
        list.removeAll { $0.key == key }
        list.append((key, step, cost))
        while list.count > 5 || list.reduce(0, { $0 + $1.cost }) > 12 {
          gone.append(list.removeFirst().value)
        }
        cache.insert(step, forKey: key, cost: cost)
      }
      #expect(cache.count == list.count, "seed \(seed)")
      #expect(list.allSatisfy { cache[$0.key] == $0.value }, "seed \(seed)")
    }
    #expect(evicted.all == gone, "seed \(seed)")
  }

  private struct SplitMix {
    var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
}
