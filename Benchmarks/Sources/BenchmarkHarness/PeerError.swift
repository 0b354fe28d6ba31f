/// The failure of a peer.
package struct PeerError: Error, CustomStringConvertible {
  package var peer: String
  package var message: String
  package var description: String { "\(peer): \(message)" }

  package init(peer: String, message: String) {
    self.peer = peer
    self.message = message
  }
}
