import BenchmarkHarness
import CObjectBox
import Foundation

/// ObjectBox's C library, which `Scripts/install-objectbox.sh` fetches. Without it ObjectBox takes no part.
enum ObjectBoxLibrary {
  /// Its functions, or the reason why there are none.
  static let functions = load()

  /// nil if the library isn't installed.
  static var version: String? {
    (try? functions.get())?.version_string().map { String(cString: $0) }
  }

  private static func load() -> Result<cobx_functions, PeerError> {
    let path =
      ProcessInfo.processInfo.environment["OBJECTBOX_LIBRARY"]
      ?? "Benchmarks/.build/objectbox/libobjectbox.so"
    var functions = cobx_functions()
    guard let reason = cobx_load(path, &functions) else { return .success(functions) }
    return .failure(PeerError(peer: ObjectBoxPeer.name, message: String(cString: reason)))
  }
}
