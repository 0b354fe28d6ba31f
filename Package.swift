// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// `make ci` asks for warnings as errors; an app on a newer compiler must not fail because of a new warning.
let warningSettings: [SwiftSetting] =
  Context.environment["CAMBIUM_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

// `make sanitize` has mutexes that ThreadSanitizer knows (SanitizedMutex), from another module than files import for them.
let sanitizerSettings: [SwiftSetting] =
  Context.environment["CAMBIUM_THREAD_SANITIZER"] == nil
  ? [.enableUpcomingFeature("MemberImportVisibility")] : [.define("CAMBIUM_THREAD_SANITIZER")]

let swiftSettings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
  ] + warningSettings + sanitizerSettings

/// Tests of a part of GraphContext, with what it is made of.
func contextTests(_ name: String) -> Target {
  .testTarget(
    name: name,
    dependencies: [
      "Cambium", "GraphContext", "Predicates", "PageStore", "TestSupport", "GraphTestSupport",
      .product(name: "Logging", package: "swift-log"),
    ],
    swiftSettings: swiftSettings
  )
}

let package = Package(
  name: "cambium",
  products: [
    .library(name: "Cambium", targets: ["Cambium"]),
    .library(name: "CambiumImport", targets: ["CambiumImport"]),
    .library(name: "CambiumCSV", targets: ["CambiumCSV"]),
    .library(name: "GraphContext", targets: ["GraphContext"]),
    .library(name: "Predicates", targets: ["Predicates"]),
    .library(name: "PageStore", targets: ["PageStore"]),
    .library(name: "CambiumOperations", targets: ["CambiumOperations"]),
    .library(name: "CambiumFlow", targets: ["CambiumFlow"]),
    // For the nested package Fuzz and for the tests of what is built on the store; not for apps.
    .library(name: "TestSupport", targets: ["TestSupport"]),
    // For the nested package Benchmarks, which reads the same gzipped files; not for apps.
    .library(name: "CZlib", targets: ["CZlib"]),
    // For the nested package Benchmarks, whose figures are drawn with it; not for apps.
    .library(name: "SVGDrawing", targets: ["SVGDrawing"]),
    .executable(name: "cambium", targets: ["cambium-cli"]),
    .executable(name: "flights", targets: ["Flights"]),
    .executable(name: "contacts", targets: ["Contacts"]),
    .executable(name: "media", targets: ["Media"]),
    .executable(name: "jukebox", targets: ["Jukebox"]),
    .executable(name: "catalogue", targets: ["Catalogue"]),
    .executable(name: "notes", targets: ["Notes"]),
    .executable(name: "guests", targets: ["Guests"]),
    .executable(name: "pipeline", targets: ["Pipeline"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
  ],
  targets: [
    // System calls that Swift's Glibc module hides, and the system's zlib.
    .target(name: "CLinux"),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    .target(
      name: "PageStore",
      dependencies: ["CLinux", .product(name: "Logging", package: "swift-log")],
      swiftSettings: swiftSettings
    ),
    .target(name: "Predicates", swiftSettings: swiftSettings),
    .target(
      name: "GraphContext",
      dependencies: ["PageStore", "Predicates", .product(name: "Logging", package: "swift-log")],
      swiftSettings: swiftSettings
    ),
    .macro(
      name: "CambiumMacros",
      dependencies: [
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      ],
      swiftSettings: swiftSettings
    ),
    .target(
      name: "Cambium",
      dependencies: [
        "GraphContext", "PageStore", "Predicates", "CambiumMacros",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings
    ),

    // Facades: other ways to work with a container, each for apps that want it.
    .target(name: "CambiumOperations", dependencies: ["GraphContext"], swiftSettings: swiftSettings),
    .target(name: "CambiumFlow", dependencies: ["GraphContext"], swiftSettings: swiftSettings),
    .target(name: "CambiumImport", dependencies: ["Cambium"], swiftSettings: swiftSettings),
    .target(name: "CambiumCSV", dependencies: ["CambiumImport"], swiftSettings: swiftSettings),

    .target(name: "SVGDrawing", swiftSettings: swiftSettings),
    .executableTarget(
      name: "cambium-cli",
      dependencies: [
        "GraphContext", "PageStore", "Predicates", "SVGDrawing",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings
    ),
    .target(
      name: "FlightsExample",
      dependencies: ["Cambium", "CZlib", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/Flights/Library",
      resources: [.copy("Sample")],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Flights",
      dependencies: ["FlightsExample", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/Flights/Command",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "ContactsExample",
      dependencies: ["Cambium"],
      path: "Examples/Contacts/Library",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Contacts",
      dependencies: ["ContactsExample", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/Contacts/Command",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "MediaLibraryExample",
      dependencies: ["Cambium", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/MediaLibrary/Library",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Media",
      dependencies: [
        "MediaLibraryExample", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Examples/MediaLibrary/Command",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "JukeboxExample",
      dependencies: ["Cambium", "CambiumFlow"],
      path: "Examples/Jukebox/Library",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Jukebox",
      dependencies: ["JukeboxExample", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/Jukebox/Command",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "CatalogueExample",
      dependencies: ["Cambium", "CambiumImport"],
      path: "Examples/Catalogue/Library",
      resources: [.copy("Sample")],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Catalogue",
      dependencies: ["CatalogueExample", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/Catalogue/Command",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "NotesExample",
      dependencies: ["Cambium"],
      path: "Examples/Notes/Library",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Notes",
      dependencies: [
        "Cambium", "NotesExample", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Examples/Notes/Command",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "GuestsExample",
      dependencies: ["Cambium"],
      path: "Examples/Guests/Library",
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Guests",
      dependencies: [
        "Cambium", "GuestsExample", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Examples/Guests/Command",
      swiftSettings: swiftSettings
    ),
    .target(
      name: "ImportPipelineExample",
      dependencies: ["Cambium", "CambiumImport", "CambiumOperations"],
      path: "Examples/ImportPipeline/Library",
      resources: [.copy("Sample")],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "Pipeline",
      dependencies: [
        "Cambium", "ImportPipelineExample",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Examples/ImportPipeline/Command",
      swiftSettings: swiftSettings
    ),
    // The program of Docs/GettingStarted.md.
    .executableTarget(
      name: "GettingStarted",
      dependencies: ["Cambium"],
      path: "Examples/GettingStarted",
      swiftSettings: swiftSettings
    ),

    .target(
      name: "TestSupport",
      dependencies: ["PageStore"],
      path: "Tests/TestSupport",
      swiftSettings: swiftSettings
    ),
    // Commits until the tests kill it.
    .executableTarget(
      name: "KillTarget",
      dependencies: ["PageStore", "TestSupport"],
      path: "Tests/KillTarget",
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "PageStoreTests",
      dependencies: [
        "PageStore", "TestSupport", "KillTarget", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "PredicatesTests",
      dependencies: ["Predicates", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    // Models and harnesses that several tests of contexts share. A test target, because it has `@testable` imports.
    .testTarget(
      name: "GraphTestSupport",
      dependencies: ["Cambium", "GraphContext", "Predicates", "PageStore", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    contextTests("GraphContextTests"),
    contextTests("ModelTests"),
    contextTests("MigratingTests"),
    contextTests("FetchingTests"),
    .testTarget(
      name: "ObservingTests",
      dependencies: ["Cambium", "GraphContext", "Predicates", "PageStore", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    // Conveniences, through the public API alone.
    .testTarget(
      name: "StyleTests",
      dependencies: ["Cambium", .product(name: "Logging", package: "swift-log")],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "CambiumOperationsTests",
      dependencies: ["Cambium", "CambiumOperations", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "CambiumFlowTests",
      dependencies: ["Cambium", "CambiumFlow", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "CambiumImportTests",
      dependencies: ["Cambium", "CambiumImport", "CambiumCSV", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "CambiumToolTests",
      dependencies: ["Cambium", "PageStore", "SVGDrawing", "TestSupport", "cambium-cli"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "FlightsTests",
      dependencies: ["Cambium", "FlightsExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "ContactsTests",
      dependencies: ["Contacts", "ContactsExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "MediaLibraryTests",
      dependencies: ["Cambium", "Media", "MediaLibraryExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "JukeboxTests",
      dependencies: ["Cambium", "CambiumFlow", "Jukebox", "JukeboxExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "CatalogueTests",
      dependencies: ["Cambium", "Catalogue", "CatalogueExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "NotesTests",
      dependencies: ["Cambium", "Notes", "NotesExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "GuestsTests",
      dependencies: ["Cambium", "Guests", "GuestsExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    .testTarget(
      name: "ImportPipelineTests",
      dependencies: ["Cambium", "Pipeline", "ImportPipelineExample", "TestSupport"],
      swiftSettings: swiftSettings
    ),
    // The code of the guides, as an app has it: with Cambium alone, or with a facade beside it.
    .testTarget(
      name: "GuideTests",
      dependencies: [
        "Cambium", "CambiumOperations", "CambiumFlow", "CambiumImport", "CambiumCSV", "GettingStarted",
        "TestSupport",
        "cambium-cli",
      ],
      swiftSettings: swiftSettings
    ),
  ]
)

// SwiftPM builds all tests of a package, and all that they import, once more as tools of the build if one of them imports a macro.
// So the tests of the macros are built alone: `make test` runs these and the others.
if Context.environment["CAMBIUM_MACRO_TESTS"] != nil {
  package.targets.removeAll { $0.type == .test }
  package.targets.append(
    .testTarget(
      name: "CambiumMacrosTests",
      dependencies: [
        "CambiumMacros",
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
        .product(name: "SwiftSyntax", package: "swift-syntax"),
        .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      ],
      swiftSettings: swiftSettings
    )
  )
}
