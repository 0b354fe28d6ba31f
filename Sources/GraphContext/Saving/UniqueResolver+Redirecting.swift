import Predicates

// References and links to unified objects, which lead to the existing ones.

extension UniqueResolver {
  /// Makes every reference to a unified object one to the existing object.
  mutating func redirectReferences() {
    for changes in request.entities {
      let entity = changes.entity
      for index in changes.inserted.indices {
        let record = changes.inserted[index]
        guard let bytes = redirected(UnsafeRawBufferPointer(record.bytes), entity) else { continue }
        changes.inserted[index] = .init(number: record.number, bytes: bytes)
        reverted[entity.ordinal].insert(record.number)
      }
      for index in changes.updated.indices {
        guard let bytes = redirected(changes.updated[index].bytes, entity) else { continue }
        changes.updated[index].bytes = UnsafeRawBufferPointer(bytes)
        reverted[entity.ordinal].insert(changes.updated[index].number)
      }
    }
    for index in unified.indices {
      guard let bytes = redirected(unified[index].bytes, unified[index].entity) else { continue }
      unified[index].bytes = UnsafeRawBufferPointer(bytes)
    }
  }

  /// Returns a copy of a record that leads to existing objects; nil if the record itself does.
  private func redirected(
    _ bytes: UnsafeRawBufferPointer,
    _ entity: StoredEntity
  ) -> UnsafeMutableRawBufferPointer? {
    var copy: UnsafeMutableRawBufferPointer?
    for toOne in entity.toOnes where !aliases[toOne.destination].isEmpty {
      let bytes = copy.map { UnsafeRawBufferPointer($0) } ?? bytes
      let record = RecordView(validated: bytes, layout: entity.layout)
      let old = record.reference(toOne.slot)
      let new = owner(old, toOne.destination)
      if new == old { continue }
      let changes = request.entities[entity.ordinal]
      copy = changes.encoder.encode(record, replacing: toOne.slot, with: .reference(new))
    }
    return copy
  }

  mutating func redirectLinks() {
    for index in request.pairs.indices {
      let pairs = request.pairs[index]
      let (source, destination) = (pairs.source.ordinal, pairs.relationship.destination)
      if aliases[source].isEmpty, aliases[destination].isEmpty { continue }
      var links = PendingLinks()
      var places = PendingPlaces()
      // Of two links that become one, the first place counts.
      func keep(_ place: ListPlace, of element: ObjectNumber, in owner: ObjectNumber) {
        let (element, owner) = (self.owner(element, destination), self.owner(owner, source))
        if let known = places[owner, element], known < place { return }
        places.set(place, of: element, in: owner)
      }
      for (owner, moved) in pairs.places.byOwner {
        for (element, place) in moved { keep(place, of: element, in: owner) }
      }
      for (owner, elements) in pairs.links.removed {
        for element in elements { links.unlink(owner, element) }
      }
      for (owner, elements) in pairs.links.added {
        let newOwner = self.owner(owner, source)
        for element in elements {
          let newElement = self.owner(element, destination)
          links.link(newOwner, newElement)
          if newOwner == owner, newElement == element { continue }
          // The place that its number stands for: the existing object has another number.
          if pairs.relationship.list != nil, newElement != element, pairs.places[owner, element] == nil {
            keep(ListPlace(of: element), of: element, in: owner)
          }
          note(newOwner, source, isHidden: pairs.relationship.isHidden)
          note(newElement, destination, isHidden: pairs.relationship.hasHiddenInverse)
        }
      }
      (request.pairs[index].links, request.pairs[index].places) = (links, places)
    }
    request.pairs.removeAll(where: \.isEmpty)
  }

  private mutating func note(_ number: ObjectNumber, _ ordinal: Int, isHidden: Bool) {
    if !isHidden { relinked.insert(ObjectKey(entity: ordinal, number: number)) }
  }
}
