/* input.c - see input.h. */
#include "reports/pipeline/input.h"

#include "analyzer/infer.h"
#include "analyzer/transform/discharge.h"
#include "analyzer/transform/unmark.h"
#include "frontend/base/assert.h"
#include "frontend/base/file.h"
#include "frontend/base/inflate.h"
#include "frontend/base/plain.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/text.h"
#include "frontend/mlir/vhlo.h"
#include "frontend/read/blackbox.h"
#include "frontend/read/document.h"
#include "frontend/read/exported.h"
#include "frontend/read/stablehlo.h"
#include "frontend/read/text.h"

#include <string.h>

static size_t skip_space(const char *bytes, size_t size)
{
    size_t i = 0;

    while (i < size && memchr(" \t\r\n", bytes[i], 4))
        i++;
    return i;
}

/* A JSON object; whether it is a document is for its reader to say. */
static bool may_be_document(const char *bytes, size_t size)
{
    size_t brace = skip_space(bytes, size);

    if (brace == size || bytes[brace] != '{')
        return false;
    brace++;
    brace += skip_space(bytes + brace, size - brace);
    return brace == size || bytes[brace] == '"' || bytes[brace] == '}';
}

static bool is_document(const char *bytes, size_t size)
{
    enum { HEAD = 256 }; /* the format comes first in canonical form */
    static const char format[] = "\"jaxvet-jaxpr\"";

    return may_be_document(bytes, size) &&
           memmem(bytes, size < HEAD ? size : HEAD, format, sizeof format - 1);
}

/* The StableHLO in MLIR bytecode, which is VHLO there. */
static const jx_mlir_file *read_module(jx_ctx *ctx, const char *path,
                                       const void *bytes, size_t size,
                                       size_t base)
{
    const jx_mlir_file *file =
        jx_bytecode_read(ctx, NULL, path, bytes, size, base);

    return file ? jx_vhlo_to_stablehlo(ctx, file) : NULL;
}

static bool is_bytecode(const char *bytes, size_t size)
{
    return jx_bytecode_is(bytes, size);
}

static jx_program *read_bytecode(jx_ctx *ctx, const char *path,
                                 const char *bytes, size_t size)
{
    const jx_mlir_file *file = read_module(ctx, path, bytes, size, 0);

    return file ? jx_read_stablehlo(file, jx_infer_reading) : NULL;
}

static jx_program *program_of(jx_ctx *ctx, const jx_exported *x)
{
    const jx_mlir_file *file =
        read_module(ctx, x->path, x->module.at, x->module.size,
                    (size_t)(x->module.at - x->file));

    return file ? jx_read_exported_program(file, x, jx_infer_reading) : NULL;
}

static jx_program *read_exported(jx_ctx *ctx, const char *path,
                                 const char *bytes, size_t size)
{
    const jx_exported *x = jx_exported_read(ctx, path, bytes, size);

    return x ? program_of(ctx, x) : NULL;
}

static jx_program *read_mlir_text(jx_ctx *ctx, const char *path,
                                  const char *text, size_t length)
{
    const jx_mlir_file *file = jx_mlir_read_text(ctx, NULL, path, text, length);

    return file ? jx_read_stablehlo(file, jx_infer_reading) : NULL;
}

static jx_program *read_blackbox(jx_ctx *ctx, const char *path,
                                 const char *bytes, size_t size);

static bool is_blackbox(const char *bytes, size_t size)
{
    return jx_blackbox_is(bytes, size);
}

/* A context, for those that read a little: without memory they say no, and it
 * has failed. */
typedef bool recognizer(jx_ctx *ctx, const char *bytes, size_t size);

#define LOOKS(name)                                                            \
    static bool looks_##name(jx_ctx *ctx, const char *bytes, size_t size)      \
    {                                                                          \
        (void)ctx;                                                             \
        return name(bytes, size);                                              \
    }
LOOKS(may_be_document)
LOOKS(is_document)
LOOKS(jx_is_mlir_text)
LOOKS(jx_may_be_text)
LOOKS(jx_is_text)
LOOKS(is_bytecode)
LOOKS(is_blackbox)

/* The forms a program comes in.  `may_be` is asked of a file that the user
 * named, and then its reader says what is wrong; `is` of any file in a
 * folder. */
static const struct {
    recognizer *may_be, *is;
    jx_program *(*read)(jx_ctx *ctx, const char *path, const char *text,
                        size_t length);
} forms[] = {
    {looks_may_be_document, looks_is_document, jx_read_document},
    {looks_jx_is_mlir_text, looks_jx_is_mlir_text, read_mlir_text},
    {looks_jx_may_be_text, looks_jx_is_text, jx_read_text},
    {looks_is_bytecode, looks_is_bytecode, read_bytecode},
    {looks_is_blackbox, looks_is_blackbox, read_blackbox},
    {jx_may_be_exported, jx_is_exported, read_exported},
};
enum { NFORMS = sizeof forms / sizeof *forms };
#define FORMS                                                                  \
    "a jaxpr document, jaxpr text, StableHLO text or bytecode, a file of "     \
    "jax.export, or a black box"

/* What went wrong in the module of a black box says so. */
static void place_inside(jx_ctx *ctx)
{
    const char *place = ctx->error.place;

    if (ctx->error.kind == JX_E_INPUT)
        ctx->error.place =
            jx_arena_printf(ctx->arena, "member \"module\"%s%s",
                            place ? ", " : "", place ? place : "");
}

static jx_program *read_blackbox(jx_ctx *ctx, const char *path,
                                 const char *bytes, size_t size)
{
    const jx_blackbox *box = jx_blackbox_read(ctx, path, bytes, size);
    jx_program *program = NULL;

    if (!box)
        return NULL;
    for (int i = 0; i < NFORMS && !program && jx_ok(ctx); i++)
        if (forms[i].read != read_blackbox &&
            forms[i].is(ctx, box->module, box->module_size))
            program = forms[i].read(ctx, path, box->module, box->module_size);
    if (!program) {
        jx_fail(ctx, JX_E_INPUT, path, NULL, "expected a program");
        place_inside(ctx);
        return NULL;
    }
    program->blackbox = box;
    if (program->entry.jaxpr->nins == box->ninputs)
        return program;
    jx_fail(ctx, JX_E_INPUT, path, NULL,
            "says that the call had %d inputs, its module takes %d",
            box->ninputs, program->entry.jaxpr->nins);
    return NULL;
}

bool jx_input_is_program(jx_ctx *ctx, const char *bytes, size_t size)
{
    for (int i = 0; i < NFORMS; i++)
        if (forms[i].is(ctx, bytes, size))
            return true;
    return false;
}

static const char *unpacked(jx_ctx *ctx, const char *path, const char *bytes,
                            size_t *size)
{
    return jx_is_gzip(bytes, *size) ? jx_gunzip(ctx, path, bytes, *size, size)
                                    : bytes;
}

/* ---- files of folders */

static bool ends_with(const char *path, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    char end[16] = {0};

    if (length <= n || n >= sizeof end || path[length - n - 1] == '/')
        return false;
    memcpy(end, path + length - n, n);
    return jx_is_word(end, ending);
}

jx_input_name jx_input_name_of(const char *path)
{
    static const char *const endings[] = {".jaxexport", ".mlir",  ".mlirbc",
                                          ".stablehlo", ".jaxpr", ".blackbox"};
    size_t length = strlen(path);

    if (ends_with(path, length, ".gz"))
        length -= 3;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, length, endings[i]))
            return JX_NAMED_PROGRAM;
    return ends_with(path, length, ".json") ? JX_NAMED_DOCUMENT
                                            : JX_NAMED_OTHER;
}

/* The text, its spaces left out, is the beginning of any document and nothing
 * more: one that was cut there. */
static bool is_cut_head(const char *bytes, size_t size)
{
    static const char head[] = "{\"format\":\"jaxvet-jaxpr\"";
    size_t at = 0;

    for (size_t i = 0; i < size; i++) {
        if (memchr(" \t\r\n", bytes[i], 4))
            continue;
        if (bytes[i] != head[at])
            return false;
        at++;
    }
    return at < sizeof head - 1;
}

/* A file that goes by the name of a document: ours if it says so anywhere near
 * its beginning, or ends before it could. */
static bool is_our_document(const char *bytes, size_t size)
{
    enum { NEAR = 1 << 16 };
    static const char format[] = "\"jaxvet-jaxpr\"";

    return is_cut_head(bytes, size) ||
           memmem(bytes, size < NEAR ? size : NEAR, format, sizeof format - 1);
}

static bool is_one_of_ours(jx_ctx *ctx, jx_input_name name, const char *bytes,
                           size_t size)
{
    return name == JX_NAMED_PROGRAM || jx_input_is_program(ctx, bytes, size) ||
           (name == JX_NAMED_DOCUMENT && is_our_document(bytes, size));
}

bool jx_input_belongs(jx_ctx *ctx, const char *path, const char **bytes,
                      size_t *size)
{
    jx_input_name name = jx_input_name_of(path);
    const char *packed = jx_file_read(ctx, path, size);
    char head[4096];

    *bytes = packed ? unpacked(ctx, path, packed, size) : NULL;
    if (*bytes)
        return is_one_of_ours(ctx, name, *bytes, *size);
    if (!packed)
        return name != JX_NAMED_OTHER;
    return is_one_of_ours(
        ctx, name, head, jx_gunzip_beginning(packed, *size, head, sizeof head));
}

/* What commands work on: a program without references, and without marks of
 * types.  Readers and the discharge promise one that keeps the rules. */
static jx_program *discharged(jx_program *program)
{
    /* What lacked memory may have left holes in it. */
    if (!program || !jx_ok(program->ctx))
        return NULL;
    JX_ASSERT_NONE(jx_program_fault(program));
    if (!jx_program_unmark(program))
        return NULL;
    JX_ASSERT_NONE(jx_program_fault(program));
    if (!jx_program_discharge(program))
        return NULL;
    JX_ASSERT_NONE(jx_program_fault(program));
    return program;
}

jx_program *jx_input_read(jx_ctx *ctx, const char *path, const char *bytes,
                          size_t size)
{
    jx_ctx_concerns(ctx, path);
    jx_ctx_stage(ctx, "reading");
    bytes = unpacked(ctx, path, bytes, &size);
    if (!bytes)
        return NULL;
    for (int i = 0; i < NFORMS; i++)
        if (forms[i].may_be(ctx, bytes, size))
            return discharged(forms[i].read(ctx, path, bytes, size));
    if (skip_space(bytes, size) == size)
        jx_fail(ctx, JX_E_INPUT, path, NULL,
                "is empty; expected a program (" FORMS ")");
    else
        jx_fail(ctx, JX_E_INPUT, path, "byte 0",
                "expected a program (" FORMS ")");
    return NULL;
}

const jx_mlir_file *jx_input_module(jx_ctx *ctx, const char *path,
                                    const char *bytes, size_t size)
{
    const jx_blackbox *box;
    const jx_exported *x;

    bytes = unpacked(ctx, path, bytes, &size);
    if (bytes && is_blackbox(bytes, size)) {
        box = jx_blackbox_read(ctx, path, bytes, size);
        bytes = box ? box->module : NULL;
        size = box ? box->module_size : 0;
    }
    if (!bytes || may_be_document(bytes, size))
        return NULL;
    if (jx_is_mlir_text(bytes, size))
        return jx_mlir_read_text(ctx, NULL, path, bytes, size);
    if (is_bytecode(bytes, size))
        return read_module(ctx, path, bytes, size, 0);
    if (jx_may_be_text(bytes, size) || !jx_may_be_exported(ctx, bytes, size))
        return NULL;
    x = jx_exported_read(ctx, path, bytes, size);
    return x ? read_module(
                   ctx, path, x->module.at, x->module.size,
                   (size_t)(x->module.at - (const unsigned char *)bytes))
             : NULL;
}

const char *jx_input_load(jx_ctx *ctx, const char *path, size_t *size)
{
    const char *bytes;

    jx_ctx_concerns(ctx, path);
    jx_ctx_stage(ctx, "reading");
    bytes = jx_file_read(ctx, path, size);

    return bytes ? unpacked(ctx, path, bytes, size) : NULL;
}

jx_program *jx_input_open(jx_ctx *ctx, const char *path)
{
    size_t size = 0;
    const char *bytes = jx_input_load(ctx, path, &size);

    return bytes ? jx_input_read(ctx, path, bytes, size) : NULL;
}

jx_program *jx_input_vjp(const jx_program *program, int64_t order)
{
    const jx_exported *x = program->exported;
    int has = x ? jx_exported_vjps(x) : 0;

    if (order <= has) {
        while (order--)
            x = x->vjp;
        return discharged(program_of(program->ctx, x));
    }
    jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
            x ? "holds derivatives up to order %d; "
                "`exported.serialize(vjp_order=%lld)` stores that one"
              : "is no exported file, which alone holds derivatives",
            has, (long long)order);
    return NULL;
}
