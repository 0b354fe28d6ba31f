import Predicates

/// A library as plain values, which contexts should show as well. Shares no code with contexts.
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
    var writer: ObjectNumber?
    var publisher: ObjectNumber?
  }
  struct Pair: Hashable {
    var reader: ObjectNumber
    var writer: ObjectNumber
  }

  var writers: [ObjectNumber: Writer] = [:]
  var books: [ObjectNumber: Book] = [:]
  var publishers: Set<ObjectNumber> = []
  /// Deleted, but not saved: books may still refer to them.
  var doomedPublishers: Set<ObjectNumber> = []
  /// The writer of each desk.
  var desks: [ObjectNumber: ObjectNumber?] = [:]
  /// The favourite book of each reader.
  var readers: [ObjectNumber: ObjectNumber?] = [:]
  var pairs: Set<Pair> = []

  func books(of writer: ObjectNumber) -> [ObjectNumber] {
    books.filter { $0.value.writer == writer }.keys.sorted()
  }
  func books(from publisher: ObjectNumber) -> [ObjectNumber] {
    books.filter { $0.value.publisher == publisher }.keys.sorted()
  }
  func desk(of writer: ObjectNumber) -> ObjectNumber? { desks.first { $0.value == writer }?.key }
  func fans(of writer: ObjectNumber) -> [ObjectNumber] {
    pairs.filter { $0.writer == writer }.map(\.reader).sorted()
  }
  func idols(of reader: ObjectNumber) -> [ObjectNumber] {
    pairs.filter { $0.reader == reader }.map(\.writer).sorted()
  }

  mutating func seat(_ writer: ObjectNumber?, at desk: ObjectNumber) {
    if let writer, let old = self.desk(of: writer) { desks[old] = .some(nil) }
    desks[desk] = .some(writer)
  }

  mutating func deleteWriter(_ number: ObjectNumber) {
    for book in books(of: number) { deleteBook(book) }
    if let desk = desk(of: number) { desks[desk] = .some(nil) }
    pairs = pairs.filter { $0.writer != number }
    writers[number] = nil
  }

  mutating func deleteBook(_ number: ObjectNumber) {
    for (reader, favourite) in readers where favourite == number { readers[reader] = .some(nil) }
    books[number] = nil
  }

  mutating func deleteReader(_ number: ObjectNumber) {
    pairs = pairs.filter { $0.reader != number }
    readers[number] = nil
  }

  /// The reasons for which a save would be refused; empty when it passes.
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
