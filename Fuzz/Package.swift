// swift-tools-version: 6.2
import PackageDescription

// The crash rig, the space rig, the contract failures and the fuzz targets. A package of its own, so that nobody who uses Cambium builds
// them; of Cambium it builds no macros.
//
// The fuzz targets have no `main` of their own (libFuzzer brings one), so they are only there when
// Scripts/fuzz-smoke.sh asks for them through the environment.
let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let store: [Target.Dependency] = [
  .product(name: "PageStore", package: "cambium"),
  .product(name: "TestSupport", package: "cambium"),
]

let arguments: [Target.Dependency] = [.product(name: "ArgumentParser", package: "swift-argument-parser")]

let predicates: [Target.Dependency] = [.product(name: "Predicates", package: "cambium")]

let graph: [Target.Dependency] = predicates + [.product(name: "GraphContext", package: "cambium")]

func fuzzTarget(_ name: String, _ subject: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name,
    dependencies: subject + ["FuzzSupport"],
    path: "Sources/\(name)",
    swiftSettings: swiftSettings + [.unsafeFlags(["-parse-as-library"])]
  )
}

let fuzzers = [
  ("fuzz-open", store), ("fuzz-log", store), ("fuzz-page", store), ("fuzz-program", store),
  ("fuzz-format", predicates),
]
let buildsFuzzers = Context.environment["CAMBIUM_FUZZERS"] != nil

let package = Package(
  name: "fuzz",
  products: buildsFuzzers
    ? fuzzers.map { .executable(name: $0.0, targets: [$0.0]) }
    : [
      .executable(name: "crash-rig", targets: ["CrashRig"]),
      .executable(name: "space-rig", targets: ["SpaceRig"]),
      .executable(name: "contract-failures", targets: ["ContractFailures"]),
    ],
  dependencies: [
    .package(name: "cambium", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: buildsFuzzers
    ? [.target(name: "FuzzSupport", dependencies: store, swiftSettings: swiftSettings)]
      + fuzzers.map { fuzzTarget($0.0, $0.1) }
    : [
      .executableTarget(
        name: "CrashRig",
        dependencies: store + graph + arguments,
        swiftSettings: swiftSettings
      ),
      .executableTarget(name: "SpaceRig", dependencies: store + arguments, swiftSettings: swiftSettings),
      .executableTarget(
        name: "ContractFailures",
        dependencies: store + graph + arguments,
        swiftSettings: swiftSettings
      ),
    ]
)
