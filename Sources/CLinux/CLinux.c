#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

int64_t clinux_pwrite_dsync(int32_t descriptor, const void *bytes, uint64_t count, int64_t offset) {
  struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
  ssize_t written = pwritev2(descriptor, &vector, 1, offset, RWF_DSYNC);
  return written < 0 ? -(int64_t)errno : (int64_t)written;
}

int32_t clinux_fallocate(int32_t descriptor, int64_t offset, int64_t count) {
  return fallocate(descriptor, 0, offset, count) < 0 ? -errno : 0;
}

int32_t clinux_start_writeback(int32_t descriptor, int64_t offset, int64_t count) {
  return sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE) < 0 ? -errno : 0;
}

int64_t clinux_next_data(int32_t descriptor, int64_t offset) {
  off_t found = lseek(descriptor, offset, SEEK_DATA);
  return found < 0 ? -(int64_t)errno : (int64_t)found;
}

int32_t clinux_open_unnamed(const char *folder) {
  int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
    return descriptor < 0 ? -errno : descriptor;
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/.cambium-XXXXXX", folder) >= (int)sizeof path) return -ENAMETOOLONG;
  descriptor = mkostemp(path, O_CLOEXEC);
  if (descriptor < 0) return -errno;
  unlink(path);
  return descriptor;
}

int32_t clinux_punch_hole(int32_t descriptor, int64_t offset, int64_t count) {
  int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return fallocate(descriptor, mode, offset, count) < 0 ? -errno : 0;
}

static int32_t set_lock(int32_t descriptor, short type, int64_t offset, int64_t count) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = count};
  return fcntl(descriptor, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

int32_t clinux_lock(int32_t descriptor, int32_t exclusive, int64_t offset, int64_t count) {
  return set_lock(descriptor, exclusive ? F_WRLCK : F_RDLCK, offset, count);
}

int32_t clinux_unlock(int32_t descriptor, int64_t offset, int64_t count) {
  return set_lock(descriptor, F_UNLCK, offset, count);
}

int32_t clinux_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  return -pthread_atfork(before, in_parent, in_child);
}

int32_t clinux_rename_new(const char *old_path, const char *new_path) {
  if (renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -errno;
  if (link(old_path, new_path) < 0) return -errno;
  // The file has its new name now, so this is no failure if the old one stays: it is removed as a leftover.
  unlink(old_path);
  return 0;
}

int32_t clinux_identity(int32_t descriptor, const char *path, uint64_t *device, uint64_t *inode, uint64_t *links) {
  struct statx status;
  int result = path ? statx(AT_FDCWD, path, 0, STATX_INO | STATX_NLINK, &status)
                    : statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_NLINK, &status);
  if (result < 0) return -errno;
  *device = makedev(status.stx_dev_major, status.stx_dev_minor);
  *inode = status.stx_ino;
  *links = status.stx_nlink;
  return 0;
}
