import PageStore

/// The commits of a process that is going to be killed. Each commit follows from its number alone, so that another
/// process knows the contents of the store after any of them.
public enum KillWorkload {
  /// Returns the changes of commit `number`.
  public static func operations(_ number: UInt64) -> [StoreOperation] {
    var generator = SeededGenerator(seed: number)
    var operations: [StoreOperation] = [
      .put(tree: "numbers", key: bytes(number), value: bytes(number &* number)),
      .put(tree: "random", key: bytes(generator.next() % 400), value: generator.bytes(Int(number % 300))),
      .remove(tree: "random", key: bytes(generator.next() % 400)),
    ]
    if number % 16 == 0 {
      operations.append(.put(tree: "large", key: bytes(number % 5), value: generator.bytes(80_000)))
    }
    if number % 100 == 0 {
      operations.append(.removeRange(tree: "numbers", range: KeyRange(upper: .excluding(bytes(number - 50)))))
    }
    return operations
  }

  /// Returns the durability of commit `number`.
  public static func durability(_ number: UInt64) -> Durability { number % 3 == 0 ? .relaxed : .full }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}
