/// A failure of a store: its kind, its place, and the system error that caused it, if any.
///
/// Programs decide by ``code``; ``description`` is for people. The context is boxed, so that typed throws are
/// cheap when nothing is thrown.
public struct StoreError: Error, Sendable {
  /// The kind of failure.
  public let code: Code
  private let details: Details

  private final class Details: Sendable {
    let message: String
    let context: Context
    let systemError: SystemError?
    let cause: (any Error)?

    init(message: String, context: Context, systemError: SystemError?, cause: (any Error)? = nil) {
      self.message = message
      self.context = context
      self.systemError = systemError
      self.cause = cause
    }
  }

  /// Makes a failure, for tests of error handling.
  @_spi(Testing)
  public init(_ code: Code, _ message: String, context: Context = Context(), systemError: SystemError? = nil)
  {
    self.init(code, Details(message: message, context: context, systemError: systemError))
  }

  private init(_ code: Code, _ details: Details) {
    self.code = code
    self.details = details
  }

  /// Returns an error that says that a layer above has closed the store to the caller.
  ///
  /// - Parameter cause: the error of that layer.
  package static func closed(by cause: any Error, _ message: String) -> StoreError {
    StoreError(.closed, Details(message: message, context: Context(), systemError: nil, cause: cause))
  }

  /// A sentence about the failure, and what to do about it if something can be done.
  public var message: String { details.message }
  /// Where the failure happened, as far as it is known.
  public var context: Context { details.context }
  /// The failed system call, if there is one.
  public var systemError: SystemError? { details.systemError }
  /// The error of a layer above that has led to this one; nil if the store itself has failed.
  package var cause: (any Error)? { details.cause }
}

extension StoreError {
  /// Where a failure happened. Unknown fields are nil.
  public struct Context: Sendable, Hashable {
    /// The store's path.
    public var path: String?
    /// The page's number, counted in pages from the start of the file.
    public var page: UInt64?
    /// Bytes from the start of the file.
    public var offset: UInt64?
    /// The name or number of the tree.
    public var tree: String?

    /// Makes a context; omitted fields are unknown.
    public init(path: String? = nil, page: UInt64? = nil, offset: UInt64? = nil, tree: String? = nil) {
      self.path = path
      self.page = page
      self.offset = offset
      self.tree = tree
    }
  }

  /// A system call's name and its `errno`.
  public struct SystemError: Sendable, Hashable {
    /// The system call's name, such as `pwrite`.
    public let call: String
    /// The positive error number, such as `ENOSPC`.
    public let errno: Int32

    /// Makes the failure of a system call.
    public init(call: String, errno: Int32) {
      self.call = call
      self.errno = errno
    }
  }

  /// Returns a copy of the failure with the context that `fill` has changed.
  func adding(_ fill: (inout Context) -> Void) -> StoreError {
    var context = self.context
    fill(&context)
    return StoreError(
      code,
      Details(message: message, context: context, systemError: systemError, cause: cause)
    )
  }
}

extension StoreError {
  /// Returns the error for a store that has no numbers left.
  static func numbersUsedUp(_ what: String) -> StoreError {
    StoreError(
      .numbersUsedUp,
      "the store has no numbers left for \(what): it can be read, and its contents can be put into a new store"
    )
  }

  /// A kind of failure. New kinds may be added in any release.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }
    /// The code's name, such as `notAStore`.
    public var description: String { name }

    /// The file is not a Cambium store, or too short to be one.
    public static let notAStore = Code("notAStore")
    /// This library doesn't read this version of the file's format, or lacks a feature that the file uses.
    public static let unsupportedFormat = Code("unsupportedFormat")
    /// Bytes in the file are not those that were written: a checksum, an order, a count or a bound is wrong.
    public static let corrupt = Code("corrupt")
    /// Another process, or a handle with other options, holds the store; the message names the holder.
    public static let storeInUse = Code("storeInUse")
    /// The file system refused to open, create, lock or read the file.
    public static let inputOutput = Code("inputOutput")
    /// There is no room for the change; nothing of the transaction remains.
    public static let diskFull = Code("diskFull")
    /// A write or sync failed while committing: whether the commit survives is known after reopening.
    public static let outcomeUnknown = Code("outcomeUnknown")
    /// An earlier write or sync failed. The store can still be read; reopen it to write again.
    public static let fenced = Code("fenced")
    /// The file of the open store was deleted, or replaced by another. Commits that weren't synced by then are
    /// lost; the store can still be read.
    public static let fileGone = Code("fileGone")
    /// The store was opened read-only.
    public static let readOnly = Code("readOnly")
    /// The store is closed, or was inherited across a fork.
    public static let closed = Code("closed")
    /// A write transaction was begun inside another of the same thread, or a tree was used in the middle of a
    /// bulk append to it.
    public static let nestedWrite = Code("nestedWrite")
    /// Other transactions held the writer lock for longer than the timeout of this one; nothing was done.
    public static let timedOut = Code("timedOut")
    /// The transaction has ended or has failed, and can't be used any more.
    public static let transactionEnded = Code("transactionEnded")
    /// A cursor over a write transaction's tree was moved after the tree had changed.
    public static let cursorInvalidated = Code("cursorInvalidated")
    /// The snapshot was held for longer than its lifetime.
    public static let snapshotExpired = Code("snapshotExpired")
    /// No tree has this name.
    public static let noSuchTree = Code("noSuchTree")
    /// No number is left for another tree, because too many were made.
    public static let tooManyTrees = Code("tooManyTrees")
    /// The name of a new tree is empty, or longer than the limit.
    public static let invalidTreeName = Code("invalidTreeName")
    /// The store has no numbers left for commits, records of the log or uses of its extents; nothing was
    /// written.
    public static let numbersUsedUp = Code("numbersUsedUp")
    /// A key is longer than the limit.
    public static let keyTooLong = Code("keyTooLong")
    /// A value is longer than the limit.
    public static let valueTooLong = Code("valueTooLong")
    /// The keys of a bulk append don't ascend.
    public static let keysOutOfOrder = Code("keysOutOfOrder")
    /// An option has a value outside its limits, or can't be combined with those of the open store.
    public static let invalidOptions = Code("invalidOptions")
  }
}

extension StoreError: CustomStringConvertible {
  /// The code, the message and the context, in one line.
  public var description: String {
    var text = "\(code): \(message)"
    var places: [String] = []
    if let path = context.path { places.append("file \(path)") }
    if let tree = context.tree { places.append("tree \(tree)") }
    if let page = context.page { places.append("page \(page)") }
    if let offset = context.offset { places.append("offset \(offset)") }
    if !places.isEmpty { text += " (" + places.joined(separator: ", ") + ")" }
    if let systemError { text += " [\(systemError.call): errno \(systemError.errno)]" }
    return text
  }
}
