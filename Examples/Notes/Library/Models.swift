import Cambium

/// A note in a folder.
@Model final class Note {
  #Index<Note>([\.folder])
  var folder: String
  @Attribute(.length(1...200)) var text: String
  @Attribute(.min(1), .max(5)) var stars: Int16 = 3

  init(_ text: String, in folder: String) {
    self.folder = folder
    self.text = text
  }
}
