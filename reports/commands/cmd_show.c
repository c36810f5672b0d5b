/* cmd_show.c - `jaxvet show PROGRAM`: prints a program as JAX prints it, as a
 * document, as StableHLO, or as what the stages make of it. */
#include "analyzer/typing.h"
#include "frontend/ir/print.h"
#include "frontend/mlir/print.h"
#include "frontend/write/document.h"
#include "frontend/write/stablehlo.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/commands/looks.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/inputs.h"
#include "reports/pipeline/transforms.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    const char *as, *output;
    jx_texts transform, set;
    bool all_params, generic, locations;
    int64_t width, elide, vjp;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"as", 0, JX_OPT_CHOICE, "jaxpr|json|stablehlo|flat|claims|plan",
     "text as JAX prints it, a document in canonical form, a module of "
     "StableHLO, or a look inside: see above (jaxpr)",
     offsetof(settings, as)},
    JX_TRANSFORM_OPTION(settings),
    {"set", 0, JX_OPT_LIST, "b=3",
     "sizes of the plan, one for each symbolic dimension",
     offsetof(settings, set)},
    {"vjp", 0, JX_OPT_INT, "N",
     "the derivative of order N that an exported file holds",
     offsetof(settings, vjp)},
    {"all-params", 0, JX_OPT_FLAG, NULL,
     "show the parameters too that JAX leaves out",
     offsetof(settings, all_params)},
    {"generic", 0, JX_OPT_FLAG, NULL,
     "StableHLO in the generic form, which spells everything out",
     offsetof(settings, generic)},
    {"locations", 0, JX_OPT_FLAG, NULL,
     "StableHLO with the places in the source", offsetof(settings, locations)},
    {"elide", 0, JX_OPT_INT, "COUNT",
     "leave out constants of more elements in StableHLO",
     offsetof(settings, elide)},
    {"width", 0, JX_OPT_INT, "COLUMNS", "of a line of text (80)",
     offsetof(settings, width)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there, whole or not at all",
     offsetof(settings, output)},
    JX_LIMIT_OPTIONS(settings),
};

static jx_mlir_print_how how_to_print(const settings *s)
{
    return (jx_mlir_print_how){
        .generic = s->generic, .locations = s->locations, .elide = s->elide};
}

/* The program as a module of our own making. */
static bool lower(jx_program *program, const settings *s, jx_buffer *to)
{
    jx_mlir_types *types = jx_mlir_types_new(program->ctx);
    const jx_typed *typed = types ? jx_typed_of(program) : NULL;
    const jx_mlir_op *module;

    if (!typed)
        return false;
    module = jx_write_stablehlo(typed, types);
    return module && jx_mlir_print(program->ctx, module, how_to_print(s), to);
}

/* Modules as they are in the file. */
static bool print_modules(const jx_mlir_file *file, const settings *s,
                          jx_buffer *to)
{
    for (int i = 0; i < file->nmodules; i++) {
        if (i)
            jx_buffer_puts(to, "// -----\n");
        if (!jx_mlir_print(file->ctx, file->modules[i], how_to_print(s), to))
            return false;
    }
    return true;
}

/* What a linearized program leaves, as a comment behind its text. */
static bool print_linear(const jx_program *program, jx_print_options how,
                         jx_buffer *to)
{
    const jx_linear_program *linear = program->linear;
    jx_buffer text = jx_ctx_text(program->ctx);
    bool ok = jx_jaxpr_print(program, linear->closed.jaxpr, how, &text);

    if (ok)
        jx_buffer_printf(
            to, "\n# Linear in all but its first %d inputs, the residuals:\n# ",
            linear->nres);
    for (size_t i = 0; ok && i < text.length; i++) {
        jx_buffer_putc(to, text.text[i]);
        if (text.text[i] == '\n')
            jx_buffer_puts(to, "# ");
    }
    jx_buffer_free(&text);
    return ok;
}

static bool render(jx_program *program, const settings *s, jx_buffer *to)
{
    jx_print_options how = {.width = (int)s->width,
                            .all_params = s->all_params};

    if (!strcmp(s->as, "json"))
        return jx_write_document(program, to);
    if (!strcmp(s->as, "stablehlo"))
        return lower(program, s, to);
    if (!strcmp(s->as, "flat"))
        return jx_look_flat(program, to);
    if (!strcmp(s->as, "claims"))
        return jx_look_claims(program, to);
    if (!strcmp(s->as, "plan"))
        return jx_look_plan(program, &s->set, to);
    if (!jx_program_print(program, how, to) ||
        (program->linear && !print_linear(program, how, to)))
        return false;
    jx_buffer_putc(to, '\n');
    return true;
}

/* What is asked for, of the program in the file; false with an error. */
static bool show(jx_ctx *ctx, const char *path, const settings *s,
                 jx_buffer *to)
{
    size_t size = 0;
    const char *bytes = jx_input_load(ctx, path, &size);
    const jx_mlir_file *file = NULL;
    jx_program *program;

    if (!bytes)
        return false;
    if (!strcmp(s->as, "stablehlo") && !s->transform.count && !s->vjp)
        file = jx_input_module(ctx, path, bytes, size);
    if (file)
        return print_modules(file, s, to);
    if (!jx_ok(ctx))
        return false;
    program = jx_input_read(ctx, path, bytes, size);
    if (program && s->vjp)
        program = jx_input_vjp(program, s->vjp);
    if (program && strcmp(s->as, "stablehlo") != 0 &&
        !jx_transforms_ask(&s->transform, "devices") &&
        !jx_transforms_ask(&s->transform, "jvp") &&
        !jx_transforms_ask(&s->transform, "linearize") &&
        !jx_transforms_ask(&s->transform, "vjp"))
        program = jx_program_written(program);
    program = jx_program_transformed(program, &s->transform, false);
    return program && render(program, s, to);
}

static int run(int argc, char **argv)
{
    settings s = {.as = "jaxpr"};
    int n = jx_command_options(&jx_command_show, argc, argv, &s);
    jx_buffer text;
    int code;

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n != 1)
        return jx_command_usage(&jx_command_show, "expected one program");
    if (s.set.count && strcmp(s.as, "plan"))
        return jx_command_usage(&jx_command_show,
                                "--set goes with --as plan; --transform "
                                "set:b=8 puts sizes into any program");
    if (s.width > INT_MAX)
        return jx_command_usage(&jx_command_show, "a line can't be that wide");
    jx_ctx *ctx = jx_command_ctx(&jx_command_show, &s.limits, &code);
    if (!ctx)
        return code;
    text = jx_ctx_text(ctx);
    if (show(ctx, argv[0], &s, &text))
        code = jx_command_write(s.output, &text);
    else
        code = jx_command_failed(ctx);
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
    return code;
}

const jx_command jx_command_show = {
    "show",
    "PROGRAM",
    "print a program",
    "Prints a program: as the text that JAX prints for it (which says less\n"
    "than there is: no weak types, no values of constants, no rules), or with\n"
    "--as json as a document in canonical form, which says everything.\n"
    "--as stablehlo prints a module: what a file of StableHLO holds, as MLIR\n"
    "would print it; of any other program what it lowers to for the CPU.\n"
    "Three looks at what is made of it.  --as flat: the program as lints see it,\n"
    "calls inlined, equal computations once; a value varies with the inputs or is\n"
    "fixed, is a splat (all elements are one), or dead.  --as claims: all that has\n"
    "to hold, each with its code, place, goal, verdict and who settled it; what\n"
    "holds at sight is counted alone.  --as plan: what runs at the sizes of --set:\n"
    "buffers with offsets and the operations that use them (first to last), blocks\n"
    "with their operations, results before operands; `b3+16 f32[4]` lies 16 bytes\n"
    "into buffer 3.\n"
    "--transform set:b=8 puts a size for a symbolic dimension: shapes become\n"
    "numbers, sizes used as values literals; what has no size stays symbolic.\n"
    "--transform fix:x=0.5,args[1]['w']=0 is the program where these inputs have one\n"
    "number in every element: it takes the others, what follows is computed, and\n"
    "choices that are known then are made.\n"
    "--transform devices:8 writes out what eight devices run (the body of a\n"
    "sdy.manual_computation whose mesh has so many, or a module of collectives,\n"
    "which then takes the inputs of the first device, of the second, ...): ordinary\n"
    "equations, one per device where there was one, that do the same on one.\n"
    "--transform jvp is its derivative along a direction: it takes the inputs, then\n"
    "a tangent for each inexact one, and gives the outputs, then a tangent for each\n"
    "inexact one.  --transform vjp is that backwards: it takes the inputs, then a\n"
    "cotangent for each inexact output, and gives one for each inexact input.\n"
    "--transform linearize gives the outputs, then residuals: what the derivative at\n"
    "these inputs needs.  A second program beside it (the text has it as a comment)\n"
    "takes residuals and tangents and gives tangents; --transform linear is that one:\n"
    "linearize,linear, or of a document that was linearized.\n"
    "--transform vmap:0,None is the program over an axis more, of a new size `b`:\n"
    "at place 0 of the first input, the second has none; all outputs have it in\n"
    "front.  One place alone is for all inputs.  A sdy.manual_computation, which has\n"
    "no rules of its own for these three, is written out for its devices first.\n"
    "--transform flat is the program without calls: what jit, remat and custom rules\n"
    "call stands where it is called, and the rules are gone; --transform xla is that as\n"
    "XLA's algebraic simplifier leaves it on a CPU, as far as results may differ.\n"
    "Examples: jaxvet show --as json step.json.gz -o step.json\n"
    "          jaxvet show --as plan --set b=3 step.json.gz\n",
    options,
    sizeof options / sizeof *options,
    run,
};
