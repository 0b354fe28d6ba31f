import AsyncAlgorithms
import Cambium
import Foundation
import Hummingbird
import ServiceLifecycle

/// Serves the departures of a store, live:
///
/// - `GET /departures`: server-sent events; the first has all departures, each further one a JSON patch (RFC 6902) of what has changed.
/// - `GET /board`: server-sent events, each of which replaces all departures; one whenever nothing has changed for a quarter of a second.
/// - `POST /departures?minute=600&city=Basel`: a new departure.
/// - `POST /departures/delay?minute=600&by=10`: delays the departures of a minute.
@main
enum Server {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let airport = try await PersistentContainer(
      "Airport",
      models: Departure.self,
      at: URL(fileURLWithPath: arguments.first ?? "airport.cambium")
    )
    let router = Router()
    router.get("departures") { _, _ in live(airport) }
    router.get("board") { _, _ in calm(airport) }
    router.post("departures") { request, _ in
      let parameters = request.uri.queryParameters
      let minute = try parameters.require("minute", as: Int.self)
      let city = try parameters.require("city")
      try await airport.write { $0.insert(Departure(minute: minute, city: city)) }
      return HTTPResponse.Status.created
    }
    router.post("departures/delay") { request, _ in
      let parameters = request.uri.queryParameters
      let minute = try parameters.require("minute", as: Int.self)
      let minutes = try parameters.require("by", as: Int.self)
      let late = From<Departure>().where { $0.minute == minute }
      try await airport.batchUpdate(late, .set(\.delay) { $0.delay + minutes })
      return HTTPResponse.Status.ok
    }
    let port = arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
    let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
    try await Application(router: router, configuration: configuration).runService()
  }

  /// A dozen lines from a query to server-sent events.
  private static func live(_ airport: PersistentContainer) -> Response {
    let board = From<Departure>().orderBy(\.minute).limit(100)
    return response(airport.follow(board))
  }

  /// Whole boards, for screens that show no difference: a hundred delays at once are one event.
  private static func calm(_ airport: PersistentContainer) -> Response {
    let board = From<Departure>().orderBy(\.minute).limit(100)
    // Quoted in Docs/Observing.md
    let boards = airport.follow(board)
      .reductions(into: []) { board, update in update.apply(to: &board) }
      .removeDuplicates()
      .debounce(for: .milliseconds(250))
    // End of quotation
    return response(boards.map { ListUpdate.all($0) })
  }

  private static func response<Updates: AsyncSequence & Sendable>(_ updates: Updates) -> Response
  where Updates.Element == ListUpdate<Departure.Values> {
    // A server that shuts down also ends its open responses.
    let events = updates.cancelOnGracefulShutdown().map { update in
      ByteBuffer(string: "data: \(String(decoding: try update.jsonPatch(), as: UTF8.self))\n\n")
    }
    return Response(
      status: .ok,
      headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
      body: ResponseBody(asyncSequence: events)
    )
  }
}
