import FuzzSupport
@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// Runs a program of commits, checkpoints, crashes and reopenings beside the oracle.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProgram(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var program = Program(FuzzInput(start, count))
  do {
    try program.run()
  } catch {
    report("\(error)")
  }
  return 0
}

private struct Program {
  private var input: FuzzInput
  private let subject: StoreUnderTest

  init(_ input: FuzzInput) {
    self.input = input
    var options = StoreOptions()
    options.pageSize = 4_096
    options.checkpointLogBytes = 64 << 10
    options.cacheBytes = 64 << 10
    subject = StoreUnderTest(options: options, seed: 1)
  }

  mutating func run() throws {
    try subject.open()
    while !input.isEmpty { try step() }
    try subject.check(seed: 1)
    try subject.close()
  }

  private mutating func step() throws {
    switch input.byte() % 16 {
    case 0: try subject.checkpoint()
    case 1:
      try subject.close()
      try subject.open()
    case 2:
      subject.die()
      try subject.open()
    case 3:
      let damage = Damage.allCases[Int(input.byte()) % Damage.allCases.count]
      subject.loseThePower(damage, seed: input.number(byteCount: 2))
      try subject.open()
      try subject.check(seed: 2)
    case 4: try subject.abort()
    case 5: try commit(.relaxed)
    default: try commit(.full)
    }
  }

  private mutating func commit(_ durability: Durability) throws {
    var state = subject.ledger.model.state
    let operations = (0..<Int(input.byte() % 24) + 1).map { _ in
      let operation = operation(on: state)
      state.apply(operation)
      return operation
    }
    guard case .committed = try subject.commit(operations, durability: durability) else {
      throw OracleMismatch("a commit failed on a disk without faults")
    }
  }

  private mutating func operation(on state: StoreState) -> StoreOperation {
    let choice = input.byte()
    let tree = "t\(choice >> 6)"
    switch choice % 16 {
    case 0...9: return .put(tree: tree, key: key(), value: value())
    case 10...12: return .remove(tree: tree, key: key())
    case 13:
      return .removeRange(tree: tree, range: KeyRange(lower: .including(key()), upper: .excluding(key())))
    case 14: return append(to: tree, of: state)
    default: return state.trees[tree] == nil ? .create(tree: tree) : .drop(tree: tree)
    }
  }

  /// A few bytes of the input, drawn out so that prefixes are shared and lengths vary.
  private mutating func key() -> [UInt8] {
    let shape = input.byte()
    let own = input.take(Int(shape % 4))
    let prefix = [UInt8](repeating: shape >> 6, count: [0, 0, 3, 40, 600, 1_500][Int(shape >> 2) % 6])
    return prefix + own
  }

  private mutating func value() -> [UInt8] {
    let count = [0, 1, 8, 60, 300, 1_200, 6_000, 70_000][Int(input.byte() % 8)]
    return [UInt8](repeating: input.byte(), count: count)
  }

  private mutating func append(to tree: String, of state: StoreState) -> StoreOperation {
    let last = state.trees[tree]?.entries.last?.key ?? []
    guard last.count < 2_000 else { return .put(tree: tree, key: key(), value: value()) }
    let entries = (0..<Int(input.byte()) + 1).map { number in
      (key: last + [UInt8(number), 1], value: [UInt8](repeating: 7, count: number))
    }
    return .append(tree: tree, entries: entries)
  }
}
