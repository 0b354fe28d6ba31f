/// A failure of a store: what kind, where, and what lies below it.
///
/// Decide on ``code``; ``description`` is for people. The context is boxed, so the error is one word wide and
/// typed throws stay cheap on the success path.
public struct StoreError: Error, Sendable {
  /// What kind of failure this is.
  public let code: Code
  private let details: Details

  private final class Details: Sendable {
    let message: String
    let context: Context
    let systemError: SystemError?

    init(message: String, context: Context, systemError: SystemError?) {
      self.message = message
      self.context = context
      self.systemError = systemError
    }
  }

  /// Makes a failure, for tests of what handles it.
  @_spi(Testing)
  public init(_ code: Code, _ message: String, context: Context = Context(), systemError: SystemError? = nil)
  {
    self.code = code
    self.details = Details(message: message, context: context, systemError: systemError)
  }

  /// The error of a store that its user is to take for closed.
  package static func closed(_ message: String) -> StoreError { StoreError(.closed, message) }

  /// What went wrong, and what to do about it where something can be done.
  public var message: String { details.message }
  /// Where it went wrong, as far as it is known.
  public var context: Context { details.context }
  /// The system call that failed, if one did.
  public var systemError: SystemError? { details.systemError }
}

extension StoreError {
  /// Where a failure happened. Every field that is not known is nil.
  public struct Context: Sendable, Hashable {
    /// The store's path.
    public var path: String?
    /// The page's number, counted in pages from the start of the file.
    public var page: UInt64?
    /// Bytes from the start of the file.
    public var offset: UInt64?
    /// The name or number of the tree.
    public var tree: String?

    /// Makes a context; what is left out is not known.
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
    /// The positive number of the error, such as `ENOSPC`.
    public let errno: Int32

    /// Makes the failure of a call.
    public init(call: String, errno: Int32) {
      self.call = call
      self.errno = errno
    }
  }

  /// The same failure, with what `fill` adds to its context.
  package func adding(_ fill: (inout Context) -> Void) -> StoreError {
    var context = self.context
    fill(&context)
    return StoreError(code, message, context: context, systemError: systemError)
  }
}

extension StoreError {
  /// The error where numbers end.
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
    /// The file's format, or a feature it uses, is newer than this library.
    public static let unsupportedFormat = Code("unsupportedFormat")
    /// Bytes in the file are not what was written: a checksum, an order, a count or a bound is wrong.
    public static let corrupt = Code("corrupt")
    /// Another process or another incompatible handle holds the store; the message names the holder.
    public static let storeInUse = Code("storeInUse")
    /// The file system refused to open, create, lock or read the file.
    public static let inputOutput = Code("inputOutput")
    /// There is no room for the change; the transaction was aborted and nothing of it remains.
    public static let diskFull = Code("diskFull")
    /// A write or sync failed while committing: whether the commit survives is known after reopening.
    public static let outcomeUnknown = Code("outcomeUnknown")
    /// An earlier write or sync failed. Reads go on; reopen the store to write again.
    public static let fenced = Code("fenced")
    /// The file of the open store was deleted, or replaced by another. What was committed since the last sync before that is in
    /// no file that is found under its name; reads go on.
    public static let fileGone = Code("fileGone")
    /// The store was opened read-only.
    public static let readOnly = Code("readOnly")
    /// The store is closed, or was inherited across a fork.
    public static let closed = Code("closed")
    /// A write transaction was begun inside another of the same thread, or a tree was used in the middle of a bulk append
    /// to it.
    public static let nestedWrite = Code("nestedWrite")
    /// Other transactions held the writer lock for longer than this one was to wait for it; nothing was done.
    public static let timedOut = Code("timedOut")
    /// The transaction has ended or has failed; it can't be used any more.
    public static let transactionEnded = Code("transactionEnded")
    /// A cursor over a write transaction's tree was moved after the tree had changed.
    public static let cursorInvalidated = Code("cursorInvalidated")
    /// The snapshot was held for longer than its lifetime.
    public static let snapshotExpired = Code("snapshotExpired")
    /// No tree has this name.
    public static let noSuchTree = Code("noSuchTree")
    /// So many trees were made that there is no number left for another.
    public static let tooManyTrees = Code("tooManyTrees")
    /// The store is about to run out of numbers for commits, records of the log or uses of its extents; nothing was written.
    public static let numbersUsedUp = Code("numbersUsedUp")
    /// A key is longer than the limit.
    public static let keyTooLong = Code("keyTooLong")
    /// A value is longer than the limit.
    public static let valueTooLong = Code("valueTooLong")
    /// Keys given to a bulk append don't ascend.
    public static let keysOutOfOrder = Code("keysOutOfOrder")
    /// An option has a value outside its limits, or differs from those the store is already open with.
    public static let invalidOptions = Code("invalidOptions")
  }
}

extension StoreError: CustomStringConvertible {
  /// The code, the message and everything that the context knows, in a line.
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
