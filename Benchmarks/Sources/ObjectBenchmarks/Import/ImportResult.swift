/// One import of the flights, in a process of its own so that its peak memory is its own.
struct ImportResult: Codable {
  var peer: String
  var rows: Int
  var seconds: Double
  var peakBytes: Int
  var fileBytes: Int
  /// The number of rows of each kind that answer a query with an index and a relationship, to compare peers by.
  var answers: [Int]
}
