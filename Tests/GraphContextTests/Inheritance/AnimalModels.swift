import Cambium

// Quoted in Docs/Models.md
@Model(isAbstract: true, subclasses: ["Dog", "Cat"])
class Animal {
  #Index<Animal>([\.age])
  @Attribute(.unique) var name: String
  var age: Int = 0
  @Relationship(inverse: \Keeper.animals) var keeper: Keeper?

  init(_ name: String, age: Int) {
    self.name = name
    self.age = age
  }
}

@Model(superclass: "Animal", subclasses: ["Puppy"])
class Dog: Animal {
  #Index<Dog>([\.breed])
  @Attribute(.unique) var chip: Int?
  var breed: String
  @Relationship var enemy: Animal?
  @Relationship(inverse: \Keeper.walkedDogs) var walkers: [Keeper] = []

  init(_ name: String, age: Int, breed: String, chip: Int? = nil) {
    self.breed = breed
    self.chip = chip
    super.init(name, age: age)
  }
}

@Model(superclass: "Dog")
final class Puppy: Dog {
  var weeks: Int

  init(_ name: String, breed: String, weeks: Int) {
    self.weeks = weeks
    super.init(name, age: 0, breed: breed)
  }
}

@Model(superclass: "Animal")
final class Cat: Animal {
  var whiskers: Int
  var motto: String?

  init(_ name: String, age: Int, whiskers: Int) {
    self.whiskers = whiskers
    super.init(name, age: age)
  }
}
// End of quotation

@Model final class Keeper {
  var name: String
  @Relationship(deleteRule: .cascade) var animals: [Animal] = []
  @Relationship var favourite: Animal?
  @Relationship var guardDog: Dog?
  @Relationship var walkedDogs: [Dog] = []

  init(_ name: String) { self.name = name }
}
