@_spi(Testing) import PageStore
@_spi(Testing) import TestSupport

/// The steps of a subject's life, of whose moments images are judged.
struct RecordedSteps<Subject: CrashSubject> {
  private let subject: Subject
  private let recorder: CrashRecorder<Subject.State>
  private let check: ImageCheck<Subject>
  private let seed: UInt64
  /// Given to each step's images, so that a step's images don't depend on those before.
  private var stepCount: UInt64 = 0

  /// - Parameter capacity: how many moments of a step are judged at the most; of more, a random choice.
  init(of subject: Subject, options: StoreOptions, tally: Tally, scenario: UInt64, capacity: Int = 8) {
    self.subject = subject
    seed = scenario
    recorder = CrashRecorder(ledger: subject.ledger, capacity: capacity, seed: scenario)
    check = ImageCheck(tally: tally, options: options, scenario: scenario)
  }

  /// Watches the disk that the subject has from now on.
  func watch() { recorder.watch(subject.disk) }

  /// Does `body` while its moments are kept, or those for which `isKept` is true, and judges images of these.
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
