@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// The steps of a subject's life; images of their moments are judged.
struct RecordedSteps<Subject: CrashSubject> {
  private let subject: Subject
  private let recorder: CrashRecorder<Subject.State>
  private let check: ImageCheck<Subject>
  private let seed: UInt64
  /// The number of the step, for the seeds of its images, so that a step's images don't depend on the steps before.
  private var stepCount: UInt64 = 0

  /// - Parameter capacity: how many moments of a step are judged at the most. If there are more, a random choice is
  ///   judged.
  init(of subject: Subject, options: StoreOptions, tally: Tally, scenario: UInt64, capacity: Int = 8) {
    self.subject = subject
    seed = scenario
    recorder = CrashRecorder(ledger: subject.ledger, capacity: capacity, seed: scenario)
    check = ImageCheck(tally: tally, options: options, scenario: scenario)
  }

  /// Watches the disk that the subject has from now on.
  func watch() { recorder.watch(subject.disk) }

  /// Calls `body` and keeps its moments, or those for which `isKept` returns true. Judges images of these.
  mutating func step(
    _ operation: Operation,
    imageCount: Int,
    keeping isKept: @escaping @Sendable (CrashPoint) -> Bool = { _ in true },
    _ body: (Subject) throws -> Void
  ) throws {
    recorder.begin(operation, keeping: isKept)
    try body(subject)
    // Between two calls, right after the acknowledgement, the power may fail too.
    recorder.record(subject.disk.crashPoint)
    stepCount += 1
    for (index, moment) in recorder.take().enumerated() {
      check.check(moment, imageCount: imageCount, seed: mixed(mixed(seed, stepCount), UInt64(index)))
    }
  }
}
