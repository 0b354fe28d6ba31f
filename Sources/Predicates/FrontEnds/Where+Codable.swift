extension Where: Codable {
  /// Encodes the condition as the text of its ``tree``. Throws `EncodingError` for a mistake that was made while the
  /// condition was built. An object in it is archived as the name of its entity and its number, without its store.
  public func encode(to encoder: any Encoder) throws {
    switch condition.content {
    case .success(let tree): try tree.encode(to: encoder)
    case .failure(let mistake):
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription: mistake.description,
          underlyingError: mistake
        )
      )
    }
  }

  /// Decodes a condition from its text. Names and types are compared with the schema when the condition is used.
  public init(from decoder: any Decoder) throws { self.init(try PredicateTree(from: decoder)) }
}
