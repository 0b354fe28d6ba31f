/// A library as plain values: what contexts should say of theirs. Shares no code with them.
struct LibraryOracle: Equatable {
  struct Writer: Equatable {
    var email: String?
    var rank = 0
  }
  struct Book: Equatable {
    var title: String
    var pages: Int
    var shelf: String?
    var place: Int?
    var writer: UInt64?
    var publisher: UInt64?
  }
  struct Pair: Hashable {
    var reader: UInt64
    var writer: UInt64
  }

  var writers: [UInt64: Writer] = [:]
  var books: [UInt64: Book] = [:]
  var publishers: Set<UInt64> = []
  /// Deleted, but not saved: books may still refer to them.
  var doomedPublishers: Set<UInt64> = []
  /// The writer of each desk.
  var desks: [UInt64: UInt64?] = [:]
  /// The favourite book of each reader.
  var readers: [UInt64: UInt64?] = [:]
  var pairs: Set<Pair> = []

  func books(of writer: UInt64) -> [UInt64] { books.filter { $0.value.writer == writer }.keys.sorted() }
  func books(from publisher: UInt64) -> [UInt64] {
    books.filter { $0.value.publisher == publisher }.keys.sorted()
  }
  func desk(of writer: UInt64) -> UInt64? { desks.first { $0.value == writer }?.key }
  func fans(of writer: UInt64) -> [UInt64] { pairs.filter { $0.writer == writer }.map(\.reader).sorted() }
  func idols(of reader: UInt64) -> [UInt64] { pairs.filter { $0.reader == reader }.map(\.writer).sorted() }

  mutating func seat(_ writer: UInt64?, at desk: UInt64) {
    if let writer, let old = self.desk(of: writer) { desks[old] = .some(nil) }
    desks[desk] = .some(writer)
  }

  mutating func deleteWriter(_ number: UInt64) {
    for book in books(of: number) { deleteBook(book) }
    if let desk = desk(of: number) { desks[desk] = .some(nil) }
    pairs = pairs.filter { $0.writer != number }
    writers[number] = nil
  }

  mutating func deleteBook(_ number: UInt64) {
    for (reader, favourite) in readers where favourite == number { readers[reader] = .some(nil) }
    books[number] = nil
  }

  mutating func deleteReader(_ number: UInt64) {
    pairs = pairs.filter { $0.reader != number }
    readers[number] = nil
  }

  /// What a save would object to; empty when it passes.
  var objections: Set<String> {
    var result: Set<String> = []
    if books.values.contains(where: { $0.publisher == nil }) { result.insert("missingValue") }
    let doomed = doomedPublishers
    if books.values.contains(where: { $0.publisher.map(doomed.contains) ?? false }) {
      result.insert("deletionDenied")
    }
    let emails = writers.values.compactMap(\.email)
    let places = books.values.compactMap { book in
      book.shelf.flatMap { shelf in book.place.map { "\(shelf) \($0)" } }
    }
    if Set(emails).count < emails.count || Set(places).count < places.count { result.insert("notUnique") }
    return result
  }
}
