import PageStore

/// One change of a store, for the store and for its oracle.
public enum StoreOperation: Sendable {
  case create(tree: String)
  case put(tree: String, key: [UInt8], value: [UInt8])
  case remove(tree: String, key: [UInt8])
  case removeRange(tree: String, range: KeyRange)
  /// Bulk append of ascending keys above the tree's last one.
  case append(tree: String, entries: [SortedArrayOracle.Entry])
  case drop(tree: String)
  /// Says that the transaction is a deletion, which changes no entry.
  case markAsDeletion
}

extension StoreState {
  /// Makes the change here; returns how many entries it took out.
  @discardableResult
  public mutating func apply(_ operation: StoreOperation) -> Int {
    switch operation {
    case .create(let tree):
      if trees[tree] == nil { trees[tree] = SortedArrayOracle() }
    case .put(let tree, let key, let value):
      trees[tree, default: .init()].put(key, value)
    case .remove(let tree, let key):
      return trees[tree, default: .init()].remove(key) == nil ? 0 : 1
    case .removeRange(let tree, let range):
      return trees[tree, default: .init()].removeRange(range)
    case .append(let tree, let entries):
      for entry in entries { trees[tree, default: .init()].put(entry.key, entry.value) }
    case .drop(let tree):
      trees[tree] = nil
    case .markAsDeletion: break
    }
    return 0
  }
}

extension WriteTransaction {
  /// Makes the change here; returns how many entries it took out, if the store returns that.
  @discardableResult
  public mutating func apply(_ operation: StoreOperation) throws -> Int? {
    switch operation {
    case .create(let name):
      _ = try tree(name)
      return nil
    case .put(let name, let key, let value):
      try tree(name).put(key, value)
      return nil
    case .remove(let name, let key):
      return try tree(name).remove(key) ? 1 : 0
    case .removeRange(let name, let range):
      return try tree(name).removeRange(range)
    case .append(let name, let entries):
      try tree(name).append(sorted: entries)
      return nil
    case .drop(let name):
      try dropTree(name)
      return nil
    case .markAsDeletion:
      markAsDeletion()
      return nil
    }
  }
}

/// A difference between a store and its oracle.
public struct OracleMismatch: Error, CustomStringConvertible {
  public var description: String

  public init(_ description: String) { self.description = description }
}
