// swift-tools-version: 6.2
import PackageDescription

// `make ci` asks for warnings as errors, as it does of the library.
let warningSettings: [SwiftSetting] =
  Context.environment["CAMBIUM_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let swiftSettings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + warningSettings

// Beside the libraries of Cambium stand their peers: LMDB, SQLite, RocksDB and WiredTiger from the system, GRDB from its
// repository, ObjectBox if its library is found at run time. The key-value half needs none of the macros' swift-syntax,
// so it is a program of its own.
let package = Package(
  name: "Benchmarks",
  products: [
    .executable(name: "key-value-benchmarks", targets: ["KeyValueBenchmarks"]),
    .executable(name: "object-benchmarks", targets: ["ObjectBenchmarks"]),
    .executable(name: "import-benchmarks", targets: ["ImportBenchmarks"]),
  ],
  dependencies: [
    .package(name: "cambium", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(name: "CFloor"),
    .target(name: "CAllocations"),
    .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CObjectBox"),
    .target(name: "CRocksDB", linkerSettings: [.linkedLibrary("rocksdb")]),
    .target(name: "CWiredTiger", linkerSettings: [.linkedLibrary("wiredtiger")]),
    .target(name: "BenchmarkHarness", dependencies: ["CFloor", "CSQLite"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "KeyValueBenchmarks",
      dependencies: [
        "BenchmarkHarness", "CLMDB", "CSQLite", "CRocksDB", "CWiredTiger",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "PageStore", package: "cambium"),
        .product(name: "SVGDrawing", package: "cambium"),
      ],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "ObjectBenchmarks",
      dependencies: [
        "BenchmarkHarness", "CAllocations", "CObjectBox", "CSQLite",
        .product(name: "CZlib", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Cambium", package: "cambium"),
        .product(name: "PageStore", package: "cambium"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "ImportBenchmarks",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Cambium", package: "cambium"),
        .product(name: "CambiumImport", package: "cambium"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: swiftSettings
    ),
  ]
)
