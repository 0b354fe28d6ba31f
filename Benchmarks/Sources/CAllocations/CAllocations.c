// Stands in front of the C library's allocator, which keeps no count of its calls. A program's own definitions of these
// functions go before the library's, which stay reachable under other names.

#include "CAllocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <malloc.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_bool is_counting;
static atomic_size_t count;

static void note(void) {
  if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  }
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t many, size_t size) {
  note();
  return __libc_calloc(many, size);
}

void *realloc(void *bytes, size_t size) {
  note();
  return __libc_realloc(bytes, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  note();
  void *bytes = __libc_memalign(alignment, size);
  if (!bytes) return ENOMEM;
  *result = bytes;
  return 0;
}

void allocations_begin(void) {
  atomic_store(&count, 0);
  atomic_store(&is_counting, 1);
}

size_t allocations_end(void) {
  atomic_store(&is_counting, 0);
  return atomic_load(&count);
}

size_t allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
