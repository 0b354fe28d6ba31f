import Cambium

/// Links to others by objects that have attributes of their own.
@Model final class Band {
  var name: String
  @Relationship(deleteRule: .cascade) var memberships: [Membership] = []
  @Relationship(through: \Band.memberships, to: \Membership.musician) var members: [Musician]
  @Relationship(.ordered, deleteRule: .cascade) var entries: OrderedToMany<SetlistEntry> = []
  @Relationship(through: \Band.entries, to: \SetlistEntry.piece) var setlist: [Anthem]

  init(_ name: String) { self.name = name }
}

@Model final class Membership {
  #Unique<Membership>([\.band, \.musician])
  var since: Int = 1990
  @Attribute(.perInsert { "m" }) var mark: String
  @Relationship(inverse: \Band.memberships) var band: Band
  @Relationship(inverse: \Musician.memberships) var musician: Musician

  init(_ musician: Musician, in band: Band, since: Int) {
    self.since = since
    self.band = band
    self.musician = musician
  }
}

@Model final class Musician {
  #Index<Musician>([\.name])
  var name: String
  var age: Int = 20
  @Relationship(deleteRule: .cascade) var memberships: ToMany<Membership> = []
  @Relationship(through: \Musician.memberships, to: \Membership.band) var bands: [Band]

  init(_ name: String) { self.name = name }
}

@Model final class SetlistEntry {
  @Relationship(.ordered, inverse: \Band.entries) var band: Band?
  @Relationship var piece: Anthem?

  init() {}
}

/// Links with attributes that an initialiser of the class gives.
@Model final class Troupe {
  @Relationship(.ordered, deleteRule: .cascade) var castings: [Casting] = []
  @Relationship(through: \Troupe.castings, to: \Casting.mime) var mimes: Set<Mime>

  init() {}
}

@Model final class Casting {
  var role: String = "any"
  var understudy: String?
  @Relationship(.ordered, inverse: \Troupe.castings) var troupe: Troupe?
  @Relationship var mime: Mime?

  init(_ mime: Mime?, as role: String) {
    self.role = role
    self.mime = mime
  }
}

@Model final class Mime {
  init() {}
}

@Model final class Anthem {
  var title: String

  init(_ title: String) { self.title = title }
}

extension PersistentContainer {
  static func bands(at location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer(
      "Bands",
      models: Band.self,
      Membership.self,
      Musician.self,
      SetlistEntry.self,
      Anthem.self,
      Troupe.self,
      Casting.self,
      Mime.self,
      at: location
    )
  }
}
