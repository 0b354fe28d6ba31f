#include "CObjectBox.h"

#include <dlfcn.h>
#include <string.h>

const char *cobx_load(const char *path, cobx_functions *functions) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define COBX_FIND(result, name, parameters) \
  *(void **)&functions->name = dlsym(library, "obx_" #name); \
  if (!functions->name) return "the library has no function obx_" #name;
  COBX_FUNCTIONS(COBX_FIND)
#undef COBX_FIND
  // The parameters of a visitor stand in another order in other versions.
  if (strncmp(functions->version_string(), "4.0.", 4) != 0) return "the library isn't of version 4.0";
  return NULL;
}
