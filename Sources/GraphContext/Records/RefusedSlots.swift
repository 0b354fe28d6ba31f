/// The slots of a record whose values were refused. They are nil in the record.
struct RefusedSlots: Hashable {
  /// The slots whose values are of another kind, or out of its range.
  var unfitting = SlotSet.empty
  /// The slots whose values are too long for the record, beside those that it has.
  var tooLong = SlotSet.empty

  var all: SlotSet { unfitting.union(tooLong) }
}
