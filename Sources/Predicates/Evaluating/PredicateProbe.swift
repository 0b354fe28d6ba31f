/// The processing of a predicate like that of a query, up to the reading of rows; for fuzzing.
@_spi(Testing)
public enum PredicateProbe {
  /// Finds the predicate's names, brings it into normal form and compiles its filter.
  ///
  /// - Throws: the mistake in the predicate for this entity.
  public static func examine(
    _ tree: PredicateTree,
    for entity: EntitySchema,
    in schema: some SchemaProviding
  ) throws(QueryError) {
    let resolved = try tree.resolved(for: entity, in: schema)
    _ = try FilterProgram(compiling: resolved, for: entity, in: schema)
    _ = try FilterProgram(compiling: .not(resolved), for: entity, in: schema)
  }
}
