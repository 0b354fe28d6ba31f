import ArgumentParser
import MediaLibraryExample

@main
enum Main {
  static func main() async {
    await MediaCommand.main()
  }
}
