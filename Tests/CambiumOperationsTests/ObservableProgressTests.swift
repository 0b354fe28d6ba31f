import CambiumOperations
import Foundation
import Synchronization
import Testing

import struct TestSupport.SeededGenerator

/// Progress that is observed, and made by several threads.
struct ObservableProgressTests {
  @Test func observersHearOfEachFraction() {
    let (progress, notes) = (ObservableProgress(total: 4), Notes())
    var observation: ProgressObservation? = progress.onChange { notes.add("\($0)") }
    progress.advance()
    progress.completedUnitCount = 3
    #expect(notes.all == ["0.25", "0.75"])
    observation = nil
    progress.advance()
    #expect(notes.all == ["0.25", "0.75"])
    #expect(observation == nil)
  }

  @Test(arguments: [-1, 0, 1] as [Int64]) func aProgressWithoutATotalBecomesComplete(_ total: Int64) {
    for completed in [0, 57] as [Int64] {
      let (whole, part) = (ObservableProgress(total: 100), ObservableProgress(total: total))
      let notes = Notes()
      let observation = part.onChange { notes.add("\($0)") }
      whole.addChild(part, withPendingUnitCount: 100)
      if total < 0 { part.completedUnitCount = completed }
      part.complete()
      #expect(part.fraction == 1 && whole.fraction == 1 && notes.all == ["1.0"])
      withExtendedLifetime(observation) {}
    }
  }

  @Test func cancellingMeetsChildrenThatComeAndGo() async {
    let whole = ObservableProgress(total: 1_000)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<200 {
            let part = ObservableProgress(total: 1)
            whole.addChild(part, withPendingUnitCount: 1)
            part.advance()
          }
        }
      }
      group.addTask { for _ in 0..<200 { whole.cancel() } }
    }
    #expect(whole.isCancelled && whole.completedUnitCount == 800)
  }

  @Test func partsTellTheWhole() {
    let (whole, part, notes) = (ObservableProgress(total: 100), ObservableProgress(total: 2), Notes())
    whole.addChild(part, withPendingUnitCount: 100)
    let observation = whole.onChange { notes.add("\($0)") }
    part.advance()
    part.advance()
    #expect(notes.all == ["0.5", "1.0"])
    #expect(whole.completedUnitCount == 100)
    observation.cancel()
  }

  /// Returns a progress whose only child is `part`. The tests don't keep a reference to it.
  private func whole(of part: ObservableProgress) -> ObservableProgress {
    let whole = ObservableProgress(total: 100)
    whole.addChild(part, withPendingUnitCount: 100)
    return whole
  }

  @Test func anObservationKeepsItsProgress() {
    let (part, notes) = (ObservableProgress(total: 2), Notes())
    weak var kept: ObservableProgress?
    func observe() -> ProgressObservation {
      let whole = self.whole(of: part)
      kept = whole
      return whole.onChange { notes.add("\($0)") }
    }
    var observation: ProgressObservation? = observe()
    part.advance()
    #expect(notes.all == ["0.5"] && observation != nil)
    observation = nil
    #expect(kept == nil)
  }

  @Test(.timeLimit(.minutes(60))) func aSequenceKeepsItsProgress() async {
    let part = ObservableProgress(total: 2)
    weak var kept: ObservableProgress?
    func fractions() -> AsyncStream<Double> {
      let whole = self.whole(of: part)
      kept = whole
      return whole.fractions()
    }
    var unread: AsyncStream<Double>? = fractions()
    #expect(kept != nil && unread != nil)
    unread = nil
    #expect(kept == nil)
    let read = fractions()
    part.complete()
    var last = 0.0
    for await fraction in read { last = fraction }
    #expect(last == 1)
  }

  @Test func completingCompletesTheParts() {
    let whole = ObservableProgress(total: 100)
    let (half, empty) = (ObservableProgress(total: 2), ObservableProgress(total: 0))
    whole.addChild(half, withPendingUnitCount: 60)
    whole.addChild(empty, withPendingUnitCount: 40)
    half.advance()
    #expect(whole.fraction == 0.3)
    whole.complete()
    #expect(whole.fraction == 1 && half.fraction == 1 && whole.completedUnitCount == 100)
  }

  @Test(.timeLimit(.minutes(60))) func sequencesEndWhenAllIsCompleted() async {
    let progress = ObservableProgress(total: 10)
    let fractions = progress.fractions()
    Task { for _ in 0..<10 { progress.advance() } }
    var last = -1.0
    for await fraction in fractions {
      #expect(fraction >= last)
      last = fraction
    }
    #expect(last == 1)
  }

  @Test func threadsMakeProgressTogether() {
    var random = SeededGenerator()
    let counts = (0..<8).map { _ in Int64(random.number(in: 1...200)) }
    let total = Int64(counts.count)
    let whole = ObservableProgress(total: total)
    let highest = Mutex(0.0)
    let parts = counts.map(ObservableProgress.init(total:))
    for part in parts { whole.addChild(part, withPendingUnitCount: 1) }
    let observation = whole.onChange { fraction in
      highest.withLock { highest in
        #expect(fraction >= highest - 1e-9)
        highest = max(highest, fraction)
      }
    }
    DispatchQueue.concurrentPerform(iterations: parts.count) { index in
      for _ in 0..<counts[index] { parts[index].advance() }
    }
    #expect(whole.completedUnitCount == total)
    #expect(abs(whole.fraction - 1) < 1e-9 && abs(highest.withLock { $0 } - 1) < 1e-9)
    observation.cancel()
  }
}
