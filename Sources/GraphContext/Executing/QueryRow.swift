import Predicates

/// A found object.
struct QueryRow {
  var number: ObjectNumber
  /// The record, if it was read. The maker of the row documents how long the bytes are valid.
  var record: UnsafeRawBufferPointer?

  /// A function that converts a record that is valid for one step to a record that is valid as long as the row.
  typealias Keep = (UnsafeRawBufferPointer) -> UnsafeRawBufferPointer?

  /// Returns the row with the result of `keep` as its record; without a record if `keep` is nil.
  func kept(_ keep: Keep?) -> QueryRow {
    QueryRow(number: number, record: keep.flatMap { keep in record.flatMap(keep) })
  }
}
