/// A store's identity of one of its entities: its number, which never changes, and its name, a label for
/// people.
///
/// Two words without references: every object ID has one, and rows make many.
package struct EntityIdentity: Sendable, Hashable {
  /// The number that the store's catalogue gave to the entity, and gives to no other.
  package let number: UInt32
  /// The name, as a number of this process.
  package let nameTag: UInt32

  package init(number: UInt32, nameTag: UInt32) {
    self.number = number
    self.nameTag = nameTag
  }
}
