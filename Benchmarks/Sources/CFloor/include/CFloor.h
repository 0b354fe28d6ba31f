// The one system call under every durable commit, which Swift's Glibc module does not show.
#ifndef BENCHMARKS_CFLOOR_H
#define BENCHMARKS_CFLOOR_H

#include <stdint.h>

/// `pwritev2` with `RWF_DSYNC`: bytes written and durable when it returns, or -errno.
int64_t cfloor_pwrite_dsync(int32_t descriptor, const void *bytes, uint64_t count, int64_t offset);

#endif
