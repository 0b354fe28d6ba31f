#define _GNU_SOURCE
#include "CFloor.h"

#include <errno.h>
#include <sys/uio.h>

int64_t cfloor_pwrite_dsync(int32_t descriptor, const void *bytes, uint64_t count, int64_t offset) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  ssize_t written = pwritev2(descriptor, &part, 1, offset, RWF_DSYNC);
  return written < 0 ? -errno : written;
}
