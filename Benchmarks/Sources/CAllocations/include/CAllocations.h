#pragma once

#include <stddef.h>

/// Counts the calls of malloc, calloc, realloc and their aligned kin, of all threads and libraries, from now on.
void allocations_begin(void);

/// How many there were since the last `allocations_begin`; ends the counting.
size_t allocations_end(void);

/// Bytes that malloc has handed out and that were not freed, of all arenas.
size_t allocated_bytes(void);
