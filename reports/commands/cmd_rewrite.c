/* cmd_rewrite.c - `jaxvet rewrite IN -o OUT`: writes an exported file or a
 * module again, with what was asked changed and nothing else. */
#include "frontend/base/file.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/bytecode_write.h"
#include "frontend/mlir/ops.h"
#include "frontend/mlir/print.h"
#include "frontend/mlir/text.h"
#include "frontend/mlir/vhlo.h"
#include "frontend/read/exported_window.h"
#include "frontend/write/exported.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/specialise.h"

#include <stdio.h>
#include <string.h>

typedef struct settings {
    const char *output, *version, *release, *as;
    bool strip, no_vjp;
    jx_texts set;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"output", 'o', JX_OPT_TEXT, "FILE",
     "write there, whole or not at all (needed; `-`: standard output)",
     offsetof(settings, output)},
    {"strip-locations", 0, JX_OPT_FLAG, NULL,
     "without source locations, which name files and functions",
     offsetof(settings, strip)},
    {"stablehlo-version", 0, JX_OPT_TEXT, "X.Y.Z",
     "for consumers of that version of StableHLO, " JX_VHLO_RANGE,
     offsetof(settings, version)},
    {"for-jax", 0, JX_OPT_TEXT, "RELEASE",
     "so that this release of JAX loads it, such as 0.10.2",
     offsetof(settings, release)},
    {"set", 0, JX_OPT_LIST, "NAME=SIZE",
     "at this size (all symbolic sizes have to be given)",
     offsetof(settings, set)},
    {"drop-vjp", 0, JX_OPT_FLAG, NULL, "without stored derivatives",
     offsetof(settings, no_vjp)},
    {"as", 0, JX_OPT_CHOICE, "same|bytecode|text",
     "the form: of an exported file its module alone, as bytecode or as text",
     offsetof(settings, as)},
    JX_LIMIT_OPTIONS(settings),
};

typedef struct rewriter {
    const settings *settings;
    jx_ctx *ctx;
    const char *path;
    int version[3];                /* asked for; [0] < 0: none */
    const jx_jax_release *release; /* or NULL */
} rewriter;

static bool read_release(rewriter *r)
{
    r->release = r->settings->release
                     ? jx_jax_release_named(r->settings->release)
                     : NULL;
    return r->release || !r->settings->release;
}

static bool read_version(rewriter *r)
{
    const char *text = r->settings->version;
    int end = 0;

    r->version[0] = -1;
    return !text || (sscanf(text, "%4d.%4d.%4d%n", &r->version[0],
                            &r->version[1], &r->version[2], &end) == 3 &&
                     !text[end] && r->version[0] >= 0 && r->version[1] >= 0 &&
                     r->version[2] >= 0);
}

/* ---- modules */

/* The tree with what was asked changed: at the level of VHLO. */
static const jx_mlir_file *changed(rewriter *r, const jx_mlir_file *file)
{
    if (file && r->settings->strip)
        file = jx_mlir_strip_locations(r->ctx, file);
    if (file && r->version[0] >= 0)
        file = jx_vhlo_set_version(r->ctx, file, r->version);
    return file;
}

static const jx_mlir_file *from_bytecode(rewriter *r, const void *bytes,
                                         size_t size, size_t base)
{
    return changed(r,
                   jx_bytecode_read(r->ctx, NULL, r->path, bytes, size, base));
}

/* At the version that was asked for, else at the usual one, or the first after
 * it that can say what the program means. */
static const jx_mlir_file *lowered(rewriter *r, const jx_mlir_file *file)
{
    int version[3] = {jx_vhlo_usual[0], jx_vhlo_usual[1], jx_vhlo_usual[2]};
    const jx_mlir_file *to;

    if (r->version[0] >= 0)
        return jx_vhlo_from_stablehlo(r->ctx, file, r->version);
    while (!(to = jx_vhlo_from_stablehlo(r->ctx, file, version)) &&
           version[1]++ < jx_vhlo_newest[1])
        jx_error_clear(r->ctx);
    return to;
}

static const jx_mlir_file *from_text(rewriter *r, const char *text, size_t size)
{
    const jx_mlir_file *file =
        jx_mlir_read_text(r->ctx, NULL, r->path, text, size);

    if (file && file->nmodules != 1) {
        jx_fail(r->ctx, JX_E_INPUT, r->path, NULL,
                "expected one module, found %d (between lines `// -----`)",
                file->nmodules);
        return NULL;
    }
    return file ? changed(r, lowered(r, file)) : NULL;
}

static bool put_text(rewriter *r, const jx_mlir_file *file, jx_buffer *to)
{
    const jx_mlir_print_how how = {.locations = !r->settings->strip};

    file = jx_vhlo_to_stablehlo(r->ctx, file);
    for (int i = 0; file && i < file->nmodules; i++) {
        if (i)
            jx_buffer_puts(to, "// -----\n");
        if (!jx_mlir_print(r->ctx, file->modules[i], how, to))
            return false;
    }
    return file != NULL;
}

static bool put_module(rewriter *r, const jx_mlir_file *file, jx_buffer *to)
{
    if (!file)
        return false;
    return strcmp(r->settings->as, "text") == 0
               ? put_text(r, file, to)
               : jx_bytecode_write(r->ctx, file, to);
}

/* ---- exported files */

/* The file with its module, and those of its derivatives, written again. */
static const jx_exported *rewritten(rewriter *r, const jx_exported *x)
{
    jx_exported *to = jx_arena_copy(r->ctx->arena, x, sizeof *x);
    const jx_mlir_file *file = from_bytecode(r, x->module.at, x->module.size,
                                             (size_t)(x->module.at - x->file));
    jx_buffer module = jx_ctx_text(r->ctx);
    bool ok = to && file && jx_bytecode_write(r->ctx, file, &module);

    if (ok) {
        to->module.size = module.length;
        to->module.at =
            (const unsigned char *)jx_arena_take(r->ctx->arena, &module);
    }
    jx_buffer_free(&module);
    if (!ok || !to->module.at)
        return NULL;
    if (r->settings->no_vjp) {
        to->vjp = NULL;
        to->slots &= ~((uint32_t)1 << JX_XS_VJP);
    } else if (x->vjp && !(to->vjp = rewritten(r, x->vjp))) {
        return NULL;
    }
    return to;
}

/* ---- for a release of JAX */

static bool refused(rewriter *r, jx_jax_answer answer, const jx_vhlo_need *need)
{
    jx_buffer why = jx_ctx_text(r->ctx);

    jx_jax_why(answer, need, &why);
    jx_fail(r->ctx, JX_E_INPUT, r->path, NULL, "JAX %s does not load it: %s",
            r->release->name, jx_buffer_text(&why));
    jx_buffer_free(&why);
    return false;
}

/* The module at the newest version that the release reads, if it needs more. */
static bool fit_module(rewriter *r, jx_exported *to, jx_vhlo_need *need)
{
    const jx_mlir_file *file = jx_bytecode_read(
        r->ctx, NULL, r->path, to->module.at, to->module.size, 0);
    jx_buffer bytes = jx_ctx_text(r->ctx);
    bool ok;

    if (!file || !jx_vhlo_needs(r->ctx, file, need))
        return false;
    if (jx_jax_answer_of(r->release, to, need) != JX_JAX_STABLEHLO)
        return true;
    file = jx_vhlo_set_version(r->ctx, file, r->release->reads);
    ok = file && jx_vhlo_needs(r->ctx, file, need) &&
         jx_bytecode_write(r->ctx, file, &bytes);
    if (ok) {
        to->module.size = bytes.length;
        to->module.at =
            (const unsigned char *)jx_arena_take(r->ctx->arena, &bytes);
    }
    jx_buffer_free(&bytes);
    return ok && to->module.at;
}

/* The number and the count of devices where the release looks for them. */
static void fit_table(const jx_jax_release *release, jx_exported *to)
{
    jx_vhlo_need need = {0};

    if (jx_jax_answer_of(release, to, &need) == JX_JAX_NUMBER)
        to->stored_version = 3;
    if (jx_jax_answer_of(release, to, &need) == JX_JAX_COUNT_NEW &&
        to->devices <= INT16_MAX)
        to->devices_short = (int16_t)to->devices;
    if (jx_jax_answer_of(release, to, &need) == JX_JAX_COUNT_OLD)
        to->devices_long = to->devices;
}

static const jx_exported *fitted(rewriter *r, const jx_exported *x)
{
    jx_exported *to = jx_arena_copy(r->ctx->arena, x, sizeof *x);
    jx_vhlo_need need;
    jx_jax_answer answer;

    if (!to)
        return NULL;
    fit_table(r->release, to);
    if (!fit_module(r, to, &need))
        return NULL;
    answer = jx_jax_answer_of(r->release, to, &need);
    if (answer != JX_JAX_LOADS)
        return refused(r, answer, &need), NULL;
    if (x->vjp && !(to->vjp = fitted(r, x->vjp)))
        return NULL;
    return to;
}

static bool write_exported(rewriter *r, const jx_exported *x,
                           jx_exported_builder builder, jx_buffer *to)
{
    if (x && r->release)
        x = fitted(r, x);
    return x && jx_exported_write(x, builder, to);
}

static bool put_exported(rewriter *r, const char *bytes, size_t size,
                         jx_buffer *to)
{
    const jx_exported *x = jx_exported_read(r->ctx, r->path, bytes, size);
    jx_exported_builder builder;

    if (!x)
        return false;
    if (strcmp(r->settings->as, "same") != 0)
        return put_module(r,
                          from_bytecode(r, x->module.at, x->module.size,
                                        (size_t)(x->module.at - x->file)),
                          to);
    builder = jx_exported_builder_of(r->ctx, x, bytes, size);
    return write_exported(r, rewritten(r, x),
                          builder == JX_BUILDERS ? JX_BUILDER_NEW : builder,
                          to);
}

/* The file at the sizes that were asked for. */
static bool put_specialised(rewriter *r, const char *bytes, size_t size,
                            jx_buffer *to)
{
    jx_program *program = jx_input_read(r->ctx, r->path, bytes, size);
    const jx_exported *x =
        program ? jx_exported_at(program, &r->settings->set,
                                 r->version[0] < 0 ? NULL : r->version,
                                 r->settings->strip)
                : NULL;

    return write_exported(r, x, JX_BUILDER_NEW, to);
}

/* ---- the command */

static bool rewrite(rewriter *r, const char *bytes, size_t size, jx_buffer *to)
{
    if (r->settings->set.count)
        return put_specialised(r, bytes, size, to);
    if (r->release && !jx_may_be_exported(r->ctx, bytes, size))
        return jx_fail(r->ctx, JX_E_INPUT, r->path, "byte 0",
                       "expected an exported file, for --for-jax");
    if (jx_bytecode_is(bytes, size))
        return put_module(r, from_bytecode(r, bytes, size, 0), to);
    if (jx_is_mlir_text(bytes, size)) {
        const jx_mlir_file *file = from_text(r, bytes, size);

        return file && (strcmp(r->settings->as, "bytecode") == 0
                            ? jx_bytecode_write(r->ctx, file, to)
                            : put_text(r, file, to));
    }
    if (jx_may_be_exported(r->ctx, bytes, size))
        return put_exported(r, bytes, size, to);
    return jx_fail(r->ctx, JX_E_INPUT, r->path, "byte 0",
                   "expected an exported file, MLIR bytecode or StableHLO "
                   "text");
}

static int execute(rewriter *r)
{
    size_t size = 0;
    const char *bytes = jx_input_load(r->ctx, r->path, &size);
    jx_buffer to = jx_ctx_text(r->ctx);
    int code;

    if (!bytes || !rewrite(r, bytes, size, &to) || !jx_buffer_ok(&to)) {
        jx_ok(r->ctx);
        jx_buffer_free(&to);
        return jx_command_failed(r->ctx);
    }
    code = jx_command_write_bytes(r->settings->output, &to);
    if (code == JX_EXIT_OK && strcmp(r->settings->output, "-") != 0)
        printf("%s: %zu bytes, from %zu\n", r->settings->output, to.length,
               size);
    jx_buffer_free(&to);
    return code;
}

static int run(int argc, char **argv)
{
    settings s = {.as = "same"};
    int n = jx_command_options(&jx_command_rewrite, argc, argv, &s), code;
    rewriter r = {.settings = &s};

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n != 1 || !s.output)
        return jx_command_usage(&jx_command_rewrite,
                                "expected a file to read, and -o FILE");
    if (s.set.count && (s.no_vjp || strcmp(s.as, "same") != 0))
        return jx_command_usage(&jx_command_rewrite,
                                "--set goes with neither --drop-vjp nor --as: "
                                "rewrite the result once more");
    if (!read_version(&r))
        return jx_command_usage(&jx_command_rewrite,
                                "--stablehlo-version: expected a version such "
                                "as 1.13.7");
    if (!read_release(&r))
        return jx_command_usage(&jx_command_rewrite,
                                "--for-jax: expected a release from %s to %s",
                                jx_jax_release_at(0)->name,
                                jx_jax_release_at(JX_JAX_RELEASES - 1)->name);
    if (s.release && (s.version || strcmp(s.as, "same") != 0))
        return jx_command_usage(&jx_command_rewrite,
                                "--for-jax goes with neither "
                                "--stablehlo-version nor --as");
    r.path = argv[0];
    r.ctx = jx_command_ctx(&jx_command_rewrite, &s.limits, &code);
    if (!r.ctx)
        return code;
    code = execute(&r);
    jx_ctx_free(r.ctx);
    return code;
}

const jx_command jx_command_rewrite = {
    "rewrite",
    "PROGRAM -o FILE",
    "write an exported file again, changed as asked",
    "Reads an exported file, MLIR bytecode or StableHLO text and writes it\n"
    "again.  What is not asked to change comes out byte for byte as it was.\n"
    "Source locations name the folders and functions of the machine that\n"
    "exported a program, and are about a quarter of a file.  An older version\n"
    "of StableHLO is refused where it has no way to say what the program\n"
    "means, with the op.  --set b=8 gives a file of fixed shapes, lowered\n"
    "anew; its derivatives with it.  --for-jax changes what keeps a release from\n"
    "loading the file: the version of its module, and where it counts devices.\n"
    "\n"
    "  $ jaxvet rewrite model.jaxexport --strip-locations -o small.jaxexport\n"
    "  $ jaxvet rewrite model.jaxexport --stablehlo-version 1.9.3 -o old.jaxexport\n"
    "  $ jaxvet rewrite model.jaxexport --for-jax 0.12.0 -o new.jaxexport\n"
    "  $ jaxvet rewrite model.jaxexport --set b=8 -o eight.jaxexport\n"
    "  $ jaxvet rewrite model.jaxexport --as bytecode -o model.mlirbc\n",
    options,
    sizeof options / sizeof *options,
    run,
};
