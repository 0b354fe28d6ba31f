import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct CambiumPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ModelMacro.self,
    StoredAttributeMacro.self, StoredToOneMacro.self, StoredToManyMacro.self,
    StoredEmbeddedMacro.self, LinkedObjectsMacro.self, EmbeddableMacro.self,
    AttributeMacro.self, RelationshipMacro.self, EmbeddedMacro.self, TransientMacro.self, IndexMacro.self,
  ]
}
