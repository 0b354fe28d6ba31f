#include "CWiredTiger.h"

#include <wiredtiger.h>

static WT_ITEM item(cwt_bytes bytes) {
  WT_ITEM item = {.data = bytes.bytes, .size = bytes.count};
  return item;
}

static int read_key(WT_CURSOR *cursor, cwt_bytes *key) {
  WT_ITEM found;
  int error = cursor->get_key(cursor, &found);
  if (error == 0) *key = (cwt_bytes){found.data, found.size};
  return error;
}

static int read_value(WT_CURSOR *cursor, cwt_bytes *value) {
  WT_ITEM found;
  int error = cursor->get_value(cursor, &found);
  if (error == 0) *value = (cwt_bytes){found.data, found.size};
  return error;
}

const char *cwt_version(void) { return wiredtiger_version(NULL, NULL, NULL); }
const char *cwt_error_text(int error) { return wiredtiger_strerror(error); }
int cwt_not_found(void) { return WT_NOTFOUND; }

int cwt_open(const char *folder, const char *configuration, cwt_connection **connection) {
  return wiredtiger_open(folder, NULL, configuration, connection);
}

int cwt_close(cwt_connection *connection) { return connection->close(connection, NULL); }

int cwt_session_open(cwt_connection *connection, cwt_session **session) {
  return connection->open_session(connection, NULL, NULL, session);
}

int cwt_session_close(cwt_session *session) { return session->close(session, NULL); }

int cwt_create(cwt_session *session, const char *name, const char *configuration) {
  return session->create(session, name, configuration);
}

int cwt_begin(cwt_session *session) { return session->begin_transaction(session, "isolation=snapshot"); }
int cwt_commit(cwt_session *session) { return session->commit_transaction(session, NULL); }
int cwt_rollback(cwt_session *session) { return session->rollback_transaction(session, NULL); }
int cwt_checkpoint(cwt_session *session) { return session->checkpoint(session, NULL); }

int cwt_cursor_open(cwt_session *session, const char *name, const char *configuration, cwt_cursor **cursor) {
  return session->open_cursor(session, name, NULL, configuration, cursor);
}

int cwt_cursor_close(cwt_cursor *cursor) { return cursor->close(cursor); }
int cwt_reset(cwt_cursor *cursor) { return cursor->reset(cursor); }

int cwt_put(cwt_cursor *cursor, cwt_bytes key, cwt_bytes value) {
  WT_ITEM key_item = item(key);
  WT_ITEM value_item = item(value);
  cursor->set_key(cursor, &key_item);
  cursor->set_value(cursor, &value_item);
  return cursor->insert(cursor);
}

int cwt_get(cwt_cursor *cursor, cwt_bytes key, cwt_bytes *value) {
  WT_ITEM key_item = item(key);
  cursor->set_key(cursor, &key_item);
  int error = cursor->search(cursor);
  return error != 0 ? error : read_value(cursor, value);
}

int cwt_next(cwt_cursor *cursor, cwt_bytes *key, cwt_bytes *value) {
  int error = cursor->next(cursor);
  if (error == 0) error = read_key(cursor, key);
  return error != 0 ? error : read_value(cursor, value);
}

int cwt_seek(cwt_cursor *cursor, cwt_bytes lower, cwt_bytes *key) {
  WT_ITEM key_item = item(lower);
  int order;
  cursor->set_key(cursor, &key_item);
  int error = cursor->search_near(cursor, &order);
  if (error == 0 && order < 0) error = cursor->next(cursor);
  return error != 0 ? error : read_key(cursor, key);
}

int cwt_next_key(cwt_cursor *cursor, cwt_bytes *key) {
  int error = cursor->next(cursor);
  return error != 0 ? error : read_key(cursor, key);
}
