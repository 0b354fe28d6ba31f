import ArgumentParser
import FlightsExample

@main
enum Main {
  static func main() async {
    await FlightsCommand.main()
  }
}
