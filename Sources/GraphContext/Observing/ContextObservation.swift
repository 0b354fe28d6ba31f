import Observation

/// A property of an object, as observers know it.
enum ObservedProperty: Hashable {
  /// An attribute, a part of an embedded value or a to-one relationship, by its slot.
  case slot(Int)
  /// A to-many relationship, by its ordinal.
  case toMany(Int)
  /// ``ManagedObject/isDeleted``.
  case isDeleted

  /// Returns whether the property has one of these slots.
  func isAmong(_ slots: SlotSet) -> Bool {
    guard case .slot(let slot) = self else { return false }
    return slots.contains(slot)
  }
}

/// The observed properties of the objects of one context.
///
/// One registrar serves all objects. Each observed property of each object has a key path of its own in it, a *token*.
/// So an object that isn't observed has nothing, and neither models nor records need a table of key paths.
///
/// A registrar can't list its observers, but each observer keeps the token. If nothing else refers to a token, no
/// observer has read the property, or its observers have been released. In this way the class finds out whether to note
/// a read, and which entries it can forget.
final class ContextObservation: Observable {
  private typealias Token = KeyPath<ContextObservation, Bool>

  private struct Observed {
    let property: ObservedProperty
    var token: Token
  }

  private struct Entry {
    /// The object; held, because another object of the same number must not replace an observed one.
    let object: any ManagedObject
    var properties: [Observed]
  }

  private let registrar = ObservationRegistrar()
  private var entries: [ObjectKey: Entry] = [:]
  /// The number of tokens in the entries.
  private var count = 0
  /// The count above which tokens without observers are looked for.
  private var limit = smallestLimit
  /// The token of the next property that is found to be observed.
  @exclusivity(unchecked) private var spare: Token
  /// Tokens that have lost their observers.
  private var unused: [Token] = []
  private var nextTokenNumber = 1
  /// The number of running operations that tell observers at their end.
  private var holdCount = 0

  private static let smallestLimit = 1_024

  init() { spare = \ContextObservation[token: 0] }

  /// Returns the property that the key paths of tokens lead to.
  private subscript(token number: Int) -> Bool { true }

  private func makeToken() -> Token {
    if let token = unused.popLast() { return token }
    defer { nextTokenNumber += 1 }
    return \ContextObservation[token: nextTokenNumber]
  }

  /// Keeps a token that isn't observed, for use by another property: making a token takes longer than all other work
  /// for a property.
  private func reuse(_ token: Token) {
    if unused.count < Self.smallestLimit { unused.append(token) }
  }

  var isEmpty: Bool { entries.isEmpty }

  func observes(_ key: ObjectKey) -> Bool { entries[key] != nil }

  // MARK: Reading

  /// Tells the observation under way, if there is one, of a property that was observed before. Returns false for any
  /// other property.
  func noteReading(_ property: ObservedProperty, of key: ObjectKey) -> Bool {
    guard let observed = entries[key]?.properties.first(where: { $0.property == property }) else {
      return false
    }
    registrar.access(self, keyPath: observed.token)
    return true
  }

  /// Returns whether an observation is under way on this thread. If so, ``add(_:of:_:)`` must follow.
  func isUnderWay() -> Bool {
    registrar.access(self, keyPath: spare)
    return !isKnownUniquelyReferenced(&spare)
  }

  /// Notes that the observation under way has read a property for the first time.
  func add(_ property: ObservedProperty, of key: ObjectKey, _ object: any ManagedObject) {
    if let entry = entries[key], entry.object !== object { remove(key) }
    note(Observed(property: property, token: spare), of: key, object)
    spare = makeToken()
    if count > limit { sweep() }
  }

  private func note(_ observed: Observed, of key: ObjectKey, _ object: any ManagedObject) {
    entries[key, default: Entry(object: object, properties: [])].properties.append(observed)
    object._$state.hearers.insert(.observers)
    count += 1
  }

  /// Forgets properties that aren't observed any more, and objects that have left the context.
  private func sweep() {
    for key in Array(entries.keys) {
      guard let index = entries.index(forKey: key) else { continue }
      let total = entries.values[index].properties.count
      var kept: [Observed] = []
      while var observed = entries.values[index].properties.popLast() {
        if isKnownUniquelyReferenced(&observed.token) {
          reuse(observed.token)
        } else {
          kept.append(observed)
        }
      }
      count -= total - kept.count
      entries.values[index].properties = kept
      if kept.isEmpty || entries.values[index].object._$state.host == nil { remove(key) }
    }
    limit = max(Self.smallestLimit, 2 * count)
  }

  private func remove(_ key: ObjectKey) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    count -= entry.properties.count
    entry.object._$state.hearers.remove(.observers)
  }

  // MARK: Telling

  /// Returns the properties of an object that are observed, or have been.
  func properties(of key: ObjectKey) -> [ObservedProperty] { entries[key]?.properties.map(\.property) ?? [] }

  /// Calls `body` with every object of which a property is observed, or has been lately.
  func forEach(_ body: (ObjectKey, any ManagedObject, [ObservedProperty]) -> Void) {
    // Looking for observers takes less time than the work for each property.
    if count > Self.smallestLimit { sweep() }
    for (key, entry) in entries { body(key, entry.object, entry.properties.map(\.property)) }
  }

  /// Tells the observers of properties of an object that these properties change.
  ///
  /// An observer is told once. If it continues observing, it reads the property again, possibly while this method is
  /// telling it.
  func tell(_ key: ObjectKey, where changes: (ObservedProperty) -> Bool) {
    guard holdCount == 0, let index = entries.index(forKey: key) else { return }
    let object = entries.values[index].object
    var told = entries.values[index].properties.filter { changes($0.property) }
    if told.isEmpty { return }
    entries.values[index].properties.removeAll { changes($0.property) }
    count -= told.count
    while var observed = told.popLast() {
      registrar.willSet(self, keyPath: observed.token)
      if isKnownUniquelyReferenced(&observed.token) {
        reuse(observed.token)
      } else {
        // The observer has read the property and may still be reading others.
        note(observed, of: key, object)
      }
    }
    if entries[key]?.properties.isEmpty == true { remove(key) }
  }

  /// Starts or stops withholding changes from observers. Calls are paired.
  func hold(_ isHeld: Bool) { holdCount += isHeld ? 1 : -1 }

  /// Forgets everything.
  func removeAll() {
    for key in Array(entries.keys) { remove(key) }
    (count, limit, unused) = (0, Self.smallestLimit, [])
  }
}
