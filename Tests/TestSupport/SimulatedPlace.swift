@_spi(Testing) import PageStore
import Synchronization

/// A folder whose power can fail, as the place of a copy that replaces another file. It has two names: the store's own,
/// and the temporary one.
@_spi(Testing)
public final class SimulatedPlace: CopyPlace, Sendable {
  /// The file that the store's own name refers to.
  public enum Name: Sendable {
    case original
    /// The copy, until the power fails; then it may be either.
    case copyUnsynced
    case copy
  }

  /// The folder and its files at one moment.
  public struct Moment: Sendable {
    public var name: Name
    public var original: CrashPoint
    public var copy: CrashPoint?
    /// Whether the file system's data about the copy's file, such as its owner, is durable.
    public var isFileSynchronized: Bool

    /// The files that the store's name may refer to after a power failure.
    public var found: [CrashPoint] {
      switch name {
      case .original: [original]
      case .copyUnsynced: [original] + [copy].compactMap { $0 }
      case .copy: [copy].compactMap { $0 }
      }
    }
  }

  /// Called at each moment: after each change of the copy's file, or of the folder.
  public typealias Observer = @Sendable (Moment) -> Void

  private struct State {
    var name = Name.original
    var copy: SimulatedDisk?
    var isFileSynchronized = false
    var steps: [String] = []
  }

  public let temporaryPath = "copy"
  private let original: SimulatedDisk
  private let observer: Observer
  private let state = Mutex(State())

  public init(replacing original: SimulatedDisk, observer: @escaping Observer = { _ in }) {
    self.original = original
    self.observer = observer
  }

  /// The copy's file; nil if there is none, or none any more.
  public var copy: SimulatedDisk? { state.withLock { $0.copy } }
  /// The calls that were made, in order.
  public var steps: [String] { state.withLock { $0.steps } }

  public var moment: Moment {
    let (name, copy, isFileSynchronized) = state.withLock { ($0.name, $0.copy, $0.isFileSynchronized) }
    return Moment(
      name: name,
      original: original.crashPoint,
      copy: copy?.crashPoint,
      isFileSynchronized: isFileSynchronized
    )
  }

  private func step(_ name: String, _ change: (inout State) -> Void) {
    state.withLock {
      $0.steps.append(name)
      change(&$0)
    }
    observer(moment)
  }

  public func makeFile() throws(StoreError) -> any RandomAccessFile {
    let disk = SimulatedDisk()
    step("makeFile") { $0.copy = disk }
    disk.observe { [unowned self] _, _ in observer(moment) }
    return disk
  }

  public func synchronizeFile() throws(StoreError) {
    let result = copy?.synchronize() ?? 0
    if result < 0 { throw StoreError.system("fdatasync", -result) }
    step("synchronizeFile") { $0.isFileSynchronized = true }
  }

  public func publish() throws(StoreError) { step("publish") { $0.name = .copyUnsynced } }

  public func synchronizeFolder() throws(StoreError) {
    step("synchronizeFolder") { if $0.name == .copyUnsynced { $0.name = .copy } }
  }

  public func discard() { step("discard") { $0.copy = nil } }
}
