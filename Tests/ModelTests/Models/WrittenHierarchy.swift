import Cambium

@Model final class Harbor {
  var name: String
  @Relationship(inverse: \Ferry.lines) var ferries: [Ferry] = []
  @Relationship var vessels: [Vessel] = []

  init(name: String) {
    self.name = name
  }
}

@Embeddable struct VesselHome {
  var port: String
  var berth: Int?
}

@Model(isAbstract: true, subclasses: ["Sailboat", "Ferry"]) class Vessel {
  #Unique<Vessel>([\.name, \.number])

  var name: String
  @Attribute(.unique) var number: Int
  var crew: Int = 2
  @Relationship(inverse: \Harbor.vessels) var harbor: Harbor?
  @Embedded var home: VesselHome

  init(name: String, number: Int, home: VesselHome) {
    self.name = name
    self.number = number
    self.home = home
  }
}

@Model(superclass: "Vessel") final class Sailboat: Vessel {
  @Attribute(.unique) var sail: String
  @Attribute var masts: [UInt8] = [1]

  init(name: String, number: Int, home: VesselHome, sail: String) {
    self.sail = sail
    super.init(name: name, number: number, home: home)
  }
}

@Embeddable struct FerryOffice {
  var street: String
}

@Model(superclass: "Vessel", subclasses: ["CarFerry"]) class Ferry: Vessel {
  #Index<Ferry>([\.decks])
  #Index<Ferry>([\.office?.street])

  var decks: Int?
  @Relationship var lines: [Harbor] = []
  @Embedded var office: FerryOffice?

  override init(name: String, number: Int, home: VesselHome) {
    super.init(name: name, number: number, home: home)
  }
}

@Model(superclass: "Ferry") final class CarFerry: Ferry {
  var cars: Int
  @Relationship(deleteRule: .cascade) var tug: Vessel?

  init(name: String, number: Int, home: VesselHome, cars: Int) {
    self.cars = cars
    super.init(name: name, number: number, home: home)
  }
}
