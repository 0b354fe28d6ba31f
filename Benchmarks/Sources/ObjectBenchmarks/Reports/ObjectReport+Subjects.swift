import BenchmarkHarness

extension ObjectReport.Subject {
  static let objects = ObjectReport.Subject(
    title: "Object workloads",
    command: "make bench-objects",
    caveats: shared + ofObjectBox()
  )

  static let queries = ObjectReport.Subject(
    title: "Query workloads",
    command: "make bench-queries",
    caveats: shared + [
      "The queries of a round of O5 and O6 follow one another in one context, or one read transaction; no object outlives its "
        + "query.",
      "O7 follows the relationship: each engine hands out the persons of a city one by one, and the scores are added up "
        + "outside of it. “GRDB, fast” and SQLite read that one column, ObjectBox hands out whole records, the others make "
        + "objects.",
      "O11: Cambium groups by the city's ID, SQLite by the column that refers to it. Averages are compared to a millionth.",
      "P2 counts a range of the index, which needs no plan; P3 makes the plan's explanation, texts included, and so costs "
        + "more than a query's plan. Neither compiles a filter.",
      "Allocations are calls of malloc and its kin, of all libraries, counted in a round of its own.",
    ]
      + ofObjectBox([
        "O11: ObjectBox has no groups; every person is visited, and the scores of each city are added up outside of it."
      ])
  )

  /// Notes about ObjectBox for the reader of the report, or the reason why it takes no part.
  private static func ofObjectBox(_ caveats: [String] = []) -> [String] {
    switch ObjectBoxLibrary.functions {
    case .success:
      [
        "ObjectBox makes no language objects either: attributes are read in its memory. Its index of email addresses is one of "
          + "hashes. It promises no order that a query doesn't ask for; the one it has is insertion's, as the checksums prove."
      ] + caveats
    case .failure(let error): ["ObjectBox takes no part: \(error.message)."]
    }
  }

  private static let shared = [
    "Times of a shared machine: only ratios of one run mean something.",
    "SQLite in C makes no language objects: it hands bytes and numbers to the checksum, as “GRDB, fast” and Cambium hand them "
      + "strings and dates.",
    "The stores are read by the process that has just filled them, and fit into each engine's cache.",
    "All peers have the same indexes: unique email, age, city.",
  ]
}
