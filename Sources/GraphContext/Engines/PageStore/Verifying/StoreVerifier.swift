import PageStore
import Predicates

/// Compares records, index entries, references and pairs of one snapshot with each other, and reports every difference.
///
/// The page store has verified its pages; here the question is whether the trees fit together. A tree with damaged
/// pages is compared as far as it can be read: no entry is looked up in it, and nothing is concluded from entries
/// that it lacks.
struct StoreVerifier {
  let view: StoreView
  private let leases: [EntityNumber: UInt64]?
  /// The trees with damaged pages.
  private var damaged: Set<String>
  private var found: [IntegrityProblem] = []
  /// The number of objects of the current entity that have a reference, by its place among the to-one
  /// relationships.
  private var referenceCounts: [Int] = []
  /// The number of the records' entries in each declared index of elements.
  private var elementCounts: [Int] = []
  /// The number of parts of the current entity's long values, by slot.
  private var partCounts: [Int: Int] = [:]
  private var derivedValues: DerivedValues<TreeReader>

  /// - Parameters:
  ///   - damaged: the names of the trees in whose pages the page store has found problems.
  ///   - leases: the ends of the blocks of object numbers that were leased, by entity; nil if they can't be read.
  init(_ view: StoreView, damagedTrees damaged: Set<String>, leases: [EntityNumber: UInt64]?) {
    self.view = view
    self.damaged = damaged
    self.leases = leases
    derivedValues = DerivedValues(view.schema) { name in try view.tree(named: name) }
  }

  /// Every problem. O(n log n).
  consuming func problems() -> [IntegrityProblem] {
    for entity in view.schema.entities {
      verifyRecords(of: entity)
      verifyKeys(of: entity)
      verifyParts(of: entity)
      for relationship in entity.toManys { verifyPairs(relationship) }
    }
    return found
  }

  mutating func report(_ message: String, _ tree: String) {
    found.append(IntegrityProblem(message: message, tree: tree))
  }

  // MARK: Reading

  /// Calls `body` with every entry of a tree that can be read. Returns whether that was all of them.
  mutating func forEachEntry(
    of name: String,
    _ body: (inout Self, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    guard let tree = tree(name) else { return !damaged.contains(name) }
    let isComplete = tree.forEachReadable { key, value in body(&self, key, value) }
    if !isComplete || damaged.contains(name) {
      damaged.insert(name)
      report("the tree has damaged pages, so the entries that it lacks are not reported", name)
    }
    return !damaged.contains(name)
  }

  /// Returns a tree, or nil if there is none or it can't be opened.
  private mutating func tree(_ name: String) -> TreeReader? {
    do throws(StoreError) { return try view.tree(named: name) } catch {
      noteDamage(error, name)
      return nil
    }
  }

  /// Returns what `body` finds in a tree; nil if the tree is damaged. The tree is nil if there is none.
  mutating func lookUp<Found>(
    _ name: String,
    _ body: (TreeReader?) throws(StoreError) -> Found
  ) -> Found? {
    let tree = tree(name)
    if damaged.contains(name) { return nil }
    do throws(StoreError) { return try body(tree) } catch {
      noteDamage(error, name)
      return nil
    }
  }

  private mutating func noteDamage(_ error: StoreError, _ name: String) {
    if damaged.insert(name).inserted { report(error.message, name) }
  }

  /// Returns whether a tree has a key; nil if the tree is damaged.
  mutating func contains(_ key: [UInt8], in name: String) -> Bool? {
    lookUp(name) { (tree) throws(StoreError) in try tree?.contains(key) ?? false }
  }

  /// Entries of a tree; nil if it is damaged.
  mutating func count(of name: String) -> Int? {
    lookUp(name) { (tree) throws(StoreError) in try tree?.count ?? 0 }
  }

  mutating func exists(_ number: ObjectNumber, _ entity: StoredEntity) -> Bool? {
    contains(KeyCoder.key(of: number), in: entity.treeName)
  }

  // MARK: From records to keys

  private mutating func verifyRecords(of entity: StoredEntity) {
    referenceCounts = entity.toOnes.map { _ in 0 }
    elementCounts = entity.declaredIndexes.map { _ in 0 }
    partCounts = [:]
    var greatest = ObjectNumber.none
    let reader = RecordReader(entity)
    _ = forEachEntry(of: entity.treeName) { verifier, key, value in
      guard key.count == KeyCoder.numberByteCount, let number = KeyCoder.number(ending: key)
      else {
        return verifier.report("a key of \(key.count) bytes is not an object number", entity.treeName)
      }
      guard entity.isSound(number) else {
        return verifier.report("a key is \(number), which is not an object number", entity.treeName)
      }
      if number.sequence > greatest.sequence { greatest = number }
      guard let record = reader.view(value) else {
        return verifier.report("the record of \(entity.name) \(number) is damaged", entity.treeName)
      }
      verifier.verify(record, number, entity)
    }
    guard let leases, !greatest.isNone else { return }
    if let end = leases[entity.number] {
      guard end <= greatest.sequence else { return }
      report(
        "\(entity.name) \(greatest) has a number that was not leased: the leased numbers end before \(end)",
        SchemaTree.name
      )
    } else {
      report("there is no lease of numbers for \(entity.name), which has objects", SchemaTree.name)
    }
  }

  private mutating func verify(_ record: RecordView, _ number: ObjectNumber, _ entity: StoredEntity) {
    if record.commit > view.commit {
      report("\(entity.name) \(number) is of the later commit \(record.commit)", entity.treeName)
    }
    for slot in record.missingSlots(entity.requiredSlots(of: number)) {
      report("\(entity.name) \(number) has no \(entity.schema.stored[slot].name)", entity.treeName)
    }
    let foreign = entity.storedClass(of: number)?.foreignSlots ?? .empty
    for slot in foreign.subtracting(record.missingSlots(foreign)) {
      let name = entity.schema.stored[slot].name
      report("\(entity.name) \(number) has a \(name), which its class doesn't declare", entity.treeName)
    }
    if !record.hasSoundFrame {
      report("the record of \(entity.name) \(number) has bits set that mean nothing", entity.treeName)
    }
    for property in entity.schema.stored where !record.hasSoundValue(property.slot) {
      report(
        "the \(property.name) of \(entity.name) \(number) is not a valid value of the kind \(property.kind)",
        entity.treeName
      )
    }
    for slot in entity.externalSlots {
      guard let reference = record.externalReference(slot) else { continue }
      partCounts[slot, default: 0] += reference.partCount
      verify(reference, at: slot, of: number, entity)
    }
    for property in entity.schema.stored where !record.hasSoundElements(property) {
      report("the \(property.name) of \(entity.name) \(number) is not a valid list", entity.treeName)
    }
    verifyEmbedded(record, number, entity)
    let own = entity.ownSlots(of: number)
    for derivation in entity.derivations where own.contains(derivation.slot) {
      verify(derivation, of: number, record, entity)
    }
    for (place, index) in entity.declaredIndexes.enumerated() {
      let keys = index.keys(of: record, number)
      elementCounts[place] += index.isOfElements ? keys.count : 0
      let treeName = entity.treeName(of: index.id)
      if keys.contains(where: { contains($0, in: treeName) == false }) {
        report("the index has no entry for \(entity.name) \(number)", treeName)
      }
    }
    for (place, toOne) in entity.toOnes.enumerated() where !record.isNull(toOne.slot) {
      referenceCounts[place] += 1
      verify(toOne, leadingTo: record.reference(toOne.slot), from: number, entity)
    }
  }

  /// Reports parts of embedded values that are nil, and parts that other embedded values lack.
  private mutating func verifyEmbedded(_ record: RecordView, _ number: ObjectNumber, _ entity: StoredEntity) {
    for value in entity.embeddedValues {
      let missing = record.missingSlots(value.parts)
      let flag = entity.schema.stored[value.flag].name
      let (wrong, problem) =
        record.isNull(value.flag)
        ? (value.parts.subtracting(missing), "no value for \(flag), but one for")
        : (value.required.intersection(missing), "a value for \(flag), but none for")
      for slot in wrong {
        report("\(entity.name) \(number) has \(problem) \(entity.schema.stored[slot].name)", entity.treeName)
      }
    }
  }

  /// Computes a derived value, and reports a stored value that differs. Damage of the values that it is computed
  /// from is reported elsewhere.
  private mutating func verify(
    _ derivation: StoredDerivation,
    of number: ObjectNumber,
    _ record: RecordView,
    _ entity: StoredEntity
  ) {
    if !damaged.isDisjoint(with: view.schema.memberTrees(of: entity)) { return }
    let stored = record.value(derivation.slot)
    guard let value = try? derivedValues.value(of: derivation, number, record), value != stored else {
      return
    }
    let name = entity.schema.stored[derivation.slot].name
    report("the derived \(name) of \(entity.name) \(number) is not what its rule gives", entity.treeName)
  }

  private mutating func verify(
    _ toOne: StoredToOne,
    leadingTo target: ObjectNumber,
    from number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    if contains(KeyCoder.pair(target, number), in: toOne.treeName) == false {
      report("the reference of \(entity.name) \(number) to \(target) has no entry", toOne.treeName)
    }
    let destination = view.schema.entities[toOne.destination]
    if target.isSound, !destination.isSound(target) {
      report(
        "the \(toOne.name) of \(entity.name) \(number) is not a valid value of the kind reference",
        entity.treeName
      )
    }
    if exists(target, destination) == false {
      report(
        "\(entity.name) \(number) refers to \(destination.name) \(target), which doesn't exist",
        toOne.treeName
      )
    }
    if case .toOne(let inverse) = toOne.inverse, !leadsTo(number, from: target, destination, inverse) {
      report(
        "\(entity.name) \(number) refers to \(destination.name) \(target), which doesn't refer back",
        toOne.treeName
      )
    }
  }

  /// Returns whether an object's to-one relationship leads to `number`. An object that is missing or damaged is
  /// reported elsewhere.
  private mutating func leadsTo(
    _ number: ObjectNumber,
    from object: ObjectNumber,
    _ entity: StoredEntity,
    _ slot: Int
  ) -> Bool {
    let reader = RecordReader(entity)
    return lookUp(entity.treeName) { (tree) throws(StoreError) in
      try withKey(object) { key throws(StoreError) in
        guard let found = try tree?.find(key) else { return true }
        return found.withBytes { bytes in
          reader.view(bytes).map { $0.reference(slot) == number } ?? true
        }
      }
    } ?? true
  }

  // MARK: Long values

  private mutating func verify(
    _ reference: ExternalReference,
    at slot: Int,
    of number: ObjectNumber,
    _ entity: StoredEntity
  ) {
    let treeName = entity.blobTreeName(at: slot)
    let name = entity.schema.stored[slot].name
    if reference.commit > view.commit {
      report("\(entity.name) \(number) has a \(name) of the later commit \(reference.commit)", treeName)
    }
    if damaged.contains(treeName) { return }
    do throws(ContextError) {
      let data = try view.externalData(reference, at: slot, of: entity)
      let isText = entity.schema.stored[slot].kind == .externalString
      if isText, String(validating: data, as: UTF8.self) == nil {
        report("the \(name) of \(entity.name) \(number) is not a valid value of the kind string", treeName)
      }
    } catch {
      if let error = error.storeError { return noteDamage(error, treeName) }
      report("the \(name) of \(entity.name) \(number) is missing or damaged", treeName)
    }
  }

  /// Verifies the number of parts. Every value has its parts, so there are no extra parts exactly when the number
  /// is as expected.
  private mutating func verifyParts(of entity: StoredEntity) {
    for slot in entity.externalSlots where !damaged.contains(entity.treeName) {
      let treeName = entity.blobTreeName(at: slot)
      let view = view
      let staged = lookUp(treeName) { (_) throws(StoreError) in
        try StagedBlobs.partCount(of: treeName, in: try view.snapshot)
      }
      let expected = partCounts[slot, default: 0] + (staged ?? 0)
      guard let parts = count(of: treeName), parts != expected else { continue }
      report(
        "there are \(parts) parts of long values, but the values of \(entity.name)."
          + "\(entity.schema.stored[slot].name) need \(expected)",
        treeName
      )
    }
  }

  // MARK: From keys to records

  /// Verifies the numbers of entries. Every record has its entries, so there are no extra entries exactly when the
  /// number is as expected.
  private mutating func verifyKeys(of entity: StoredEntity) {
    let records = count(of: entity.treeName)
    for (index, elements) in zip(entity.declaredIndexes, elementCounts) {
      verifyEntries(of: index, entity)
      let treeName = entity.treeName(of: index.id)
      guard let records, let entries = count(of: treeName) else { continue }
      let (wanted, noun) = index.isOfElements ? (elements, "elements in lists") : (records, "objects")
      if entries != wanted {
        report("the index has \(entries) entries for \(wanted) \(noun) of \(entity.name)", treeName)
      }
    }
    for (toOne, references) in zip(entity.toOnes, referenceCounts) {
      _ = forEachEntry(of: toOne.treeName) { verifier, _, value in
        verifier.verifyIsNothing(value, toOne.treeName)
      }
      if records != nil, let entries = count(of: toOne.treeName), entries != references {
        report("there are \(entries) entries for \(references) references of \(entity.name)", toOne.treeName)
      }
    }
  }

  mutating func verifyIsNothing(_ value: UnsafeRawBufferPointer, _ tree: String) {
    if !value.isEmpty { report("an entry has a value of \(value.count) bytes instead of none", tree) }
  }

  private mutating func verifyEntries(of index: ResolvedIndex, _ entity: StoredEntity) {
    let treeName = entity.treeName(of: index.id)
    var last: [UInt8] = []
    _ = forEachEntry(of: treeName) { verifier, key, value in
      verifier.verifyIsNothing(value, treeName)
      guard index.isUnique else { return }
      let components = [UInt8](key.dropLast(KeyCoder.numberByteCount))
      var reader = KeyReader(key)
      let hasNil = index.slots.contains { reader.next(entity.layout.fields[$0].kind)?.isNull ?? true }
      if components == last, !hasNil {
        verifier.report("two objects of \(entity.name) have the same \(index.name)", treeName)
      }
      last = components
    }
  }
}
