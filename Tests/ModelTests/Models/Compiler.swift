import Foundation

/// Runs the compiler that built these tests, on code that uses the same modules.
enum Compiler {
  /// A model as the macro writes it, with as few members as there can be.
  static let prelude = """
    import Cambium
    import Foundation

    final class Thing: ManagedObject {
      @exclusivity(unchecked) final var _$state = ObjectState()
      var name: String { "" }
      init(name: String) {}
      static let entityName = "Thing"
      static let _$model = ModelDescription(EntityDescription(name: "Thing", properties: []))
      init(_$state state: consuming ObjectState) { _$state = state }
      func _$visit<Visitor: PropertyVisitor>(_ property: Int, _ visitor: inout Visitor) {}
    }
    @available(*, unavailable) extension Thing: Sendable {}

    """

  /// Returns the errors in the code, one line each. The compiler checks crossings between tasks only after types, so
  /// it runs up to the intermediate language.
  ///
  /// - Parameters:
  ///   - prelude: What stands before the code.
  ///   - models: The code of a second file, which the compiler reads after the first; nil where there is only one.
  ///   - mode: The version of the language.
  ///   - flags: More words for the compiler.
  static func messages(
    for code: String,
    after prelude: String = Compiler.prelude,
    beside models: String? = nil,
    mode: String = "6",
    flags: [String] = []
  ) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var sources = [folder.appendingPathComponent("main.swift")]
    try Data((prelude + code).utf8).write(to: sources[0])
    if let models {
      sources.append(folder.appendingPathComponent("Models.swift"))
      try Data(models.utf8).write(to: sources[1])
    }

    let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-emit-sil", "-whole-module-optimization", "-o", "/dev/null", "-swift-version", mode,
      "-module-name", "Program",
      "-I", products.appendingPathComponent("Modules").path,
      "-Xcc", "-I", "-Xcc", root.appendingPathComponent("Sources/CLinux/include").path,
      "-Xcc", "-fmodule-map-file=\(products.path)/CLinux.build/module.modulemap",
      "-load-plugin-executable", "\(products.path)/CambiumMacros-tool#CambiumMacros",
    ]
    process.arguments? += flags + sources.map(\.path)
    let pipe = Pipe()
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let errors = output.split(separator: "\n").filter { $0.contains(": error: ") }.map(String.init)
    if process.terminationStatus != 0, errors.isEmpty { return [output] }
    return errors
  }
}
