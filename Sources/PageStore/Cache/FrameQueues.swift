/// The two queues from which eviction chooses frames. Each frame is in one of them or in none. They are
/// linked lists in one array, so that a frame is found, moved and removed in O(1).
struct FrameQueues {
  enum Name: UInt8 {
    case none
    case young, main
    /// In no queue: the mark of a frame whose memory was given back while versions still refer to it.
    case evicted
  }

  private struct Node {
    var newer: UInt32 = 0
    var older: UInt32 = 0
    var queue = Name.none
  }

  private struct Ends {
    var newest: UInt32 = 0
    var oldest: UInt32 = 0
    var count = 0
  }

  /// Indexed by frame number.
  private var nodes: [Node] = []
  private var young = Ends()
  private var main = Ends()

  func count(_ queue: Name) -> Int { ends(queue).count }

  /// The queue of a frame.
  func queue(of frame: UInt64) -> Name { frame < nodes.count ? nodes[Int(frame)].queue : .none }

  /// The frame that has been in a queue for longest.
  func oldest(_ queue: Name) -> UInt64? {
    let frame = ends(queue).oldest
    return frame == 0 ? nil : UInt64(frame)
  }

  /// Marks a frame that is in no queue as evicted.
  mutating func markEvicted(_ frame: UInt64) { nodes[Int(frame)].queue = .evicted }

  /// Puts a frame that is in no queue at the new end of one.
  mutating func append(_ frame: UInt64, to queue: Name) {
    let index = Int(frame)
    if index >= nodes.count {
      nodes.append(contentsOf: repeatElement(Node(), count: max(index + 1 - nodes.count, nodes.count)))
    }
    var ends = ends(queue)
    nodes[index] = Node(newer: 0, older: ends.newest, queue: queue)
    if ends.newest != 0 { nodes[Int(ends.newest)].newer = UInt32(frame) } else { ends.oldest = UInt32(frame) }
    ends.newest = UInt32(frame)
    ends.count += 1
    setEnds(queue, ends)
  }

  /// Removes a frame from its queue, or clears its mark.
  mutating func remove(_ frame: UInt64) {
    guard frame < nodes.count else { return }
    let node = nodes[Int(frame)]
    guard node.queue == .young || node.queue == .main else {
      nodes[Int(frame)] = Node()
      return
    }
    var ends = ends(node.queue)
    if node.newer != 0 { nodes[Int(node.newer)].older = node.older } else { ends.newest = node.older }
    if node.older != 0 { nodes[Int(node.older)].newer = node.newer } else { ends.oldest = node.newer }
    ends.count -= 1
    setEnds(node.queue, ends)
    nodes[Int(frame)] = Node()
  }

  private func ends(_ queue: Name) -> Ends { queue == .main ? main : young }

  private mutating func setEnds(_ queue: Name, _ ends: Ends) {
    if queue == .main { main = ends } else { young = ends }
  }
}
