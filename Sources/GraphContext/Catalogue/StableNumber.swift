/// A number that a store's catalogue gives to one subject, and never to another subject of the same store.
///
/// Stored data refers to entities, properties and indexes by their numbers. Their names are labels, which may
/// change.
package struct StableNumber<Subject>: RawRepresentable, Sendable, Hashable, Comparable, Codable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static func < (left: StableNumber, right: StableNumber) -> Bool { left.rawValue < right.rawValue }
}

package typealias EntityNumber = StableNumber<CataloguedEntity>
typealias PropertyNumber = StableNumber<CataloguedProperty>
typealias IndexNumber = StableNumber<CataloguedIndex>
