import Cambium

/// A row of the lists that are observed.
@Model
final class Entry {
  #Index<Entry>([\.minute])

  var minute: Int
  /// Without an index: a list in this order holds numbers.
  var label: Int

  init(minute: Int, label: Int) {
    self.minute = minute
    self.label = label
  }
}
