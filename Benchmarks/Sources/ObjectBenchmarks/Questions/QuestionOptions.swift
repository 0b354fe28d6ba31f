import ArgumentParser
import BenchmarkHarness
import Foundation

/// The options of the commands that run queries.
struct QuestionOptions: ParsableArguments {
  @Option(help: "How often each question is asked of each.")
  var rounds = 5

  @Option(help: "Only these questions, such as F1,F3.")
  var only: String?

  @Option(help: "Where the stores are made.")
  var folder = FileManager.default.currentDirectoryPath

  @Option(help: "Writes the report to this file as well.")
  var markdown: String?

  @Option(help: "Writes every time that was taken, and the plans, to this file.")
  var json: String?

  /// Runs the queries in a folder of their own, prints the report and writes it.
  func report(
    _ questions: [Question],
    _ fill: (String) async throws -> (QuestionStores, QuestionReport.Subject)
  ) async throws {
    let folders = try ScratchFolders(root: folder)
    defer { folders.removeAll() }
    let (stores, subject) = try await fill(try folders.make())
    var runner = Runner(only: Set((only ?? "").split(separator: ",").map(String.init)))
    let questions = questions.filter { runner.wants($0.id) }
    for question in questions { try await runner.run(stores.workload(question, rounds: rounds)) }
    var report = QuestionReport(subject: subject, machine: Machine(folder: folder))
    for (question, result) in zip(questions, runner.results) {
      let plans = try await stores.plans(of: question)
      report.answers.append((question, result, plans.cambium, plans.sqlite))
    }
    print(report.markdown())
    try ReportFile.write(Data(report.markdown().utf8), to: markdown)
    try ReportFile.write(report.json(), to: json)
  }
}
