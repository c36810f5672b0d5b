/* input.c - see input.h. */
#include "reports/input.h"

#include "frontend/base/file.h"
#include "frontend/base/inflate.h"
#include "frontend/mlir/text.h"
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

/* An exported file's signature can be read (`jaxvet info`), not its module. */
static jx_program *read_exported(jx_ctx *ctx, const char *path,
                                 const char *bytes, size_t size)
{
    if (jx_exported_read(ctx, path, bytes, size))
        jx_fail(ctx, JX_E_INPUT, path, NULL,
                "is an exported file: its module is not readable yet, only "
                "what `jaxvet info` says");
    return NULL;
}

static bool never(const char *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    return false;
}

static jx_program *read_mlir_text(jx_ctx *ctx, const char *path,
                                  const char *text, size_t length)
{
    const jx_mlir_file *file = jx_mlir_read_text(ctx, NULL, path, text,
                                                 length);

    return file ? jx_read_stablehlo(file) : NULL;
}

/* The forms a program comes in.  `may_be` is asked of a file that the user
 * named, and then its reader says what is wrong; `is` of any file in a
 * folder. */
static const struct {
    bool (*may_be)(const char *bytes, size_t size);
    bool (*is)(const char *bytes, size_t size);
    jx_program *(*read)(jx_ctx *ctx, const char *path, const char *text,
                        size_t length);
} forms[] = {
    {may_be_document, is_document, jx_read_document},
    {jx_is_mlir_text, jx_is_mlir_text, read_mlir_text},
    {jx_may_be_text, jx_is_text, jx_read_text},
    {jx_may_be_exported, never, read_exported},
};
enum { NFORMS = sizeof forms / sizeof *forms };
#define FORMS "a jaxpr document, jaxpr text, or StableHLO text"

bool jx_input_is_program(const char *bytes, size_t size)
{
    for (int i = 0; i < NFORMS; i++)
        if (forms[i].is(bytes, size))
            return true;
    return false;
}

static const char *unpacked(jx_ctx *ctx, const char *path, const char *bytes,
                            size_t *size)
{
    return jx_is_gzip(bytes, *size) ? jx_gunzip(ctx, path, bytes, *size, size)
                                    : bytes;
}

/* In debug builds every reader's work is checked. */
static jx_program *verified(jx_program *program)
{
#ifdef JX_VERIFY
    if (program && !jx_program_verify(program))
        return NULL;
#endif
    return program;
}

jx_program *jx_input_read(jx_ctx *ctx, const char *path, const char *bytes,
                          size_t size)
{
    bytes = unpacked(ctx, path, bytes, &size);
    if (!bytes)
        return NULL;
    for (int i = 0; i < NFORMS; i++)
        if (forms[i].may_be(bytes, size))
            return verified(forms[i].read(ctx, path, bytes, size));
    if (skip_space(bytes, size) == size)
        jx_fail(ctx, JX_E_INPUT, path, NULL,
                "is empty; expected a program (" FORMS ")");
    else
        jx_fail(ctx, JX_E_INPUT, path, "byte 0",
                "expected a program (" FORMS ")");
    return NULL;
}

const char *jx_input_load(jx_ctx *ctx, const char *path, size_t *size)
{
    const char *bytes = jx_file_read(ctx, path, size);

    return bytes ? unpacked(ctx, path, bytes, size) : NULL;
}

jx_program *jx_input_open(jx_ctx *ctx, const char *path)
{
    size_t size = 0;
    const char *bytes = jx_input_load(ctx, path, &size);

    return bytes ? jx_input_read(ctx, path, bytes, size) : NULL;
}
