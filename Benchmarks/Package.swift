// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Beside the libraries of Cambium stand their peers: LMDB and SQLite from the system, GRDB from its repository.
let package = Package(
  name: "Benchmarks",
  products: [.executable(name: "benchmarks", targets: ["Benchmarks"])],
  dependencies: [
    .package(name: "cambium", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CLMDB", "CSQLite",
        .product(name: "CZlib", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Cambium", package: "cambium"),
        .product(name: "PageStore", package: "cambium"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: swiftSettings
    ),
  ]
)
