import Cambium

/// A person with an address.
@Model final class Contact {
  #Index<Contact>([\.name])
  @Attribute(.length(1...60)) var name: String
  @Attribute(.unique, .preserveValueOnDeletion) var mail: String?
  var phone: String?
  @Relationship var circle: Circle?

  init(name: String) { self.name = name }
}

/// A circle of contacts, such as a family.
@Model final class Circle {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Contact.circle) var members: [Contact] = []

  init(name: String) { self.name = name }
}
