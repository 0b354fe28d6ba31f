import Cambium
import Foundation
import Predicates
import TestSupport
import Testing

@testable import GraphContext

/// A hierarchy whose classes have embedded values, ones that may be nil and ones that may not.
enum Clinic {
  @Embeddable struct Place: Hashable {
    var street: String
    var city: String = "Kyoto"
    @Attribute(.min(1)) var number: Int?
    var tags: [String] = ["new"]
  }

  /// States the conformance, which the macro leaves out then.
  @Embeddable struct Span: Hashable, EmbeddedValue {
    var first: Int
    var last: Int = 9
  }

  @Model(isAbstract: true, subclasses: ["Patient", "Doctor", "Robot"])
  class Person {
    #Index<Person>([\.mail?.city])
    @Attribute(.unique) var name: String
    @Embedded var mail: Place?
    @Embedded var shift: Span = Span(first: 0)
    @Relationship(.ordered, inverse: \Ward.people) var ward: Ward?
    init(_ name: String) { self.name = name }
  }

  @Model(superclass: "Person", subclasses: ["Inmate"])
  class Patient: Person {
    #Index<Patient>([\.home.city, \.age])
    #Unique<Patient>([\.stay?.first])
    @Embedded var home: Place
    var age: Int = 0
    @Embedded var stay: Span?
    @Attribute(.derived("home.city[c]")) var town: String
    @Relationship(.ordered, inverse: \Ward.beds) var bed: Ward?
    @Relationship var visitors: [Person] = []
    init(_ name: String, home: Place) {
      self.home = home
      super.init(name)
    }
  }

  @Model(superclass: "Patient")
  final class Inmate: Patient {
    @Embedded var cell: Span = Span(first: 1, last: 2)
    override init(_ name: String, home: Place) { super.init(name, home: home) }
  }

  @Model(superclass: "Person")
  final class Doctor: Person {
    #Index<Doctor>([\.office?.city])
    @Embedded var office: Place?
    override init(_ name: String) { super.init(name) }
  }

  @Model(superclass: "Person")
  final class Robot: Person {
    var volts: Int = 12
    override init(_ name: String) { super.init(name) }
  }

  @Model final class Ward {
    @Attribute(.derived("beds.@max.age")) var oldest: Int?
    @Relationship(.ordered) var people: [Person] = []
    @Relationship(.ordered) var beds: [Patient] = []
    @Relationship var chief: Doctor?
    init() {}
  }

  static let models: [any ManagedObject.Type] = [Person.self, Ward.self]
  static let kyoto = Place(street: "Sanjo", number: 3, tags: ["river"])
  static let osaka = Place(street: "Midosuji", city: "Osaka")

  static func open(_ location: StoreLocation = .inMemory) async throws -> PersistentContainer {
    try await PersistentContainer("Clinic", models: models, at: location)
  }

  /// One object of each class, with all values.
  static func fill(_ context: ManagedObjectContext) throws {
    let (ann, ben) = (Patient("Ann", home: kyoto), Inmate("Ben", home: osaka))
    let (eve, bot) = (Doctor("Eve"), Robot("Bot"))
    for person in [ann, ben, eve, bot] as [Person] { context.insert(person) }
    ann.stay = Span(first: 2, last: 4)
    ann.mail = osaka
    ben.cell.last = 7
    ben.age = 40
    eve.office = kyoto
    bot.mail = kyoto
    bot.shift = Span(first: 3, last: 5)
    let ward = Ward()
    context.insert(ward)
    ward.people = [bot, ann]
    ward.beds = [ben, ann]
    ward.chief = eve
    try context.save()
  }
}

/// Embedded values of classes that inherit from each other: each belongs to the objects of its class alone.
struct HierarchyEmbeddedTests {
  private let folder: TemporaryFolder
  private var url: URL { URL(fileURLWithPath: folder.file("clinic.cambium")) }

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ container: PersistentContainer,
    _ body: @Sendable (ManagedObjectContext) throws -> Void
  ) throws {
    try container.inContext(body)
    let problems = try container.verify().map(\.description)
    #expect(problems == [])
  }

  @Test func valuesAreStoredAndReadBack() async throws {
    let first = try await Clinic.open(.file(url))
    try run(first) { (context: ManagedObjectContext) throws -> Void in
      let new = Clinic.Inmate("New", home: Clinic.kyoto)
      #expect(new.home == Clinic.kyoto && new.stay == nil && new.cell == Clinic.Span(first: 1, last: 2))
      new.cell.first = 0
      #expect(new.cell.first == 0 && new.shift.last == 9)
      try Clinic.fill(context)
    }
    try await first.close()
    let second = try await Clinic.open(.file(url))
    try run(second) { (context: ManagedObjectContext) throws -> Void in
      let people = try context.fetch(From<Clinic.Person>().orderBy(\.name))
      #expect(people.map(\.mail) == [Clinic.osaka, nil, Clinic.kyoto, nil])
      #expect(people.map(\.shift.first) == [0, 0, 3, 0])
      let (ann, ben) = (people[0] as? Clinic.Patient, people[1] as? Clinic.Inmate)
      #expect(
        ann?.home == Clinic.kyoto && ann?.stay == Clinic.Span(first: 2, last: 4) && ann?.town == "kyoto"
      )
      #expect(ben?.home == Clinic.osaka && ben?.stay == nil && ben?.cell.last == 7 && ben?.town == "osaka")
      #expect((people[3] as? Clinic.Doctor)?.office == Clinic.kyoto)
      let ward = try #require(try context.fetchOne(From<Clinic.Ward>()))
      #expect(ward.people.map(\.name) == ["Bot", "Ann"] && ward.beds.map(\.name) == ["Ben", "Ann"])
      #expect(ward.oldest == 40)
      ward.people.swapAt(0, 1)
      ward.beds.swapAt(0, 1)
      ben?.home.city = "Uji"
      try context.save()
      #expect(ben?.town == "uji")
    }
    try await second.close()
    let records = try await PersistentContainer("Clinic", at: url)
    try run(records) { (context: ManagedObjectContext) throws -> Void in
      let robot = try #require(try context.fetch(DynamicQuery("Robot")).first)
      for name in ["home.city", "home.tags", "stay", "stay.first", "cell.first", "office", "office.city"] {
        #expect(try robot[name] == .null, "\(name)")
      }
      #expect(try robot["mail"] == .bool(true) && robot["shift.first"] == .int(3))
      // No object has a part of another class's embedded value, nor the flag that says whether this value is there.
      for (name, value) in [("home.city", AttributeValue.string("Uji")), ("office", .bool(true))] {
        try robot.set(name, to: value)
        let error = #expect(throws: ContextError.self) { try context.save() }
        #expect(
          error?.failures.contains { $0.code == .wrongValue && $0.context.properties == [name] } == true
        )
        context.rollback()
      }
      let inmate = try #require(try context.fetch(DynamicQuery("Inmate")).first)
      try inmate.set("cell.last", to: .null)
      let lacking = #expect(throws: ContextError.self) { try context.save() }
      #expect(lacking?.code == .missingValue && lacking?.context.properties == ["cell.last"])
      context.rollback()
      try inmate.set("stay", to: true)
      let parts = #expect(throws: ContextError.self) { try context.save() }
      #expect(parts?.failures.flatMap(\.context.properties).sorted() == ["stay.first", "stay.last"])
      context.rollback()
    }
  }

  @Test func partsAreAskedFor() async throws {
    let container = try await Clinic.open()
    try run(container) { (context: ManagedObjectContext) throws -> Void in
      try Clinic.fill(context)
      context.insert(Clinic.Patient("Cem", home: Clinic.Place(street: "X", city: "Uji")))
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        func check<Person: Clinic.Person>(_ request: From<Person>, _ expected: [String]) throws {
          let names = try context.fetch(request).map(\.name).sorted()
          #expect(names == expected, "\(request)")
        }
        let (all, patients) = (From<Clinic.Person>(), From<Clinic.Patient>())
        let (inmates, doctors) = (From<Clinic.Inmate>(), From<Clinic.Doctor>())
        try check(patients.where { $0.home.city == "Osaka" }, ["Ben"])
        try check(patients.where { $0.home.city > "K" && $0.age == 0 }, ["Ann", "Cem"])
        try check(patients.where { $0.stay == nil }, ["Ben", "Cem"])
        try check(patients.where { $0.stay != nil }, ["Ann"])
        try check(patients.where { $0.stay.last == 4 }, ["Ann"])
        try check(patients.where { $0.home.tags.contains("river") }, ["Ann"])
        try check(patients.where(\.home.city == "Kyoto"), ["Ann"])
        try check(patients.where(\.stay?.first == 2), ["Ann"])
        try check(inmates.where { $0.cell.last == 7 && $0.home.city == "Osaka" }, ["Ben"])
        try check(doctors.where { $0.office.city == "Kyoto" }, ["Eve"])
        try check(all.where { $0.mail.city == "Osaka" }, ["Ann"])
        try check(all.where { $0.shift.first == 3 }, ["Bot"])
        try check(
          all.where(format: "home.city == 'Kyoto' OR office.city == 'Kyoto'"),
          ["Ann", "Eve"]
        )
        try check(all.where(format: "office == nil"), ["Ann", "Ben", "Bot", "Cem"])
        let foreign = doctors.where(format: "home.city == 'Kyoto'")
        #expect(throws: ContextError.self) { try context.fetch(foreign) }
        let sorted = patients.orderBy(.descending(\.home.city)).select(\.home.street)
        #expect(try context.fetch(sorted) == ["X", "Midosuji", "Sanjo"])
        var query = DynamicQuery("Person")
        query.sort = [.init("home.city"), .init("name")]
        let streets = try context.fetch(query, as: Clinic.Person.self)
        #expect(streets.map(\.name) == ["Bot", "Eve", "Ann", "Ben", "Cem"])
        let led = From<Clinic.Ward>().where { $0.chief.office.street == "Sanjo" }
        let beds = From<Clinic.Ward>().where { $0.beds.any { $0.home.city == "Osaka" } }
        #expect(try context.count(led) == 1 && context.count(beds) == 1)
      }
      for number in 0..<60 {
        context.insert(Clinic.Patient("P\(number)", home: Clinic.Place(street: "Y", city: "Uji")))
      }
      try context.save()
      let byCity = From<Clinic.Patient>().where { $0.home.city == "Osaka" }
      let byOffice = From<Clinic.Doctor>().where { $0.office.city == "Kyoto" }
      let plans = try (context.explain(byCity).description, context.explain(byOffice).description)
      #expect(plans.0.contains("home.city"), "\(plans.0)")
      #expect(plans.1.contains("office.city"), "\(plans.1)")
    }
  }

  @Test func everyKeyPathHasItsNames() throws {
    func names(_ keyPath: PartialKeyPath<Clinic.Inmate>) throws -> [String] {
      try Clinic.Inmate.predicatePath(of: keyPath)
    }
    #expect(try names(\.mail?.city) == ["mail", "city"])
    #expect(try names(\.shift.last) == ["shift", "last"])
    #expect(try names(\.home.tags) == ["home", "tags"])
    #expect(try names(\.stay) == ["stay"] && names(\.stay?.first) == ["stay", "first"])
    #expect(try names(\.cell.first) == ["cell", "first"])
    #expect(try names(\.bed?.chief?.office?.city) == ["bed", "chief", "office", "city"])
    #expect(throws: QueryError.self) { try names(\.home.street.count) }
  }

  @Test func rulesAndUniqueValuesOfParts() async throws {
    let container = try await Clinic.open()
    try run(container) { (context: ManagedObjectContext) throws -> Void in
      try Clinic.fill(context)
      context.insert(Clinic.Patient("Cem", home: Clinic.Place(street: "X", number: 0)))
      let short = #expect(throws: ContextError.self) { try context.save() }
      #expect(short?.code == .validationFailed && short?.context.properties == ["home.number"])
      context.rollback()
      let inmate = Clinic.Inmate("Dan", home: Clinic.kyoto)
      inmate.stay = Clinic.Span(first: 2)
      context.insert(inmate)
      let same = #expect(throws: ContextError.self) { try context.save() }
      #expect(same?.code == .notUnique)
      inmate.stay?.first = 3
      try context.save()
    }
  }

  @Test func changesMergeByParts() async throws {
    let container = try await Clinic.open()
    try run(container) { (context: ManagedObjectContext) throws -> Void in
      try Clinic.fill(context)
      let ann = try #require(try context.fetchOne(From<Clinic.Patient>().where { $0.name == "Ann" }))
      let id = ann.objectID
      func elsewhere(_ body: @Sendable (Clinic.Patient) -> Void) throws {
        try container.inContext { (context: ManagedObjectContext) throws -> Void in
          body(try context.existingObject(Clinic.Patient.self, with: id))
          try context.save()
        }
      }
      try elsewhere { $0.home.city = "Nara" }
      ann.home.number = 8
      #expect(ann.changedValues.keys.sorted() == ["home.number"])
      try context.save()
      #expect(ann.home.city == "Nara" && ann.home.number == 8 && ann.town == "nara")
      try elsewhere { $0.stay = nil }
      ann.stay?.last = 5
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .conflict && error?.context.properties.contains("stay.last") == true)
      context.rollback()
      try context.refresh()
      #expect(ann.stay == nil)
    }
  }

  @Test func undoingChildrenAndRollbacksKeepValuesWhole() async throws {
    let container = try await Clinic.open()
    try run(container) { (context: ManagedObjectContext) throws -> Void in
      try Clinic.fill(context)
      let undo = ContextUndoManager()
      context.undoManager = undo
      let ben = try #require(try context.fetchOne(From<Clinic.Inmate>()))
      undo.beginUndoGrouping()
      ben.stay = Clinic.Span(first: 5, last: 6)
      ben.cell.first = 9
      undo.endUndoGrouping()
      context.undo()
      #expect(ben.stay == nil && ben.cell == Clinic.Span(first: 1, last: 7))
      context.redo()
      #expect(ben.stay == Clinic.Span(first: 5, last: 6) && ben.cell.first == 9)
      try context.save()
      let child = context.makeChild()
      let copy = try #require(try child.fetchOne(From<Clinic.Inmate>()))
      copy.stay = nil
      copy.home = Clinic.kyoto
      try child.save()
      #expect(ben.stay == nil && ben.home == Clinic.kyoto)
      context.rollback()
      #expect(ben.stay?.first == 5 && ben.home == Clinic.osaka)
      context.delete(ben)
      context.undo()
      try context.save()
      let again = try #require(try context.fetchOne(From<Clinic.Inmate>()))
      #expect(again.stay == Clinic.Span(first: 5, last: 6) && again.home == Clinic.osaka)
    }
  }

  @Test func batchesSetParts() async throws {
    let container = try await Clinic.open()
    try await container.batchInsert(
      Clinic.Inmate.self,
      from: 0..<4,
      .set(\.name) { "inmate \($0)" },
      .set(\.home.street) { "street \($0)" },
      .set(\.home.city) { _ in "Uji" },
      .set(\.home.tags) { _ in [] },
      .set(\.cell.first) { $0 },
      .set(\.cell.last) { $0 + 1 },
      .set(\.shift.first) { $0 },
      .set(\.shift.last) { $0 }
    )
    try await container.batchUpdate(
      From<Clinic.Patient>().where { $0.home.street == "street 1" },
      .set(\.home.city, to: "Nara")
    )
    let lacking = await #expect(throws: ContextError.self) {
      try await container.batchInsert(
        Clinic.Patient.self,
        from: ["x"],
        .set(\.name) { $0 },
        .set(\.shift.first) { _ in 1 }
      )
    }
    #expect(lacking?.code == .missingValue && lacking?.context.properties == ["home.street"])
    let noPart = await #expect(throws: ContextError.self) {
      try await container.batchUpdate(From<Clinic.Patient>(), .set(\.stay?.last, to: 1))
    }
    #expect(noPart?.code == .wrongValue && noPart?.context.properties == ["stay.last"])
    try run(container) { (context: ManagedObjectContext) throws -> Void in
      let inmates = try context.fetch(From<Clinic.Inmate>().orderBy(\.name))
      #expect(
        inmates.map(\.home.city) == ["Uji", "Nara", "Uji", "Uji"]
          && inmates.map(\.stay) == [nil, nil, nil, nil]
      )
      #expect(
        inmates.map(\.cell.last) == [1, 2, 3, 4] && inmates.map(\.town) == ["uji", "nara", "uji", "uji"]
      )
    }
  }

  @Test func aSchemaHasThePartsOfAllClasses() throws {
    let schema = try Schema(Clinic.models)
    let description = schema.description
    #expect(
      description.contains(
        "class Inmate: Patient cell.first!, cell.last!"
      ),
      "\(description)"
    )
    #expect(
      description.contains(
        "class Doctor: Person office, office.street, office.city, office.number, office.tags"
      )
    )
    #expect(try SchemaDocument(schema).schema() == schema)
  }
}
