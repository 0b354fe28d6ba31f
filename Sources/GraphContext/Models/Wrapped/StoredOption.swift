import Foundation
import Predicates

/// An option of an attribute that ``Stored`` declares: `@Stored(.unique, .length(1...80)) var title: String = ""`.
public struct StoredOption<Value: AttributeType>: Sendable {
  enum Kind: Sendable {
    case none
    case unique(UniquePolicy)
    case rule(AttributeRule)
    case preserveValueOnDeletion
    case externalStorage
    case perInsert(@Sendable () -> Value)
  }
  let kind: Kind

  /// An option that says nothing.
  public static var none: StoredOption { StoredOption(kind: .none) }

  /// An option by which no two objects have the same value; an object with nil is exempt.
  public static var unique: StoredOption { unique(ifExists: .error) }

  /// Makes the attribute unique: no two objects have the same value, and a save treats a new object with a value of an
  /// existing one as the policy says.
  public static func unique(ifExists policy: UniquePolicy) -> StoredOption {
    StoredOption(kind: .unique(policy))
  }

  /// Makes saves refuse a value that is less.
  public static func min(_ value: Value) -> StoredOption { StoredOption(kind: .rule(.min(value))) }

  /// Makes saves refuse a value that is greater.
  public static func max(_ value: Value) -> StoredOption { StoredOption(kind: .rule(.max(value))) }

  /// Makes saves refuse a string of fewer or more characters, or data of fewer or more bytes.
  public static func length(_ range: some RangeExpression<Int>) -> StoredOption {
    StoredOption(kind: .rule(.length(range)))
  }

  /// Makes saves refuse a string that doesn't fit the regular expression as a whole, in the syntax of `MATCHES`.
  public static func pattern(_ pattern: String) -> StoredOption {
    StoredOption(kind: .rule(.pattern(pattern)))
  }

  /// An option by which the history of the store keeps the last value of a deleted object.
  public static var preserveValueOnDeletion: StoredOption { StoredOption(kind: .preserveValueOnDeletion) }

  /// Lets the insertion make the first value, unless the object was given one before. The closure is called on
  /// whichever thread inserts. An initial value in the declaration is then that of objects which were stored before the
  /// attribute existed, and no new object has it.
  public static func perInsert(_ makeValue: @escaping @Sendable () -> Value) -> StoredOption {
    StoredOption(kind: .perInsert(makeValue))
  }
}

extension StoredOption where Value._Present == Data {
  /// An option by which long values are stored outside of the object's record.
  public static var externalStorage: StoredOption { StoredOption(kind: .externalStorage) }
}

extension StoredOption where Value._Present == String {
  /// An option by which long values are stored outside of the object's record.
  public static var externalStorage: StoredOption { StoredOption(kind: .externalStorage) }
}
