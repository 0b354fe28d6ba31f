// WiredTiger's methods as plain functions: Swift can call neither members of its structs that are variadic nor macros.
// Each returns 0 or WiredTiger's error. Keys and values are raw bytes; what a function hands out belongs to the cursor
// and is valid until it moves.
#ifndef BENCHMARKS_CWIREDTIGER_H
#define BENCHMARKS_CWIREDTIGER_H

#include <stddef.h>

typedef struct __wt_connection cwt_connection;
typedef struct __wt_session cwt_session;
typedef struct __wt_cursor cwt_cursor;

typedef struct {
  const void *bytes;
  size_t count;
} cwt_bytes;

const char *cwt_version(void);
const char *cwt_error_text(int error);
/// What a step past the last entry, or a search for a missing key, returns.
int cwt_not_found(void);

int cwt_open(const char *folder, const char *configuration, cwt_connection **connection);
int cwt_close(cwt_connection *connection);

int cwt_session_open(cwt_connection *connection, cwt_session **session);
int cwt_session_close(cwt_session *session);
int cwt_create(cwt_session *session, const char *name, const char *configuration);
int cwt_begin(cwt_session *session);
int cwt_commit(cwt_session *session);
int cwt_rollback(cwt_session *session);
int cwt_checkpoint(cwt_session *session);

int cwt_cursor_open(cwt_session *session, const char *name, const char *configuration, cwt_cursor **cursor);
int cwt_cursor_close(cwt_cursor *cursor);
int cwt_reset(cwt_cursor *cursor);
int cwt_put(cwt_cursor *cursor, cwt_bytes key, cwt_bytes value);
int cwt_get(cwt_cursor *cursor, cwt_bytes key, cwt_bytes *value);
/// The next entry.
int cwt_next(cwt_cursor *cursor, cwt_bytes *key, cwt_bytes *value);
/// The first entry at or above `lower`; only its key.
int cwt_seek(cwt_cursor *cursor, cwt_bytes lower, cwt_bytes *key);
/// The next entry; only its key.
int cwt_next_key(cwt_cursor *cursor, cwt_bytes *key);

#endif
