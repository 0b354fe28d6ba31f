// Linux system calls that Swift's Glibc module does not show, as plain functions over fixed-width
// integers. Each returns what the call returns, or the negated errno.
#ifndef CAMBIUM_CLINUX_H
#define CAMBIUM_CLINUX_H

#include <stdint.h>

/// `pwritev2` with `RWF_DSYNC`: the bytes written are durable when it returns, other dirty pages of the
/// file are left alone. -EOPNOTSUPP or -EINVAL where the kernel or file system has no such flag.
int64_t clinux_pwrite_dsync(int32_t descriptor, const void *bytes, uint64_t count, int64_t offset);

/// `fallocate` mode 0: allocates blocks and extends the file. -EOPNOTSUPP where the file system can't.
int32_t clinux_fallocate(int32_t descriptor, int64_t offset, int64_t count);

/// `sync_file_range` with `SYNC_FILE_RANGE_WRITE`: has the device begin to write the range's changed pages. Makes nothing
/// durable. -errno if it fails.
int32_t clinux_start_writeback(int32_t descriptor, int64_t offset, int64_t count);

/// Opens a file in `folder` that has no name and goes when it is closed: `O_TMPFILE`, or a file whose name is removed at once
/// where the file system doesn't know that. -errno if it can't.
int32_t clinux_open_unnamed(const char *folder);

/// `lseek` with `SEEK_DATA`: the first byte at or after `offset` outside of holes. -ENXIO if there is none.
int64_t clinux_next_data(int32_t descriptor, int64_t offset);

/// `fallocate(PUNCH_HOLE | KEEP_SIZE)`.
int32_t clinux_punch_hole(int32_t descriptor, int64_t offset, int64_t count);

/// Tries to take an open-file-description lock on `count` bytes at `offset`; exclusive if `exclusive` is
/// not 0, else shared. -EAGAIN when another description holds a conflicting one. Never waits.
int32_t clinux_lock(int32_t descriptor, int32_t exclusive, int64_t offset, int64_t count);

/// Gives such a lock back.
int32_t clinux_unlock(int32_t descriptor, int64_t offset, int64_t count);

/// Calls the handlers around every fork of this process: `before` it in the parent, then one in each of the two.
/// -errno on failure.
int32_t clinux_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/// Renames a file unless something has the new name: `renameat2` with `RENAME_NOREPLACE`, or a second name and the removal of the
/// first where the file system doesn't know that. -EEXIST if something has it.
int32_t clinux_rename_new(const char *old_path, const char *new_path);

/// What tells a file from all others, and how many names it has. Of the open file if `path` is nil, else of the one at `path`. Doesn't ask
/// for times: a file whose times were looked at gets new ones by its next write, which a synced write has to wait for
/// (multigrain timestamps, Linux 6.13). -errno on failure.
int32_t clinux_identity(int32_t descriptor, const char *path, uint64_t *device, uint64_t *inode, uint64_t *links);

/// Tells the processor that this thread spins.
static inline void clinux_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Asks the processor to bring the memory at an address near. Any address will do: nothing happens where there is no memory.
static inline void clinux_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
