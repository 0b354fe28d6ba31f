/// A number that a store's catalogue gives to one thing, and never to another in the same store.
///
/// What is stored refers to entities, properties and indexes by their numbers. Their names are labels, which may change.
package struct StableNumber<Subject>: RawRepresentable, Sendable, Hashable, Comparable, Codable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static func < (left: StableNumber, right: StableNumber) -> Bool { left.rawValue < right.rawValue }
}

package typealias EntityNumber = StableNumber<CataloguedEntity>
package typealias PropertyNumber = StableNumber<CataloguedProperty>
package typealias IndexNumber = StableNumber<CataloguedIndex>
