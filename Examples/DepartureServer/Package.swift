// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "DepartureServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "cambium", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "DepartureServer",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
