import Cambium

/// A guest, and the table with a seat for the guest.
@Model final class Guest {
  /// The order of the list, so that the index counts its positions.
  #Index<Guest>([\.table, \.name])
  @Attribute(.length(1...60)) var name: String
  @Attribute(.length(1...30)) var table: String

  init(_ name: String, at table: String) { (self.name, self.table) = (name, table) }
}
