import Glibc
@_spi(Testing) import PageStore
import Synchronization
@_spi(Testing) import TestSupport
import Testing

struct SimulatedDiskTests {
  private func write(_ bytes: [UInt8], at offset: UInt64, to disk: SimulatedDisk) -> Int {
    bytes.withUnsafeBytes { disk.write($0, at: offset) }
  }

  private func writeDurably(_ bytes: [UInt8], at offset: UInt64, to disk: SimulatedDisk) -> Int {
    bytes.withUnsafeBytes { disk.writeDurably($0, at: offset) }
  }

  @Test func unsyncedBytesMayBeLostAndSyncedOnesMayNot() {
    let disk = SimulatedDisk()
    #expect(write([1, 2, 3], at: 0, to: disk) == 3)
    #expect(disk.crashPoint.image(.allLost, seed: 1).bytes == [])
    #expect(disk.crashPoint.image(.allKept, seed: 1).bytes == [1, 2, 3])
    #expect(disk.synchronize() == 0)
    for damage in Damage.allCases { #expect(disk.crashPoint.image(damage, seed: 1).bytes == [1, 2, 3]) }
    #expect(disk.crashPoint.possibleDamage == [.allLost])
  }

  @Test func aDurableWriteSyncsItsOwnSectorsAlone() {
    let disk = SimulatedDisk(SparseBytes([UInt8](repeating: 0, count: 4_096)))
    _ = write([UInt8](repeating: 7, count: 4_096), at: 0, to: disk)
    #expect(writeDurably([9], at: 1_024, to: disk) == 1)
    let survivors = disk.crashPoint.image(.allLost, seed: 1).bytes
    #expect(survivors[1_024] == 9 && survivors[1_025] == 7 && survivors[1_535] == 7)
    #expect(survivors[..<1_024].allSatisfy { $0 == 0 } && survivors[1_536...].allSatisfy { $0 == 0 })
    #expect(disk.crashPoint.image(.allKept, seed: 1).bytes == disk.content.bytes)
  }

  @Test func theSameSeedGivesTheSameImage() {
    var generator = SeededGenerator()
    let disk = SimulatedDisk(SparseBytes(generator.bytes(20_000)))
    for _ in 0..<40 {
      let bytes = generator.bytes(generator.number(in: 1...3_000))
      _ = write(bytes, at: UInt64(generator.number(in: 0...30_000)), to: disk)
    }
    for damage in disk.crashPoint.possibleDamage {
      let seed = generator.next()
      #expect(
        disk.crashPoint.image(damage, seed: seed).bytes == disk.crashPoint.image(damage, seed: seed).bytes
      )
    }
  }

  @Test func everySectorOfAnOldOrNewImageIsOneThatWasWritten() {
    var generator = SeededGenerator()
    let sector = Int(CrashPoint.sectorByteCount)
    let disk = SimulatedDisk(SparseBytes([UInt8](repeating: 0, count: 64 * sector)))
    for version in 1...5 {
      for index in 0..<64 where generator.chance(1, in: 2) {
        _ = write([UInt8](repeating: UInt8(version), count: sector), at: UInt64(index * sector), to: disk)
      }
    }
    var seen: Set<UInt8> = []
    for seed in 0..<20 {
      let image = disk.crashPoint.image(.oldOrNew, seed: UInt64(seed)).bytes
      for start in stride(from: 0, to: image.count, by: sector) {
        #expect(image[start..<start + sector].allSatisfy { $0 == image[start] })
        seen.insert(image[start])
      }
    }
    #expect(seen == [0, 1, 2, 3, 4, 5])
  }

  @Test func damageStaysInsideTheUnsyncedSectors() {
    let sector = Int(CrashPoint.sectorByteCount)
    let old = [UInt8](repeating: 1, count: 16 * sector)
    let disk = SimulatedDisk(SparseBytes(old))
    _ = write([UInt8](repeating: 2, count: 2 * sector), at: UInt64(4 * sector), to: disk)
    for damage in disk.crashPoint.possibleDamage {
      for seed in 0..<50 {
        let image = disk.crashPoint.image(damage, seed: UInt64(seed)).bytes
        #expect(image[..<(4 * sector)] == old[..<(4 * sector)])
        #expect(image[(6 * sector)...] == old[(6 * sector)...])
      }
    }
  }

  @Test func theSizeMayLandWithoutTheBytesAndTheBytesWithoutTheSize() {
    let disk = SimulatedDisk(SparseBytes([UInt8](repeating: 1, count: 1_024)))
    _ = write([UInt8](repeating: 2, count: 1_024), at: 1_024, to: disk)
    let images = Set((0..<30).map { disk.crashPoint.image(.size, seed: UInt64($0)).bytes })
    let ones = [UInt8](repeating: 1, count: 1_024)
    #expect(images == [ones, ones + [UInt8](repeating: 0, count: 1_024)])
  }

  @Test func whatLiesPastALostSizeReadsAsZerosLater() {
    let disk = SimulatedDisk(SparseBytes([1]))
    _ = write([UInt8](repeating: 2, count: 2_000), at: 0, to: disk)
    var generator = SeededGenerator(seed: 5)
    var image = disk.crashPoint.image(.size, seed: generator.next())
    while image.byteCount != 1 { image = disk.crashPoint.image(.size, seed: generator.next()) }
    let reopened = SimulatedDisk(image)
    #expect(reopened.allocate(at: 0, byteCount: 2_000) == 0)
    #expect(reopened.content.bytes[1...].allSatisfy { $0 == 0 })
  }

  @Test func aFailedSyncMayMarkPagesCleanThatNeverReachTheDisk() {
    let disk = SimulatedDisk(SparseBytes([1, 1, 1]))
    disk.setFailedSyncBehavior(.marksClean)
    disk.inject(DiskFault(.synchronize, at: 0, .error(EIO)))
    _ = write([2, 2, 2], at: 0, to: disk)
    #expect(disk.synchronize() == -EIO)
    #expect(disk.synchronize() == 0)
    #expect(disk.afterProcessDeath().content.bytes == [2, 2, 2])
    #expect(disk.crashPoint.image(.allKept, seed: 0).bytes == [1, 1, 1])
  }

  @Test func aFailedSyncMayTakeThePagesBack() {
    let disk = SimulatedDisk(SparseBytes([1, 1, 1]))
    disk.setFailedSyncBehavior(.reverts)
    disk.inject(DiskFault(.writeDurably, at: 0, .error(EIO)))
    #expect(writeDurably([2, 2, 2], at: 0, to: disk) == Int(-EIO))
    #expect(disk.content.bytes == [1, 1, 1])
  }

  @Test func faultsHitTheCallTheyNameOnceOrFromThereOn() {
    let disk = SimulatedDisk()
    disk.inject(DiskFault(.write, at: 1, .short(isOneByte: false)))
    #expect([write([1, 2, 3, 4], at: 0, to: disk), write([1, 2, 3, 4], at: 0, to: disk)] == [4, 2])
    #expect(write([1, 2, 3, 4], at: 0, to: disk) == 4)
    disk.inject(DiskFault(.write, at: 0, .error(ENOSPC), isSticky: true))
    #expect([write([1], at: 0, to: disk), write([1], at: 0, to: disk)] == [Int(-ENOSPC), Int(-ENOSPC)])
    #expect(disk.firedFaultCount == 3)
    disk.clearFaults()
    #expect(write([1], at: 0, to: disk) == 1)
    #expect(disk.statistics.count(.write) == 6)
  }

  @Test func observersSeeASyncWhileItIsUnderWay() {
    let disk = SimulatedDisk()
    let seen = Recorder()
    disk.observe { _, point in seen.note(point.hasUnsynced) }
    _ = writeDurably([1], at: 0, to: disk)
    _ = write([1], at: 0, to: disk)
    _ = disk.synchronize()
    #expect(seen.notes == [true, false, true, true, false])
  }

  @Test func whatIsTriedOnACutDiskIsShownToNobody() {
    let disk = SimulatedDisk()
    let seen = Recorder()
    disk.observe { _, point in seen.note(point.hasUnsynced) }
    disk.witness { point in seen.note(point.hasUnsynced) }
    disk.cut()
    #expect(write([1], at: 0, to: disk) == -Int(EIO))
    #expect(disk.synchronize() == -EIO)
    #expect(seen.notes == [])
  }

  @Test func aFileMayBeLargerThanFourGigabytes() {
    let disk = SimulatedDisk()
    #expect(disk.allocate(at: 0, byteCount: 6 << 32) == 0)
    _ = write([1, 2], at: (5 << 32) - 1, to: disk)
    #expect(disk.content.bytes(in: (5 << 32) - 2..<(5 << 32) + 2) == [0, 1, 2, 0])
  }
}

/// The disk states that an observer saw, in order.
private final class Recorder: Sendable {
  private let state = Mutex<[Bool]>([])
  var notes: [Bool] { state.withLock { $0 } }
  func note(_ value: Bool) { state.withLock { $0.append(value) } }
}
