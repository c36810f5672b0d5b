/* reproduce.c - see reproduce.h. */
#include "reports/commands/reproduce.h"

#include "frontend/base/file.h"
#include "frontend/base/json.h"
#include "frontend/base/npz.h"
#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"
#include "frontend/read/exported.h"
#include "reports/pipeline/inputs.h"
#include "runtime/elementwise.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs of a report are small where a witness is told: no more than 4,096
 * values of them are, and of what repeats no more than this is written. */
enum { MOST_BYTES = 1 << 30 };

static const char test[] =
    "import pathlib\n"
    "\n"
    "import jax\n"
    "import numpy as np\n"
    "from jax import export\n"
    "\n"
    "HERE = pathlib.Path(__file__)\n"
    "\n"
    "\n"
    "def test_values():\n"
    "    program = export.deserialize(bytearray(HERE.with_suffix(\".jaxexport\")"
    ".read_bytes()))\n"
    "    wide = any(a.dtype.itemsize == 8 for a in program.in_avals)\n"
    "    jax.config.update(\"jax_enable_x64\", wide)\n"
    "    held = np.load(HERE.with_suffix(\".npz\"))\n"
    "    x = [held[f\"in{i}\"].view(a.dtype) for i, a in "
    "enumerate(program.in_avals)]\n"
    "    args, kwargs = jax.tree_util.tree_unflatten(program.in_tree, x)\n"
    "    out = jax.jit(program.call)(*args, **kwargs)\n"
    "    assert all(np.isfinite(y).all() for y in "
    "jax.tree_util.tree_leaves(out)\n"
    "               if jax.numpy.issubdtype(y.dtype, np.inexact))\n"
    "\n"
    "\n"
    "if __name__ == \"__main__\":\n"
    "    test_values()\n";

/* A member of the object that is of that kind; NULL: it has none. */
static const jx_json *member(const jx_json *of, const char *key,
                             jx_json_kind kind)
{
    const jx_json *value;

    return jx_json_get(of, key, &value) && jx_json_kind_of(value) == kind
               ? value
               : NULL;
}

/* Reads the sizes of an array; how many elements it has, or -1. */
static int64_t read_shape(const jx_json *of, const char *key, int64_t *shape,
                          int *rank)
{
    const jx_json *list = member(of, key, JX_JSON_ARRAY);
    int64_t count = 1;

    if (!list || jx_json_count(list) > JX_MAX_RANK)
        return -1;
    *rank = (int)jx_json_count(list);
    for (int k = 0; k < *rank; k++) {
        shape[k] = jx_json_int(jx_json_item(list, (size_t)k));
        if (shape[k] < 0 || (shape[k] && count > MOST_BYTES / shape[k]))
            return -1;
        count *= shape[k];
    }
    return count;
}

static void put_number(const jx_json *value, jx_dtype dtype, char *to)
{
    const bool whole = jx_json_kind_of(value) == JX_JSON_INT;
    const int64_t integer = whole ? jx_json_int(value) : 0;
    const double real = whole ? 0 : jx_json_real(value);

    if (whole)
        jx_convert(JX_I64, dtype, &integer, to, 1);
    else
        jx_convert(JX_F64, dtype, &real, to, 1);
}

/* An input as the witness has it, repeated along the axes that it is held once
 * of.  False: it is none that can be written, or without memory. */
static bool read_input(jx_ctx *ctx, const jx_json *row, int number, jx_npy *to)
{
    int64_t *shape = JX_NEW_ARRAY(ctx->arena, JX_MAX_RANK + 1, int64_t);
    int64_t held[JX_MAX_RANK], index[JX_MAX_RANK] = {0}, count, kept;
    const jx_json *values = member(row, "values", JX_JSON_ARRAY),
                  *name = member(row, "dtype", JX_JSON_TEXT);
    int rank, same;
    size_t size, length;
    const char *text;
    jx_dtype dtype;
    char *data;

    if (!shape || !values || !name)
        return false;
    count = read_shape(row, "shape", shape, &rank);
    kept = read_shape(row, "held", held, &same);
    text = jx_json_text(name, &length);
    dtype = jx_dtype_named(text, length);
    size = jx_dtype_of(dtype)->bytes;
    if (count < 0 || kept < 0 || same != rank || !size ||
        jx_json_count(values) != (size_t)kept)
        return false;
    for (int k = 0; k < rank; k++)
        if (held[k] != 1 && held[k] != shape[k])
            return false;
    data = jx_arena_alloc(ctx->arena, (size_t)count * size + 1);
    for (int64_t i = 0; data && i < count; i++) {
        int64_t at = 0;
        const jx_json *value;
        for (int k = 0; k < rank; k++)
            at = at * held[k] + (held[k] == 1 ? 0 : index[k]);
        value = jx_json_item(values, (size_t)at);
        put_number(value, dtype, data + (size_t)i * size);
        for (int k = rank - 1; k >= 0 && ++index[k] == shape[k]; k--)
            index[k] = 0;
    }
    *to = (jx_npy){.name = jx_arena_printf(ctx->arena, "in%d", number),
                   .descr = jx_inputs_descr(dtype),
                   .rank = rank,
                   .shape = shape,
                   .item = size,
                   .bytes = (size_t)count * size,
                   .data = data};
    return data && to->name;
}

static bool is_of(const jx_json *witness, const char *what)
{
    const jx_json *of = member(witness, "of", JX_JSON_TEXT);
    size_t length;

    return of && strcmp(jx_json_text(of, &length), what) == 0;
}

/* The arrays of a witness of values, or NULL: it is of something else. */
static const jx_npz *inputs_of(jx_ctx *ctx, const jx_json *witness)
{
    const jx_json *rows = is_of(witness, "finite") || is_of(witness, "index") ||
                                  is_of(witness, "digits")
                              ? member(witness, "inputs", JX_JSON_ARRAY)
                              : NULL;
    size_t count = rows ? jx_json_count(rows) : 0;
    jx_npz *npz = JX_NEW(ctx->arena, jx_npz);
    jx_npy *at = JX_NEW_ARRAY(ctx->arena, count + 1, jx_npy);

    if (!rows || !npz || !at)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (jx_json_kind_of(jx_json_item(rows, i)) != JX_JSON_OBJECT ||
            !read_input(ctx, jx_json_item(rows, i), (int)i, &at[i]))
            return NULL;
    *npz = (jx_npz){(int)count, at};
    return npz;
}

static bool is_there(jx_ctx *ctx, const char *stem, const char *end)
{
    const char *path = jx_arena_printf(ctx->arena, "%s%s", stem, end);

    return path && access(path, F_OK) == 0;
}

/* DIR/CODE-N of the least N that nothing is called yet; NULL without memory. */
static const char *new_stem(jx_ctx *ctx, const char *folder, jx_code code)
{
    for (int n = 1;; n++) {
        const char *stem = jx_arena_printf(ctx->arena, "%s/%s-%d", folder,
                                           jx_code_of(code)->id, n);
        if (!stem ||
            !(is_there(ctx, stem, ".npz") || is_there(ctx, stem, ".py") ||
              is_there(ctx, stem, ".jaxexport")))
            return stem;
    }
}

static bool put_file(jx_ctx *ctx, const char *stem, const char *end,
                     const void *data, size_t size)
{
    const char *path = jx_arena_printf(ctx->arena, "%s%s", stem, end);

    if (!path || !jx_file_write(ctx, path, data, size))
        return false;
    fprintf(stderr, "jaxvet: %s\n", path);
    return true;
}

static bool put_inputs(jx_ctx *ctx, const char *stem, const jx_npz *npz)
{
    jx_buffer to = jx_ctx_text(ctx);
    bool ok;

    jx_npz_write(&to, npz);
    ok = jx_buffer_ok(&to) ? put_file(ctx, stem, ".npz", to.text, to.length)
                           : (jx_starved(ctx), false);
    jx_buffer_free(&to);
    return ok;
}

static bool put_test(jx_ctx *ctx, const char *stem, const jx_finding *finding,
                     const char *bytes, size_t size)
{
    jx_buffer to = jx_ctx_text(ctx);
    const char *text;

    jx_buffer_printf(&to, "# jaxvet %s: ", jx_code_of(finding->code)->id);
    jx_utf8_show(finding->message, &to); /* no line of it is code */
    jx_buffer_printf(&to, "\n%s", test);
    text = jx_arena_take(ctx->arena, &to);
    return text && put_file(ctx, stem, ".jaxexport", bytes, size) &&
           put_file(ctx, stem, ".py", text, strlen(text));
}

/* Whether an output of the program as it is shows it. */
static bool is_of_outputs(const jx_json *witness)
{
    const jx_json *backward = member(witness, "backward", JX_JSON_BOOL);

    return is_of(witness, "finite") && backward && !jx_json_bool(backward);
}

/* Nothing to write is no failure. */
static bool reproduce(jx_ctx *ctx, const char *folder, const jx_report *report,
                      const jx_finding *finding)
{
    const jx_npz *npz = NULL;
    const char *stem, *bytes = NULL;
    jx_json *witness;
    bool shown, ok;
    size_t size = 0;

    if (!jx_json_read(ctx, report->path, finding->witness,
                      strlen(finding->witness), &witness))
        return false;
    shown = is_of_outputs(witness);
    npz = inputs_of(ctx, witness);
    jx_json_free(witness);
    if (!npz)
        return jx_ok(ctx);
    stem = new_stem(ctx, folder, finding->code);
    if (shown && strcmp(report->path, "-") != 0 &&
        !(bytes = jx_file_read(ctx, report->path, &size)))
        return false;
    ok = stem && put_inputs(ctx, stem, npz);
    if (ok && bytes && jx_is_exported(ctx, bytes, size))
        ok = put_test(ctx, stem, finding, bytes, size);
    return ok;
}

bool jx_reproduce(jx_ctx *ctx, const char *folder, const jx_report *reports,
                  int count)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return jx_fail(ctx, JX_E_SYSTEM, folder, NULL,
                       "can't make the folder: %s", jx_strerror(errno));
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < reports[i].findings.count; k++)
            if (reports[i].findings.at[k].witness &&
                !reproduce(ctx, folder, &reports[i],
                           &reports[i].findings.at[k]))
                return false;
    return true;
}
