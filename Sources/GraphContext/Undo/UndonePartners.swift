import Predicates

/// The to-one relationships that an undo has to check after it has restored objects. Another object may lead to a
/// restored partner by now, and a restored reference may lead to a deleted object.
struct UndonePartners {
  /// An object that leads to another one by a one-to-one relationship, before the undo.
  private struct Link {
    let owner: ObjectKey
    let slot: Int
    let target: ObjectKey
    /// The slot of the target that is to lead back.
    let inverse: Int
  }

  /// A to-one relationship that the undo restores, and its target then.
  private struct Reference {
    let owner: ObjectKey
    let slot: Int
    let target: ObjectKey
  }

  private let context: ManagedObjectContext
  private var links: [Link] = []
  private var references: [Reference] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Notes the references that the undo restores in an object, and the links that they replace. Called before the undo
  /// changes anything.
  mutating func note(_ key: ObjectKey, _ values: UndoGroup.Values, in slots: SlotSet) {
    let entity = context.entity(key.entity)
    for toOne in entity.toOnes where slots.contains(toOne.slot) {
      let number = values.record.withUnsafeBytes {
        RecordView(validated: $0, layout: entity.layout).reference(toOne.slot)
      }
      let target = ObjectKey(entity: toOne.destination, number: number)
      if !number.isNone { references.append(Reference(owner: key, slot: toOne.slot, target: target)) }
      guard case .toOne(let inverse) = toOne.inverse else { continue }
      if let partner = reference(of: target, at: inverse), partner != key.number {
        let rival = ObjectKey(entity: key.entity, number: partner)
        links.append(Link(owner: rival, slot: toOne.slot, target: target, inverse: inverse))
      }
      if let now = reference(of: key, at: toOne.slot), now != number {
        let former = ObjectKey(entity: toOne.destination, number: now)
        links.append(Link(owner: former, slot: inverse, target: key, inverse: toOne.slot))
      }
    }
  }

  /// Clears restored references to deleted objects, and one-to-one references whose target doesn't lead back. Called
  /// after the undo has restored all objects.
  func part() {
    for reference in references
    where context.isThere(reference.owner) && !context.isThere(reference.target) && !keeps(reference) {
      clear(reference.owner, slot: reference.slot, leadingTo: reference.target.number)
    }
    for link in links where context.isThere(link.owner) {
      if reference(of: link.target, at: link.inverse) == link.owner.number { continue }
      clear(link.owner, slot: link.slot, leadingTo: link.target.number)
    }
  }

  /// Returns true for a reference that the deletion of its target in this context doesn't clear: the rule of the
  /// relationship that leads back makes the save fail instead.
  private func keeps(_ reference: Reference) -> Bool {
    let target = context.entity(reference.target.entity)
    guard context.knownObject(reference.target.number, of: target)?._$state.phase == .deleted,
      let toOne = context.entity(reference.owner.entity).toOnes.first(where: { $0.slot == reference.slot }),
      case .toMany(let ordinal) = toOne.inverse
    else { return false }
    return target.toManys[ordinal].deleteRule == .deny
  }

  /// Returns the number that a slot of an object leads to; nil where it leads nowhere, or the object isn't there.
  private func reference(of key: ObjectKey, at slot: Int) -> ObjectNumber? {
    guard !key.number.isNone, context.isThere(key),
      context.entity(key.entity).ownSlots(of: key.number).contains(slot)
    else { return nil }
    let number = object(key).reference(at: slot)
    return number.isNone ? nil : number
  }

  private func clear(_ key: ObjectKey, slot: Int, leadingTo number: ObjectNumber) {
    let object = object(key)
    guard object.reference(at: slot) == number else { return }
    context.relationships.set(object, slot: slot, to: .none)
  }

  private func object(_ key: ObjectKey) -> any ManagedObject {
    context.object(key.number, of: context.entity(key.entity))
  }
}
