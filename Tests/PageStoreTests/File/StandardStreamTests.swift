import Glibc
@_spi(Testing) import TestSupport
import Testing

@testable import PageStore

/// A store's file has no descriptor of a standard stream, into which a program prints.
struct StandardStreamTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aDescriptorOfAStreamIsReplaced() throws {
    let path = folder.file("file")
    let opened = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(opened >= 0)
    let descriptor = try PosixFile.aboveStandardStreams(opened, last: opened)
    defer { for number in [opened, descriptor] { _ = Glibc.close(number) } }
    #expect(descriptor > opened)
    #expect(fcntl(opened, F_GETFL) & O_ACCMODE == O_RDONLY)
    #expect(Glibc.write(opened, "b", 1) < 0)
    #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
    #expect(Glibc.write(descriptor, "a", 1) == 1)
    #expect(try PosixFile.open(path: path, isReadOnly: true, createsIfMissing: false).byteCount() == 1)
  }

  @Test func anyOtherDescriptorStays() throws {
    #expect(try PosixFile.aboveStandardStreams(STDERR_FILENO + 1) == STDERR_FILENO + 1)
  }

  @Test func withoutAFreeDescriptorThereIsAnError() throws {
    let opened = Glibc.open(folder.path, O_RDONLY | O_CLOEXEC)
    try #require(opened >= 0)
    let error = #expect(throws: StoreError.self) {
      try PosixFile.aboveStandardStreams(opened, last: .max - 1)
    }
    #expect(error?.systemError?.call == "fcntl")
  }
}
