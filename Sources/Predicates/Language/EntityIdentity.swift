/// How a store knows one of its entities: by its number, which it has for ever, and by its name, a label for people.
///
/// Two words without references: every object ID has one, and rows make many.
package struct EntityIdentity: Sendable, Hashable {
  /// What the store's catalogue gave to the entity, and gives to no other.
  package let number: UInt32
  /// The name, as a number of this process.
  package let nameTag: UInt32

  package init(number: UInt32, nameTag: UInt32) {
    self.number = number
    self.nameTag = nameTag
  }
}
