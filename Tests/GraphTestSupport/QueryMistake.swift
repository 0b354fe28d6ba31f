import GraphContext
import Predicates
import Testing

/// The mistake that `body` finds in a query; an issue where it throws anything else, or nothing.
@discardableResult
package func expectMistake(
  sourceLocation: Testing.SourceLocation = #_sourceLocation,
  _ body: () throws -> some Any
) -> QueryError? {
  let error = #expect(throws: ContextError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == .invalidQuery, sourceLocation: sourceLocation)
  #expect(error?.queryError != nil, sourceLocation: sourceLocation)
  return error?.queryError
}
