import Cambium
import GraphTestSupport
import Testing

@testable import GraphContext

/// A group that makes the same change of a link twice, because another context has taken it back in between, is undone.
struct UndoRepeatedLinkTests {
  @Test(arguments: [true, false]) func aLinkThatWasMadeTwiceIsTakenBack(_ isLink: Bool) async throws {
    let library = try await Library.open()
    let (context, other) = (try library.context(), try library.context())
    defer {
      context.end()
      other.end()
    }
    let (writer, reader) = (Writer("A", rank: 1), Reader("R"))
    context.insert(writer)
    context.insert(reader)
    if !isLink { writer.fans = [reader] }
    try context.save()
    let manager = ContextUndoManager()
    context.undoManager = manager
    manager.beginUndoGrouping()
    writer.fans = isLink ? [reader] : []
    try context.save()
    try other.refresh()
    let same = try other.existingObject(Writer.self, with: writer.objectID)
    same.fans = isLink ? [] : [try other.existingObject(Reader.self, with: reader.objectID)]
    try other.save()
    try context.refresh()
    #expect(writer.fans.count == (isLink ? 0 : 1))
    writer.fans = isLink ? [reader] : []
    manager.endUndoGrouping()
    #expect(context.undo())
    #expect(writer.fans.count == (isLink ? 0 : 1))
  }
}
