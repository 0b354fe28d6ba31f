import Cambium
import Foundation
import Testing

// Quoted in Docs/Models.md
@Model final class Meeting {
  @Attribute(.length(1...80)) var title: String
  @Attribute(.min(1), .max(500)) var seats: Int = 10
  @Attribute(.pattern("[A-Z]-[0-9]{3}")) var room: String?
  var start: Date
  var end: Date
  var created: Date?

  init(_ title: String, from start: Date, to end: Date) {
    self.title = title
    self.start = start
    self.end = end
  }

  func awakeFromInsert() { created = .now }

  func willSave() {
    let trimmed = title.trimmingCharacters(in: .whitespaces)
    if trimmed != title { title = trimmed }
  }

  func validateForInsert() throws {
    if end < start { throw ValidationError("it ends before it begins", properties: ["start", "end"]) }
  }
}
// End of quotation

struct HooksGuideTests {
  @Test @MainActor func everyBrokenRuleIsListed() async throws {
    let container = try await PersistentContainer("Meetings", models: Meeting.self, at: .inMemory)
    let context = container.viewContext
    var lines: [String] = []
    func print(_ properties: [String], _ message: String) {
      lines.append("\(properties.joined(separator: ", ")): \(message)")
    }

    // Quoted in Docs/Models.md
    let meeting = Meeting("", from: .now, to: .now.addingTimeInterval(-60))
    context.insert(meeting)
    meeting.room = "cellar"
    do {
      try context.save()
    } catch {
      for failure in error.failures { print(failure.context.properties, failure.message) }
    }
    // End of quotation

    let known = [
      "start, end: Meeting 1 can't be saved: it ends before it begins",
      "title: Meeting.title of object 1 is \"\" and must have a length from 1 to 80",
      "room: Meeting.room of object 1 is \"cellar\" and must fit the pattern “[A-Z]-[0-9]{3}”",
    ]
    #expect(lines.count == 3)
    for (line, known) in zip(lines, known) { #expect(line.hasPrefix(known)) }
    #expect(meeting.created != nil)
    (meeting.title, meeting.room, meeting.end) = (" Roots ", "A-101", .now)
    try context.save()
    #expect(meeting.title == "Roots")
  }
}
