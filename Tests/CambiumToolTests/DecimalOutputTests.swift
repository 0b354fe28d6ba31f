import Cambium
import Foundation
import TestSupport
import Testing

@Model
final class Receipt {
  var number: Int
  var total: Decimal
  var rebate: Decimal?

  init(number: Int, total: Decimal, rebate: Decimal? = nil) {
    self.number = number
    self.total = total
    self.rebate = rebate
  }
}

@Suite("Decimals in the tool")
struct DecimalOutputTests {
  @Test func everyDigitIsPrintedAndAskedFor() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("receipts.cambium")
    let store = URL(fileURLWithPath: path)
    let container = try await PersistentContainer("receipts", models: Receipt.self, at: store)
    let long = try #require(Decimal(string: "12345678901234567890.123456789"))
    try await container.performBackgroundTask { context in
      context.insert(Receipt(number: 1, total: long, rebate: .nan))
      context.insert(Receipt(number: 2, total: Decimal(-5) / 100))
      try context.save()
    }
    try await container.close()
    let table = try ToolRun("query", path, "Receipt", "total < 0", "--select", "total")
    #expect(table.lines.last == "-0.05")
    let condition = "total == 12345678901234567890.123456789"
    let json = try ToolRun("query", path, "Receipt", condition, "--select", "total,rebate", "--json")
    #expect(json.output.contains("\"total\": 12345678901234567890.123456789"), "\(json.output)")
    #expect(json.output.contains("\"rebate\": \"NaN\""), "\(json.output)")
    #expect(try ToolRun("verify", path).status == 0)
  }
}
