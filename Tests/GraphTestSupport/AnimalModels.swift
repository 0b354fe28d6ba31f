import Cambium

// Quoted in Docs/Models.md
@Model(isAbstract: true, subclasses: ["Dog", "Cat"])
package class Animal {
  #Index<Animal>([\.age])
  @Attribute(.unique) package var name: String
  package var age: Int = 0
  @Relationship(inverse: \Keeper.animals) package var keeper: Keeper?

  package init(_ name: String, age: Int) {
    self.name = name
    self.age = age
  }
}

@Model(superclass: "Animal", subclasses: ["Puppy"])
package class Dog: Animal {
  #Index<Dog>([\.breed])
  @Attribute(.unique) package var chip: Int?
  package var breed: String
  @Relationship package var enemy: Animal?
  @Relationship(inverse: \Keeper.walkedDogs) package var walkers: [Keeper] = []

  package init(_ name: String, age: Int, breed: String, chip: Int? = nil) {
    self.breed = breed
    self.chip = chip
    super.init(name, age: age)
  }
}

@Model(superclass: "Dog")
package final class Puppy: Dog {
  package var weeks: Int

  package init(_ name: String, breed: String, weeks: Int) {
    self.weeks = weeks
    super.init(name, age: 0, breed: breed)
  }
}

@Model(superclass: "Animal")
package final class Cat: Animal {
  package var whiskers: Int
  package var motto: String?

  package init(_ name: String, age: Int, whiskers: Int) {
    self.whiskers = whiskers
    super.init(name, age: age)
  }
}
// End of quotation

@Model package final class Keeper {
  package var name: String
  @Relationship(deleteRule: .cascade) package var animals: [Animal] = []
  @Relationship package var favourite: Animal?
  @Relationship package var guardDog: Dog?
  @Relationship package var walkedDogs: [Dog] = []

  package init(_ name: String) { self.name = name }
}
