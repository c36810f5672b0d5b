/* json.h - JSON in and out.
 *
 * Reading goes in two steps: a strict scan of the text (json_scan.c), which
 * finds every error in syntax and names its byte, then json-c (json.c), which
 * makes the tree.  The scan refuses what json-c lets through: numbers out of
 * range, NaN, comments, duplicate keys, broken UTF-8, NUL in text, bytes after
 * the value.  Nesting is limited to JX_JSON_DEPTH. */
#ifndef JX_JSON_H
#define JX_JSON_H

#include "frontend/base/buffer.h"
#include "frontend/base/ctx.h"

#include <stdint.h>

typedef struct json_object jx_json; /* json-c's; null is the NULL pointer */

enum { JX_JSON_DEPTH = 128 };

typedef enum jx_json_kind {
    JX_JSON_NULL = 0,
    JX_JSON_BOOL,
    JX_JSON_INT, /* fits int64 */
    JX_JSON_REAL, /* finite; written with `.` or an exponent */
    JX_JSON_TEXT,
    JX_JSON_ARRAY,
    JX_JSON_OBJECT,
    JX_JSON_WIDE, /* an integer beyond int64, where those are read */
} jx_json_kind;

/* Reads `length` bytes into *json, which the caller frees.  False with an
 * error that names the byte. */
bool jx_json_read(jx_ctx *ctx, const char *path, const char *text,
                  size_t length, jx_json **json);
/* The same with integers of any length, of a text without a name. */
bool jx_json_read_wide(jx_ctx *ctx, const char *text, size_t length,
                       jx_json **json);
void jx_json_free(jx_json *json);

jx_json_kind jx_json_kind_of(const jx_json *json);
const char *jx_json_kind_name(jx_json_kind kind); /* "a number" */

/* Each expects the value to be of its kind. */
bool jx_json_bool(const jx_json *json);
int64_t jx_json_int(const jx_json *json);
const char *jx_json_wide(const jx_json *json); /* its digits */
double jx_json_real(const jx_json *json); /* of an integer, too */
const char *jx_json_text(const jx_json *json, size_t *length);
size_t jx_json_count(const jx_json *json); /* of an array or an object */
const jx_json *jx_json_item(const jx_json *json, size_t index);
/* True, and sets *value, if the object has that key. */
bool jx_json_get(const jx_json *json, const char *key, const jx_json **value);

/* The members of an object in the order of the text.  `next` sets *key and
 * *value and gives false at the end; begin with *state == NULL. */
bool jx_json_next(const jx_json *json, void **state, const char **key,
                  const jx_json **value);

/* Whether `length` bytes are one JSON value in the sense above; if not, *at is
 * the offending byte and *expected what was expected there. */
bool jx_json_scan(const char *text, size_t length, size_t *at,
                  const char **expected);

/* The same with integers of any length. */
bool jx_json_scan_wide(const char *text, size_t length, size_t *at,
                       const char **expected);

/* Canonical output (docs/DOCUMENT.md). */
void jx_json_put_text(jx_buffer *to, const char *text);
void jx_json_put_bytes(jx_buffer *to, const char *text, size_t length);
void jx_json_put_int(jx_buffer *to, int64_t value); /* always a number */
/* Python's repr of a finite double: the shortest digits that read back. */
void jx_json_put_real(jx_buffer *to, double value);

const char *jx_json_version(void); /* of json-c: "0.16" */

#endif
