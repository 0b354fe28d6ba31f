/// The two queues from which eviction chooses frames. Each frame is in one of them or in none. They are
/// linked lists in one array, so that a frame is found, moved and removed in O(1).
struct FrameQueues {
  enum Name: UInt8 {
    case none
    case young, main
    /// In no queue: the mark of a frame whose memory was given back while versions still refer to it.
    case evicted
  }

  /// The position of a frame in its queue, in one word: 30 bits for each neighbour, which is more than an
  /// arena has frames, and the queue.
  private struct Node {
    var word: Int

    init(word: Int) { self.word = word }

    init(newer: UInt32 = 0, older: UInt32 = 0, queue: Name = .none) {
      word = Int(newer) | Int(older) << 30 | Int(queue.rawValue) << 60
    }

    private static let mask: Int = 1 << 30 - 1

    var newer: UInt32 {
      get { UInt32(truncatingIfNeeded: word & Self.mask) }
      set { word = word & ~Self.mask | Int(newValue) }
    }

    var older: UInt32 {
      get { UInt32(truncatingIfNeeded: word >> 30 & Self.mask) }
      set { word = word & ~(Self.mask << 30) | Int(newValue) << 30 }
    }

    var queue: Name {
      get { Name(rawValue: UInt8(truncatingIfNeeded: word >> 60)) ?? .none }
      set { word = word & ~(3 << 60) | Int(newValue.rawValue) << 60 }
    }
  }

  private struct Ends {
    var newest: UInt32 = 0
    var oldest: UInt32 = 0
    var count = 0
  }

  /// The nodes' words, by frame number. They are stored as an array of `Int`, whose type the standard library
  /// already has. The type of an array of nodes would be made at run time, when a store is opened.
  private var nodes: [Int] = []
  private var young = Ends()
  private var main = Ends()

  func count(_ queue: Name) -> Int { ends(queue).count }

  /// Returns the queue of a frame.
  func queue(of frame: UInt64) -> Name { frame < nodes.count ? Node(word: nodes[Int(frame)]).queue : .none }

  /// Returns the frame that has been in a queue for longest.
  func oldest(_ queue: Name) -> UInt64? {
    let frame = ends(queue).oldest
    return frame == 0 ? nil : UInt64(frame)
  }

  /// Marks a frame that is in no queue as evicted.
  mutating func markEvicted(_ frame: UInt64) { change(UInt32(frame)) { $0.queue = .evicted } }

  /// Puts a frame that is in no queue at the new end of one.
  mutating func append(_ frame: UInt64, to queue: Name) {
    let index = Int(frame)
    if index >= nodes.count {
      nodes.append(contentsOf: repeatElement(0, count: max(index + 1 - nodes.count, nodes.count)))
    }
    var ends = ends(queue)
    nodes[index] = Node(older: ends.newest, queue: queue).word
    if ends.newest != 0 {
      change(ends.newest) { $0.newer = UInt32(frame) }
    } else {
      ends.oldest = UInt32(frame)
    }
    ends.newest = UInt32(frame)
    ends.count += 1
    setEnds(queue, ends)
  }

  /// Removes a frame from its queue, or clears its mark.
  mutating func remove(_ frame: UInt64) {
    guard frame < nodes.count else { return }
    let node = Node(word: nodes[Int(frame)])
    guard node.queue == .young || node.queue == .main else {
      nodes[Int(frame)] = 0
      return
    }
    var ends = ends(node.queue)
    if node.newer != 0 { change(node.newer) { $0.older = node.older } } else { ends.newest = node.older }
    if node.older != 0 { change(node.older) { $0.newer = node.newer } } else { ends.oldest = node.newer }
    ends.count -= 1
    setEnds(node.queue, ends)
    nodes[Int(frame)] = 0
  }

  private mutating func change(_ frame: UInt32, _ body: (inout Node) -> Void) {
    var node = Node(word: nodes[Int(frame)])
    body(&node)
    nodes[Int(frame)] = node.word
  }

  private func ends(_ queue: Name) -> Ends { queue == .main ? main : young }

  private mutating func setEnds(_ queue: Name, _ ends: Ends) {
    if queue == .main { main = ends } else { young = ends }
  }
}
