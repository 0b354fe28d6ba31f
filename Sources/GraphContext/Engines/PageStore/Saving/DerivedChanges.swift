import Predicates

/// What a save has to do to derived values of objects whose members it has changed, gathered until all else is stored: an object is looked at once, however
/// many of its members have changed.
struct DerivedChanges {
  /// The change of the values of one object.
  struct Owner {
    /// Bits of the slots that are computed anew.
    var stale: UInt64 = 0
    /// By slot, what is added to sums of integers.
    var sums: [Int: Int128] = [:]
    /// By slot, the extremes of the integers that have come and gone.
    var extremes: [Int: Extremes] = [:]
  }

  /// Integers that a least or greatest value is taken of.
  struct Extremes {
    var come: Int128?
    var gone: Int128?
  }

  /// By the entity's ordinal.
  private var owners: [Int: [ObjectNumber: Owner]] = [:]
  /// Objects with other values, which relationships to many at both ends lead to: by the tree from them to their owners.
  private(set) var changedMembers: [String: Set<ObjectNumber>] = [:]

  var isEmpty: Bool { owners.isEmpty && changedMembers.isEmpty }

  /// Notes that a value has to be computed anew.
  mutating func noteStale(_ slot: Int, of owner: ObjectNumber, _ entity: Int) {
    owners[entity, default: [:]][owner, default: Owner()].stale |= 1 << UInt64(slot)
  }

  mutating func noteChanged(_ member: ObjectNumber, in treeName: String) {
    changedMembers[treeName, default: []].insert(member)
  }

  /// Notes that a member has come to an object or left it, or has another value.
  ///
  /// - Parameters:
  ///   - gone: what the object has no longer; nil if that is no integer.
  ///   - come: what the object has from now on; nil if that is no integer.
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

  /// The objects of an entity, ascending, which are forgotten by that.
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

  /// The new value of a slot where it follows from the stored one; nil where it has to be computed of all members.
  func value(of derivation: StoredDerivation, _ stored: AttributeValue) -> DerivedChanges.NewValue {
    let slot = derivation.slot
    if stale & derivation.bit != 0 { return .unknown }
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
    // One that is gone may have been the only one of its value.
    if let gone = extremes.gone, isLeast ? gone <= known : gone >= known { return .unknown }
    return .known(Self.extreme(known, extremes.come, isLeast).flatMap(AttributeValue.init(wholeNumber:)))
  }
}

extension DerivedChanges {
  enum NewValue {
    /// Nil for a number that the attribute's kind doesn't have.
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

  /// Nil for an integer that no kind has.
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
