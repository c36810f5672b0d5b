/* json.h - JSON in and out.
 *
 * Reading makes a tree in an arena of its own, which the context's budget pays
 * for: 16 bytes a value, 32 a member, and the text once more.  It is strict:
 * numbers out of range, NaN, comments, a key given twice, broken UTF-8, NUL in
 * text and bytes after the value are refused, with their byte.  Nesting is
 * limited to JX_JSON_DEPTH. */
#ifndef JX_JSON_H
#define JX_JSON_H

#include "frontend/base/buffer.h"
#include "frontend/base/ctx.h"

#include <stdint.h>

typedef struct jx_json jx_json;

enum { JX_JSON_DEPTH = 128 };

typedef enum jx_json_kind {
    JX_JSON_NULL = 0,
    JX_JSON_BOOL,
    JX_JSON_INT,  /* fits int64 */
    JX_JSON_REAL, /* finite; written with `.` or an exponent */
    JX_JSON_TEXT,
    JX_JSON_ARRAY,
    JX_JSON_OBJECT,
    JX_JSON_WIDE, /* an integer beyond int64, where those are read */
} jx_json_kind;

/* Why a text is not JSON; `expected` is NULL where the budget was spent. */
typedef struct jx_json_fault {
    size_t at; /* the offending byte */
    const char *expected;
} jx_json_fault;

/* Reads `length` bytes into *json, which the caller frees before the context.
 * False with an error that names the byte. */
bool jx_json_read(jx_ctx *ctx, const char *path, const char *text,
                  size_t length, jx_json **json);
/* The same without an error; NULL with the fault.  `wide`: integers may be of
 * any length. */
jx_json *jx_json_parse(jx_ctx *ctx, const char *text, size_t length, bool wide,
                       jx_json_fault *fault);
void jx_json_free(jx_json *json);

jx_json_kind jx_json_kind_of(const jx_json *json);
const char *jx_json_kind_name(jx_json_kind kind); /* "a number" */

/* Each expects the value to be of its kind. */
bool jx_json_bool(const jx_json *json);
int64_t jx_json_int(const jx_json *json);
const char *jx_json_wide(const jx_json *json); /* its digits */
double jx_json_real(const jx_json *json);      /* of an integer, too */
const char *jx_json_text(const jx_json *json, size_t *length);
size_t jx_json_count(const jx_json *json); /* of an array or an object */
const jx_json *jx_json_item(const jx_json *json, size_t index);
/* True, and sets *value, if the object has that key. */
bool jx_json_get(const jx_json *json, const char *key, const jx_json **value);

/* The members of an object in the order of the text.  `next` sets *key and
 * *value and gives false at the end; begin with *state == 0. */
bool jx_json_next(const jx_json *json, size_t *state, const char **key,
                  const jx_json **value);

/* Canonical output (docs/DOCUMENT.md). */
void jx_json_put_text(jx_buffer *to, const char *text);
void jx_json_put_bytes(jx_buffer *to, const char *text, size_t length);
void jx_json_put_int(jx_buffer *to, int64_t value); /* always a number */
/* Python's repr of a finite double: the shortest digits that read back. */
void jx_json_put_real(jx_buffer *to, double value);

#endif
