// The functions of ObjectBox's C library that the benchmarks call. The library is no system package and need not be there, so nothing
// links it: it is loaded when the program runs.
#ifndef BENCHMARKS_COBJECTBOX_H
#define BENCHMARKS_COBJECTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct OBX_model OBX_model;
typedef struct OBX_store_options OBX_store_options;
typedef struct OBX_store OBX_store;
typedef struct OBX_txn OBX_txn;
typedef struct OBX_cursor OBX_cursor;
typedef struct OBX_query_builder OBX_query_builder;
typedef struct OBX_query OBX_query;

typedef struct {
  const void *data;
  size_t size;
} OBX_bytes;

typedef struct {
  OBX_bytes *bytes;
  size_t count;
} OBX_bytes_array;

/// Gets one object of a result; true asks for the next one.
typedef bool cobx_visitor(const void *data, size_t size, void *context);

/// What a cursor's step past the last object returns. 0 is success, everything else an error.
enum { COBX_NOT_FOUND = 404 };

/// Result, name without `obx_`, parameters. Names of parameters that end in `id` are the model's numbers, `object` is an object's.
#define COBX_FUNCTIONS(FUNCTION) \
  FUNCTION(const char *, version_string, (void)) \
  FUNCTION(const char *, last_error_message, (void)) \
  FUNCTION(OBX_model *, model, (void)) \
  FUNCTION(int, model_entity, (OBX_model *, const char *name, uint32_t id, uint64_t uid)) \
  FUNCTION(int, model_property, (OBX_model *, const char *name, int type, uint32_t id, uint64_t uid)) \
  FUNCTION(int, model_property_flags, (OBX_model *, uint32_t flags)) \
  FUNCTION(int, model_property_index_id, (OBX_model *, uint32_t id, uint64_t uid)) \
  FUNCTION(int, model_property_relation, (OBX_model *, const char *entity, uint32_t index_id, uint64_t index_uid)) \
  FUNCTION(int, model_entity_last_property_id, (OBX_model *, uint32_t id, uint64_t uid)) \
  FUNCTION(void, model_last_entity_id, (OBX_model *, uint32_t id, uint64_t uid)) \
  FUNCTION(void, model_last_index_id, (OBX_model *, uint32_t id, uint64_t uid)) \
  FUNCTION(OBX_store_options *, opt, (void)) \
  FUNCTION(int, opt_directory, (OBX_store_options *, const char *path)) \
  FUNCTION(void, opt_max_db_size_in_kb, (OBX_store_options *, uint64_t size)) \
  FUNCTION(int, opt_model, (OBX_store_options *, OBX_model *)) \
  FUNCTION(OBX_store *, store_open, (OBX_store_options *)) \
  FUNCTION(int, store_close, (OBX_store *)) \
  FUNCTION(OBX_txn *, txn_read, (OBX_store *)) \
  FUNCTION(OBX_txn *, txn_write, (OBX_store *)) \
  FUNCTION(int, txn_success, (OBX_txn *)) \
  FUNCTION(int, txn_close, (OBX_txn *)) \
  FUNCTION(OBX_cursor *, cursor, (OBX_txn *, uint32_t entity_id)) \
  FUNCTION(int, cursor_close, (OBX_cursor *)) \
  FUNCTION(uint64_t, cursor_id_for_put, (OBX_cursor *, uint64_t object_or_0)) \
  FUNCTION(int, cursor_put_new, (OBX_cursor *, uint64_t object, const void *data, size_t size)) \
  FUNCTION(int, cursor_put, (OBX_cursor *, uint64_t object, const void *data, size_t size)) \
  FUNCTION(int, cursor_get, (OBX_cursor *, uint64_t object, const void **data, size_t *size)) \
  FUNCTION(int, cursor_remove, (OBX_cursor *, uint64_t object)) \
  FUNCTION(int, cursor_first, (OBX_cursor *, const void **data, size_t *size)) \
  FUNCTION(int, cursor_next, (OBX_cursor *, const void **data, size_t *size)) \
  FUNCTION(OBX_bytes_array *, cursor_backlinks, (OBX_cursor *, uint32_t entity_id, uint32_t property_id, uint64_t object)) \
  FUNCTION(void, bytes_array_free, (OBX_bytes_array *)) \
  FUNCTION(OBX_query_builder *, query_builder, (OBX_store *, uint32_t entity_id)) \
  FUNCTION(int, qb_close, (OBX_query_builder *)) \
  FUNCTION(int, qb_equals_string, (OBX_query_builder *, uint32_t property_id, const char *, bool is_case_sensitive)) \
  FUNCTION(int, qb_between_2ints, (OBX_query_builder *, uint32_t property_id, int64_t, int64_t)) \
  FUNCTION(int, qb_greater_or_equal_int, (OBX_query_builder *, uint32_t property_id, int64_t)) \
  FUNCTION(int, qb_greater_than_double, (OBX_query_builder *, uint32_t property_id, double)) \
  FUNCTION(int, qb_order, (OBX_query_builder *, uint32_t property_id, uint32_t flags)) \
  FUNCTION(OBX_query *, query, (OBX_query_builder *)) \
  FUNCTION(int, query_close, (OBX_query *)) \
  FUNCTION(int, query_param_string, (OBX_query *, uint32_t entity_id, uint32_t property_id, const char *)) \
  FUNCTION(int, query_param_2ints, (OBX_query *, uint32_t entity_id, uint32_t property_id, int64_t, int64_t)) \
  FUNCTION(int, query_param_int, (OBX_query *, uint32_t entity_id, uint32_t property_id, int64_t)) \
  FUNCTION(int, query_param_double, (OBX_query *, uint32_t entity_id, uint32_t property_id, double)) \
  FUNCTION(int, query_offset_limit, (OBX_query *, size_t offset, size_t limit)) \
  FUNCTION(int, query_find_unique, (OBX_query *, const void **data, size_t *size)) \
  FUNCTION(int, query_visit, (OBX_query *, cobx_visitor *, void *context)) \
  FUNCTION(int, query_remove, (OBX_query *, uint64_t *count)) \
  FUNCTION(int, query_count, (OBX_query *, uint64_t *count))

typedef struct {
#define COBX_FIELD(result, name, parameters) result(*name) parameters;
  COBX_FUNCTIONS(COBX_FIELD)
#undef COBX_FIELD
} cobx_functions;

/// Loads the library, for good, and finds its functions.
///
/// Returns NULL, or why it can't be used; that text is valid until the next call.
const char *cobx_load(const char *path, cobx_functions *functions);

#endif
