#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Strings as predicates see them: their UTF-8 bytes, folded first where options ask for it.
///
/// The order of UTF-8 bytes is the order of Unicode scalars. `String`'s own `==` and `<` are not used: they
/// treat canonically equivalent strings as equal, which an index that compares bytes can't do.
package enum ByteComparison {
  /// Returns a number less than, equal to or greater than 0: unsigned bytes from the left, a prefix before
  /// longer bytes.
  package static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let common = min(a.count, b.count)
    if common > 0, let first = a.baseAddress, let second = b.baseAddress {
      let difference = memcmp(first, second, common)
      if difference != 0 { return Int(difference) }
    }
    return a.count - b.count
  }

  static func hasPrefix(_ text: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Bool {
    text.count >= prefix.count
      && order(UnsafeRawBufferPointer(rebasing: text.prefix(prefix.count)), prefix) == 0
  }

  static func hasSuffix(_ text: UnsafeRawBufferPointer, _ suffix: UnsafeRawBufferPointer) -> Bool {
    text.count >= suffix.count
      && order(UnsafeRawBufferPointer(rebasing: text.suffix(suffix.count)), suffix) == 0
  }

  /// Returns whether the text contains the pattern. O(text × pattern) at worst, where the text repeats the pattern's
  /// start; O(text) as a rule.
  static func contains(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer) -> Bool {
    guard let first = pattern.first else { return true }
    guard var position = text.baseAddress, let needle = pattern.baseAddress else { return false }
    var starts = text.count - pattern.count + 1
    while starts > 0, let found = memchr(position, Int32(first), starts) {
      if memcmp(found, needle, pattern.count) == 0 { return true }
      starts -= position.distance(to: found) + 1
      position = UnsafeRawPointer(found) + 1
    }
    return false
  }

  /// Returns whether an operator holds between bytes that are folded already. Operators that take a pattern
  /// return false: patterns are compiled, not compared.
  static func matches(
    _ text: UnsafeRawBufferPointer,
    _ comparison: ComparisonOperator,
    _ pattern: UnsafeRawBufferPointer
  ) -> Bool {
    switch comparison {
    case .beginsWith: hasPrefix(text, pattern)
    case .endsWith: hasSuffix(text, pattern)
    case .contains: contains(text, pattern)
    case .like, .matches: false
    case .equal: order(text, pattern) == 0
    case .notEqual: order(text, pattern) != 0
    case .less: order(text, pattern) < 0
    case .lessOrEqual: order(text, pattern) <= 0
    case .greater: order(text, pattern) > 0
    case .greaterOrEqual: order(text, pattern) >= 0
    }
  }

  static func order(_ a: String, _ b: String, _ options: StringOptions) -> Int {
    withBytes(a, b, options) { order($0, $1) }
  }

  static func matches(
    _ text: String,
    _ comparison: ComparisonOperator,
    _ pattern: String,
    _ options: StringOptions
  ) -> Bool {
    switch comparison {
    case .like:
      let pattern = LikePattern(pattern, options)
      return withBytes(text, "", options) { text, _ in pattern.matches(text) }
    case .matches: return (try? RegexPattern(pattern, options))?.matches(text) ?? false
    default: return withBytes(text, pattern, options) { matches($0, comparison, $1) }
    }
  }

  private static func withBytes<R>(
    _ a: String,
    _ b: String,
    _ options: StringOptions,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> R
  ) -> R {
    var first = StringFolding.fold(a, options)
    var second = StringFolding.fold(b, options)
    return first.withUTF8 { first in
      second.withUTF8 { second in body(UnsafeRawBufferPointer(first), UnsafeRawBufferPointer(second)) }
    }
  }
}
