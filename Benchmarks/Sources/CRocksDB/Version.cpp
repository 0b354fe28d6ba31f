#include "CRocksDB.h"

#include <rocksdb/version.h>

#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

const char *crocksdb_version(void) {
  return TEXT(ROCKSDB_MAJOR) "." TEXT(ROCKSDB_MINOR) "." TEXT(ROCKSDB_PATCH);
}
