/// One side of a comparison.
///
/// An operand keeps its position in the text for error messages; the position takes no part in equality.
public struct PredicateOperand: Sendable {
  /// The content of an operand. Paths and values, the most frequent contents, are stored inline.
  public enum Content: Sendable, Hashable {
    /// Names from the fetched entity through relationships to a property: `origin.name`. A path through a to-many
    /// relationship needs a construct for several values, such as `ANY`.
    case path([String])
    /// Names from a variable: `$song.seconds`. In a condition on the elements of a collection, the variable of this
    /// condition stands for the element. Any other variable is a placeholder for a later value, and has no names.
    case variable(String, [String])
    /// The fetched object itself.
    case object
    /// A value that is spelled out, or captured.
    case value(AttributeValue)
    /// A number whose digits no `AttributeValue` keeps. It is rounded once, to the type it is compared with.
    indirect case digits(DecimalDigits)
    /// Another object.
    indirect case reference(ObjectReference)
    /// A calculation from other operands: `distance * 2`.
    case function(PredicateFunction, [PredicateOperand])
    /// The first of two operands where the condition holds, else the second: `TERNARY(p, a, b)`.
    indirect case conditional(PredicateTree, PredicateOperand, PredicateOperand)
    /// Several values: `SUBQUERY(songs, $s, $s.seconds > 60)`.
    indirect case collection(PredicateCollection)
    /// One value computed from several: `songs.@count`.
    indirect case aggregate(PredicateAggregate, PredicateCollection)
  }

  /// The content of the operand.
  public var content: Content
  /// The position of the operand in a text; nil if it doesn't come from a text.
  public var location: SourceLocation?

  /// Makes an operand.
  public init(_ content: Content, at location: SourceLocation? = nil) {
    self.content = content
    self.location = location
  }

  /// Returns the operand of a path: names from the fetched entity to a property.
  public static func path(_ names: [String]) -> PredicateOperand { PredicateOperand(.path(names)) }
  /// Returns the operand of a value.
  public static func value(_ value: AttributeValue) -> PredicateOperand { PredicateOperand(.value(value)) }
  /// Returns the operand of another object.
  public static func reference(_ object: ObjectReference) -> PredicateOperand {
    PredicateOperand(.reference(object))
  }
  /// The operand of the fetched object itself.
  public static var object: PredicateOperand { PredicateOperand(.object) }

  /// True if the operand is a value that is spelled out.
  public var isLiteral: Bool {
    switch content {
    case .value, .digits, .reference: true
    case .path, .object, .variable, .function, .conditional, .collection, .aggregate: false
    }
  }
}

extension PredicateOperand: Hashable {
  public static func == (left: PredicateOperand, right: PredicateOperand) -> Bool {
    left.content == right.content
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// A position in the text of a predicate.
public struct SourceLocation: Sendable, Hashable {
  /// The whole text.
  public let text: String
  /// The number of UTF-8 bytes before the position.
  public let offset: Int
  /// For a path that is spelled out: the offset of each of its names.
  public let nameOffsets: [Int]

  /// Makes a location. Offsets count UTF-8 bytes.
  public init(text: String, offset: Int, nameOffsets: [Int] = []) {
    self.text = text
    self.offset = offset
    self.nameOffsets = nameOffsets
  }

  /// The number of characters before the position. O(offset).
  public var column: Int { Self.column(of: offset, in: text) }

  /// Returns the number of characters before the path's name at an index.
  func column(ofName index: Int) -> Int {
    nameOffsets.indices.contains(index) ? Self.column(of: nameOffsets[index], in: text) : column
  }

  private static func column(of offset: Int, in text: String) -> Int {
    let utf8 = text.utf8
    let position = utf8.index(utf8.startIndex, offsetBy: offset, limitedBy: utf8.endIndex) ?? utf8.endIndex
    return text[..<position].count
  }
}

extension QueryError {
  /// Returns the error, found at an offset of a text.
  func at(_ location: SourceLocation?) -> QueryError {
    guard let location, source == nil else { return self }
    var error = self
    error.source = location.text
    error.column = location.column
    return error
  }
}
