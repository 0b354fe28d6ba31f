import Predicates

/// The changes of derived values of the objects whose members a save has changed. They are gathered until
/// everything else is stored, so that each object is updated once, however many of its members have changed.
struct DerivedChanges {
  /// The change of the values of one object.
  struct Owner {
    /// The slots that are computed anew.
    var stale = SlotSet.empty
    /// The integers that are added to sums, by slot.
    var sums: [Int: Int128] = [:]
    /// The extremes of the integers that were added and removed, by slot.
    var extremes: [Int: Extremes] = [:]
  }

  /// The extremes of the integers that an object has gained (`come`) and lost (`gone`).
  struct Extremes {
    var come: Int128?
    var gone: Int128?
  }

  /// The objects to update, by the entity's ordinal.
  private var owners: [Int: [ObjectNumber: Owner]] = [:]
  /// Objects of many-to-many relationships whose values have changed, by the tree that leads from them to their
  /// owners.
  private(set) var changedMembers: [String: Set<ObjectNumber>] = [:]

  var isEmpty: Bool { owners.isEmpty && changedMembers.isEmpty }

  /// Notes that a value has to be computed anew.
  mutating func noteStale(_ slot: Int, of owner: ObjectNumber, _ entity: Int) {
    owners[entity, default: [:]][owner, default: Owner()].stale.insert(slot)
  }

  mutating func noteChanged(_ member: ObjectNumber, in treeName: String) {
    changedMembers[treeName, default: []].insert(member)
  }

  /// Notes that an object has gained or lost a member, or that a member has another value.
  ///
  /// - Parameters:
  ///   - gone: the value that the object has no longer; nil if it is no integer.
  ///   - come: the value that the object has from now on; nil if it is no integer.
  mutating func note(
    _ member: MemberDerivation,
    of owner: ObjectNumber,
    gone: AttributeValue?,
    come: AttributeValue?
  ) {
    let slot = member.derivation.slot
    guard let value = member.value, value.kind.isInteger else {
      return noteStale(slot, of: owner, member.owner)
    }
    let (gone, come) = (gone?.wholeNumber, come?.wholeNumber)
    if gone == nil, come == nil { return }
    let isLeast = value.function == .min
    let isSum = value.function == .sum
    owners[member.owner, default: [:]][owner, default: Owner()].note(
      slot,
      isSum: isSum,
      isLeast: isLeast,
      gone: gone,
      come: come
    )
  }

  /// Removes the objects of an entity from these changes, and returns them in ascending order.
  mutating func takeOwners(_ entity: Int) -> [(key: ObjectNumber, value: Owner)] {
    (owners.removeValue(forKey: entity) ?? [:]).sorted { $0.key < $1.key }
  }

  mutating func takeChangedMembers() -> [String: Set<ObjectNumber>] {
    defer { changedMembers = [:] }
    return changedMembers
  }
}

extension DerivedChanges.Owner {
  fileprivate mutating func note(_ slot: Int, isSum: Bool, isLeast: Bool, gone: Int128?, come: Int128?) {
    if isSum {
      sums[slot, default: 0] += (come ?? 0) - (gone ?? 0)
      return
    }
    var known = extremes[slot] ?? DerivedChanges.Extremes()
    known.come = Self.extreme(known.come, come, isLeast)
    known.gone = Self.extreme(known.gone, gone, isLeast)
    extremes[slot] = known
  }

  private static func extreme(_ a: Int128?, _ b: Int128?, _ isLeast: Bool) -> Int128? {
    guard let a, let b else { return a ?? b }
    return isLeast ? min(a, b) : max(a, b)
  }

  /// Returns the new value of a slot if it follows from the stored one, and `.unknown` if it has to be computed
  /// from all members.
  func value(of derivation: StoredDerivation, _ stored: AttributeValue) -> DerivedChanges.NewValue {
    let slot = derivation.slot
    if stale.contains(slot) { return .unknown }
    if let sum = sums[slot] {
      guard let known = stored.wholeNumber else { return .unknown }
      return .known(AttributeValue(wholeNumber: known + sum).flatMap { $0.stored(as: derivation.kind) })
    }
    guard let extremes = extremes[slot] else { return .known(stored) }
    let isLeast = derivation.aggregate?.value?.function == .min
    guard let known = stored.wholeNumber else {
      return extremes.gone == nil
        ? .known(extremes.come.flatMap(AttributeValue.init(wholeNumber:))) : .unknown
    }
    // A removed member may have been the only one with this value.
    if let gone = extremes.gone, isLeast ? gone <= known : gone >= known { return .unknown }
    return .known(Self.extreme(known, extremes.come, isLeast).flatMap(AttributeValue.init(wholeNumber:)))
  }
}

extension DerivedChanges {
  enum NewValue {
    /// The new value; nil for a number that the attribute's kind can't hold.
    case known(AttributeValue?)
    case unknown
  }
}

extension AttributeValue {
  /// The integer; nil for any other value.
  var wholeNumber: Int128? {
    switch self {
    case .int(let value): Int128(value)
    case .uint(let value): Int128(value)
    default: nil
    }
  }

  /// Nil for an integer that no kind can hold.
  init?(wholeNumber: Int128) {
    if let value = Int64(exactly: wholeNumber) {
      self = .int(value)
    } else if let value = UInt64(exactly: wholeNumber) {
      self = .uint(value)
    } else {
      return nil
    }
  }
}
