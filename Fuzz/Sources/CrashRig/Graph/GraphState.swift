import Foundation

/// A graph as plain values by their codes, which are unique: the expected contents of a store after a save. Shares no
/// code with contexts.
///
/// Each link is kept at one end alone; the expected links of the other end are counted from there.
struct GraphState: Sendable, Equatable {
  struct Author: Sendable, Equatable {
    var name: String
    var rank: Int
    var email: String?
    var biography: String?
    var portrait: Data?
  }
  struct Work: Sendable, Equatable {
    var title: String
    var pages: Int
    var shelf: String?
    var place: Int?
    var author: Int?
    var publisher: Int
    var sequel: Int?
  }
  struct Member: Sendable, Equatable {
    var name: String
    var favourite: Int?
    var idols: Set<Int> = []
  }

  var publishers: [Int: String] = [:]
  var authors: [Int: Author] = [:]
  var works: [Int: Work] = [:]
  var members: [Int: Member] = [:]
  var library = LibraryState()

  // MARK: The other end

  func works(of author: Int) -> [Int] { codes(of: works) { $0.author == author } }
  func works(from publisher: Int) -> [Int] { codes(of: works) { $0.publisher == publisher } }
  func prequel(of work: Int) -> Int? { codes(of: works) { $0.sequel == work }.first }
  func admirers(of author: Int) -> [Int] { codes(of: members) { $0.idols.contains(author) } }

  private func codes<Value>(of values: [Int: Value], where holds: (Value) -> Bool) -> [Int] {
    values.filter { holds($0.value) }.keys.sorted()
  }
}

extension GraphState {
  /// Makes an edit, with the effects of the delete rules and on the other ends.
  mutating func apply(_ edit: GraphEdit) {
    switch edit {
    case .putPublisher(let code, let name): publishers[code] = name
    case .putAuthor(let code, let author): authors[code] = author
    case .putMember(let code, let name): members[code, default: Member(name: name)].name = name
    case .addWork(let code, let work): works[code] = work
    case .changeWork(let code, let title, let pages, let shelf, let place):
      works[code]?.title = title
      works[code]?.pages = pages
      works[code]?.shelf = shelf
      works[code]?.place = place
    case .setAuthor(let work, let author, _): works[work]?.author = author
    case .setPublisher(let work, let publisher, _): works[work]?.publisher = publisher
    case .setSequel(let work, let sequel, _):
      if let sequel, let former = prequel(of: sequel) { works[former]?.sequel = nil }
      works[work]?.sequel = sequel
    case .setFavourite(let member, let work): members[member]?.favourite = work
    case .admire(let member, let author, _): members[member]?.idols.insert(author)
    case .forget(let member, let author, _): members[member]?.idols.remove(author)
    case .deletePublisher(let code): publishers[code] = nil
    case .deleteAuthor(let code): deleteAuthor(code)
    case .deleteWork(let code): deleteWork(code)
    case .deleteMember(let code): members[code] = nil
    case .library(let edit): library.apply(edit)
    }
  }

  private mutating func deleteAuthor(_ code: Int) {
    for work in works(of: code) { deleteWork(work) }
    for member in admirers(of: code) { members[member]?.idols.remove(code) }
    authors[code] = nil
  }

  private mutating func deleteWork(_ code: Int) {
    if let prequel = prequel(of: code) { works[prequel]?.sequel = nil }
    for member in codes(of: members, where: { $0.favourite == code }) { members[member]?.favourite = nil }
    works[code] = nil
  }
}
