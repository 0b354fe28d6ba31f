#ifndef BENCHMARKS_CROCKSDB_H
#define BENCHMARKS_CROCKSDB_H

#include <rocksdb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the headers, such as `7.8.3`; the C interface has no function for it.
const char *crocksdb_version(void);

#ifdef __cplusplus
}
#endif

#endif
