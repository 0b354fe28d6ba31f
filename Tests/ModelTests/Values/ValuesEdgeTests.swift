import Cambium
import GraphTestSupport
import Testing

@Model final class BookLoan {
  var reader: String?
  var visitor: String = ""
  init() {}
}

private func makeToken() -> String { "t" }
public enum ShowKind: String, AttributeType { case rock, jazz }
extension ShowKind { static let standard = ShowKind.rock }

@Model public final class OpenShow {
  public var genre: ShowKind = .standard
  @Attribute(.perInsert { makeToken() }) public var token: String
  public init() {}
}

/// An address that its initialiser may refuse, though code changes it afterwards.
struct PickyMail: RawRepresentable, AttributeType, Hashable {
  var rawValue: String
  init?(rawValue: String) {
    if !rawValue.contains("@") { return nil }
    self.rawValue = rawValue
  }
  static var tracerValue: PickyMail? { PickyMail(rawValue: "nobody@example.org") }
}

@Model final class MailTaker {
  var mail: PickyMail
  init(_ mail: PickyMail) { self.mail = mail }
}

/// Values of models that take names, access or types to their limits.
struct ValuesEdgeTests {
  @Test func propertiesMayHaveTheNamesOfTheExpansionsParameters() {
    let loan = BookLoan()
    loan.reader = "Ada"
    loan.visitor = "Eve"
    #expect(loan.values.reader == "Ada")
    #expect(loan.values == BookLoan.Values(reader: "Ada", visitor: "Eve"))
  }

  /// A number that another program has written and that no Float is exactly equal to.
  @Test func aFloatIsReadAsTheNearestOne() throws {
    let json = Data(#"{"ratio": 0.1, "parts": [0.1, 0.25]}"#.utf8)
    let values = try JSONDecoder().decode(Dial.Values.self, from: json)
    #expect(values.ratio == 0.1 && values.parts == [0.1, 0.25])
    let again = try JSONDecoder().decode(Dial.Values.self, from: try JSONEncoder().encode(values))
    #expect(again == values)
  }

  @Test func aPublicModelBeginsWithWhatIsInternal() {
    #expect(OpenShow.Values().genre == .rock && OpenShow.Values().token == "t")
  }

  @Test func valuesThatTheirTypeRefusesAreNeitherReplacedNorTraps() async throws {
    let container = try await PersistentContainer("Mails", models: MailTaker.self, at: .inMemory)
    let context = try container.context()
    defer { context.end() }
    let mail = try #require(PickyMail(rawValue: "a@b.c"))
    context.insert(MailTaker(mail))
    try context.save()
    context.reset()
    let taker = try #require(try context.fetch(From<MailTaker>()).first)
    var values = try #require(try context.fetch(From<MailTaker>().values()).first)
    values.mail.rawValue = "oops"
    #expect(throws: ContextError.self) { try context.insert(values) }
    #expect(throws: ContextError.self) { try taker.apply(values) }
    #expect(taker.mail.rawValue == "a@b.c")
  }
}

@Model final class Dial {
  var ratio: Float = 0
  @Attribute var parts: [Float] = []

  init() {}
}
