import Predicates

/// A found object.
struct QueryRow {
  var number: ObjectNumber
  /// The record, if it was read. The maker of the row says how long the bytes are valid.
  var record: UnsafeRawBufferPointer?

  /// Makes a record that is valid for one step into one that is valid as long as the row.
  typealias Keep = (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer?

  /// The row with what `keep` returns as its record; without a record where there is no such function.
  func kept(_ keep: Keep?) -> QueryRow {
    QueryRow(number: number, record: keep.flatMap { keep in record.flatMap(keep) })
  }
}
