/* api.c - jaxvet.h upon the modules inside. */
#include "reports/api.h"

#include "analyzer/cost.h"
#include "analyzer/transform/refine.h"
#include "frontend/ir/signature.h"
#include "frontend/mlir/print.h"
#include "frontend/read/stablehlo.h"
#include "frontend/write/stablehlo.h"
#include "prover/choose.h"
#include "reports/formats/exported_info.h"
#include "reports/formats/formats.h"
#include "reports/formats/program_info.h"
#include "reports/pipeline/check.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/versions.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"
#include "runtime/fits.h"
#include "runtime/host.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An element of an input that says a size which is decided. */
typedef struct said {
    int input, element;
    int64_t value;
    const char *size;
} said;

struct jaxvet_program {
    jx_ctx *ctx;
    jx_program *program;
    bool is_guest; /* the context is that of another program */
    bool trusts_embedded;
    int nins, nouts, nsizes;
    const char **in_types, **out_types;
    const jx_dim_atom *const *sizes; /* of the signature, by name */
    int nsaid;                       /* by refinement */
    const said *said;
    const jaxvet_handlers *handlers; /* or NULL */
    jx_buffer report;                /* of the last check */
    jx_buffer info;
    jx_buffer module;
};

struct jaxvet_call {
    const jaxvet_program *program;
    bool is_copy; /* plan and layouts are another call's */
    jx_plan *plan;
    jx_exec *exec;
    jaxvet_layout *ins, *outs;
    int nsaid;
    const said *said;
};

int jaxvet_abi_version(void)
{
    return JAXVET_ABI_VERSION;
}

const char *jaxvet_version(void)
{
    return JX_VERSION;
}

/* ---- errors */

/* Cut to fit, between two characters. */
static void copy_text(char *to, size_t room, const char *text)
{
    size_t length = text ? strlen(text) : 0;

    if (length >= room) {
        length = room - 1;
        while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(to, text ? text : "", length);
    to[length] = '\0';
}

void jx_api_error(jaxvet_error *to, jaxvet_status status, const char *file,
                  const char *place, const char *message)
{
    if (!to)
        return;
    to->status = status;
    copy_text(to->file, sizeof to->file, file);
    copy_text(to->place, sizeof to->place, place);
    copy_text(to->message, sizeof to->message, message);
}

static jaxvet_status status_of(jx_error_kind kind)
{
    switch (kind) {
    case JX_E_NONE:
    case JX_E_INTERNAL:
        break;
    case JX_E_USAGE:
        return JAXVET_USAGE;
    case JX_E_INPUT:
    case JX_E_SYSTEM:
        return JAXVET_INPUT;
    case JX_E_LIMIT:
        return JAXVET_LIMIT;
    }
    return JAXVET_INTERNAL;
}

bool jx_api_given(const void *pointer, const char *what, jaxvet_error *error)
{
    char message[sizeof error->message];

    if (pointer)
        return true;
    snprintf(message, sizeof message, "expected %s, found NULL", what);
    jx_api_error(error, JAXVET_USAGE, NULL, NULL, message);
    return false;
}

jaxvet_status jx_api_starved(jaxvet_error *to)
{
    jx_api_error(to, JAXVET_LIMIT, NULL, NULL,
                 JX_STARVED);
    return JAXVET_LIMIT;
}

jaxvet_status jx_api_hand_over(jx_ctx *ctx, jaxvet_error *to)
{
    jx_ok(ctx);
    jaxvet_status status = status_of(ctx->error.kind);
    jx_api_error(to, status, ctx->error.file, ctx->error.place,
                 ctx->error.message);
    jx_error_clear(ctx);
    return status;
}

/* ---- opening */

static const char *type_text(jx_ctx *ctx, const jx_aval *aval)
{
    jx_buffer text = jx_ctx_text(ctx);

    jx_aval_print(aval, &text);
    return jx_arena_take(ctx->arena, &text);
}

static bool read_signature(jaxvet_program *p)
{
    const jx_jaxpr *entry = p->program->entry.jaxpr;
    jx_arena *arena = p->ctx->arena;

    p->in_types = JX_NEW_ARRAY(arena, entry->nins, const char *);
    p->out_types = JX_NEW_ARRAY(arena, entry->nouts, const char *);
    if (!p->in_types || !p->out_types)
        return false;
    p->nins = entry->nins;
    p->nouts = entry->nouts;
    for (int i = 0; i < p->nins; i++) {
        const jx_aval *aval = entry->vars[entry->nconsts + i]->aval;
        p->in_types[i] = type_text(p->ctx, aval);
        if (!p->in_types[i])
            return false;
    }
    for (int i = 0; i < p->nouts; i++) {
        p->out_types[i] = type_text(p->ctx, jx_atom_aval(entry->outs[i]));
        if (!p->out_types[i])
            return false;
    }
    p->sizes = jx_input_vars(p->program, &p->nsizes);
    return p->sizes != NULL;
}

static jaxvet_program *new_program(size_t budget, jaxvet_error *error)
{
    enum { DEFAULT_GIB = 4 };
    jaxvet_program *p = calloc(1, sizeof *p);

    if (p)
        p->ctx = jx_ctx_new(budget ? budget : (size_t)DEFAULT_GIB << 30);
    if (p && p->ctx) {
        p->report = p->info = p->module = jx_ctx_text(p->ctx);
        return p;
    }
    free(p);
    jx_api_starved(error);
    return NULL;
}

bool jx_api_limits(const jaxvet_limits *limits, jx_limits *to,
                   jaxvet_error *error)
{
    *to = (jx_limits){0};
    if (limits && limits->size < sizeof *limits) {
        jx_api_error(error, JAXVET_USAGE, NULL, NULL,
                     "expected limits with their size: "
                     "jaxvet_limits limits = {sizeof limits}");
        return false;
    }
    if (limits)
        *to = (jx_limits){limits->bytes, limits->seconds, limits->cancel};
    return true;
}

jaxvet_status jaxvet_program_limits(jaxvet_program *program,
                                    const jaxvet_limits *limits,
                                    jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error) ||
        !jx_api_limits(limits, &program->ctx->budget.limits, error))
        return JAXVET_USAGE;
    jx_budget_restart(&program->ctx->budget);
    return JAXVET_OK;
}

/* Time counts from the call that the host makes. */
static void begin(const jaxvet_program *program)
{
    jx_budget_restart(&program->ctx->budget);
}

static jaxvet_program *opened(jaxvet_program *p, jx_program *program,
                              jaxvet_error *error)
{
    p->program = program;
    if (program && read_signature(p))
        return p;
    jx_api_hand_over(p->ctx, error);
    jaxvet_close(p);
    return NULL;
}

jaxvet_program *jaxvet_open(const char *path, size_t budget,
                            jaxvet_error *error)
{
    jaxvet_program *p = jx_api_given(path, "a path", error)
                            ? new_program(budget, error)
                            : NULL;

    return p ? opened(p, jx_input_open(p->ctx, path), error) : NULL;
}

jaxvet_program *jaxvet_open_memory(const void *bytes, size_t size,
                                   const char *name, size_t budget,
                                   jaxvet_error *error)
{
    const char *shown = name ? name : "<memory>";
    jaxvet_program *p = !size || jx_api_given(bytes, "bytes", error)
                            ? new_program(budget, error)
                            : NULL;
    /* Constants of a module stay where they are, so that must outlive it. */
    const void *kept =
        p ? jx_arena_copy(p->ctx->arena, size ? bytes : "", size) : NULL;

    return p ? opened(p,
                      kept ? jx_input_read(p->ctx, shown, kept, size) : NULL,
                      error)
             : NULL;
}

void jaxvet_close(jaxvet_program *program)
{
    if (!program)
        return;
    jx_buffer_free(&program->report);
    jx_buffer_free(&program->info);
    jx_buffer_free(&program->module);
    if (!program->is_guest)
        jx_ctx_free(program->ctx);
    free(program);
}

/* ---- the signature */

static const char *pick(const char *const *texts, int count, int i)
{
    return i >= 0 && i < count ? texts[i] : NULL;
}

static const char *pick_path(const char *const *paths, int count, int i)
{
    if (i < 0 || i >= count)
        return NULL;
    return paths && paths[i] ? paths[i] : "";
}

int jaxvet_input_count(const jaxvet_program *program)
{
    return program ? program->nins : 0;
}

int jaxvet_output_count(const jaxvet_program *program)
{
    return program ? program->nouts : 0;
}

int jaxvet_size_count(const jaxvet_program *program)
{
    return program ? program->nsizes : 0;
}

const char *jaxvet_input_type(const jaxvet_program *program, int i)
{
    return program ? pick(program->in_types, program->nins, i) : NULL;
}

const char *jaxvet_output_type(const jaxvet_program *program, int i)
{
    return program ? pick(program->out_types, program->nouts, i) : NULL;
}

const char *jaxvet_input_path(const jaxvet_program *program, int i)
{
    return program ? pick_path(program->program->in_paths, program->nins, i)
                   : NULL;
}

const char *jaxvet_output_path(const jaxvet_program *program, int i)
{
    return program ? pick_path(program->program->out_paths, program->nouts, i)
                   : NULL;
}

const char *jaxvet_size_name(const jaxvet_program *program, int i)
{
    return i >= 0 && i < jaxvet_size_count(program) ? program->sizes[i]->name
                                                    : NULL;
}

const char *jaxvet_name(const jaxvet_program *program)
{
    const char *name = program ? program->program->name : NULL;

    return name ? name : "";
}

int jaxvet_input_alias(const jaxvet_program *program, int i)
{
    const jx_tree_entry *entry = program && i >= 0 && i < program->nins
                                     ? program->program->tree_entry
                                     : NULL;
    const jx_mlir_attr *output;

    if (!entry)
        return JAXVET_KEPT;
    output = jx_tree_argument(entry, i, "tf.aliasing_output");
    if (output && output->kind == JX_A_INTEGER && output->integer >= 0 &&
        output->integer < program->nouts)
        return (int)output->integer;
    return jx_tree_argument(entry, i, "jax.buffer_donor") ? JAXVET_ANY_OUTPUT
                                                          : JAXVET_KEPT;
}

/* ---- arguments and results of the module's function */

static const jx_tree_entry *entry_of(const jaxvet_program *program)
{
    return program ? program->program->tree_entry : NULL;
}

int jaxvet_argument_count(const jaxvet_program *program)
{
    const jx_tree_entry *entry = entry_of(program);

    return entry ? entry->nargs : jaxvet_input_count(program);
}

int jaxvet_argument_input(const jaxvet_program *program, int i)
{
    const jx_tree_entry *entry = entry_of(program);

    if (i < 0 || i >= jaxvet_argument_count(program))
        return -1;
    return entry ? entry->inputs[i] : i;
}

int jaxvet_result_count(const jaxvet_program *program)
{
    const jx_tree_entry *entry = entry_of(program);

    return entry ? entry->nresults : jaxvet_output_count(program);
}

int jaxvet_result_output(const jaxvet_program *program, int i)
{
    const jx_tree_entry *entry = entry_of(program);

    if (i < 0 || i >= jaxvet_result_count(program))
        return -1;
    return entry ? entry->outputs[i] : i;
}

/* Of a file of jax.export, what stands around its module, too. */
static bool put_info(jaxvet_program *p)
{
    const jx_exported *x = p->is_guest ? NULL : p->program->exported;
    jx_exported_info info;

    if (!x)
        return jx_program_info(p->program, true, &p->info);
    if (!jx_exported_info_of(p->ctx, p->program->path, x->file, x->size, true,
                             &info))
        return false;
    jx_exported_json(&info, &p->info);
    return true;
}

jaxvet_status jaxvet_info(jaxvet_program *program, const char **info,
                          jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(info, "where to put the information", error))
        return JAXVET_USAGE;
    *info = NULL;
    begin(program);
    if ((!jx_buffer_text(&program->info)[0] && !put_info(program)) ||
        !jx_ok(program->ctx)) {
        jx_buffer_clear(&program->info);
        return jx_api_hand_over(program->ctx, error);
    }
    *info = jx_buffer_text(&program->info);
    return JAXVET_OK;
}

/* A number that a double holds; -1 for one that depends on sizes. */
static double plain(const jx_dim *sum)
{
    const int64_t exact = (int64_t)1 << 53;
    int64_t value;

    return sum && jx_dim_is_int(sum, &value) && value <= exact ? (double)value
                                                                 : -1;
}

jaxvet_status jaxvet_costs(jaxvet_program *program, jaxvet_cost *cost,
                           jaxvet_error *error)
{
    const jx_typed *typed;
    jx_cost found;

    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(cost, "where to put the costs", error))
        return JAXVET_USAGE;
    if (cost->size < sizeof *cost) {
        jx_api_error(error, JAXVET_USAGE, NULL, NULL,
                     "expected costs with their size: jaxvet_cost cost = "
                     "{sizeof cost}");
        return JAXVET_USAGE;
    }
    begin(program);
    typed = jx_typed_of(program->program);
    if (!typed || !jx_cost_of(typed, &found))
        return jx_api_hand_over(program->ctx, error);
    cost->flops = plain(found.flops);
    cost->transcendentals = plain(found.transcendentals);
    cost->bytes = plain(found.moved);
    return JAXVET_OK;
}

static bool put_module(jaxvet_program *p)
{
    const jx_tree_entry *entry = p->is_guest ? NULL : p->program->tree_entry;
    const jx_mlir_op *module = entry ? entry->module : NULL;
    jx_mlir_print_how how = {.locations = true};

    if (!module) {
        jx_mlir_types *types = jx_mlir_types_new(p->ctx);
        const jx_typed *typed = types ? jx_typed_of(p->program) : NULL;
        module = typed ? jx_write_stablehlo(typed, types) : NULL;
    }
    return module && jx_mlir_print(p->ctx, module, how, &p->module);
}

jaxvet_status jaxvet_module(jaxvet_program *program, const char **text,
                            jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(text, "where to put the text", error))
        return JAXVET_USAGE;
    begin(program);
    jx_buffer_clear(&program->module);
    if (!put_module(program))
        return jx_api_hand_over(program->ctx, error);
    *text = jx_buffer_text(&program->module);
    return JAXVET_OK;
}

/* ---- checking */

static jaxvet_status status_of_report(const jx_report *report)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.at[i].level == JX_ERROR)
            return JAXVET_FINDINGS;
    return report->undecided.count ? JAXVET_UNDECIDED : JAXVET_OK;
}

void jaxvet_trust_embedded(jaxvet_program *program)
{
    if (program)
        program->trusts_embedded = true;
}

/* The report of one program; comments that suppress are those that it embeds,
 * if they are trusted.  Nothing is read from disk. */
static bool report_on(jx_ctx *keep, jx_report *report, jx_program *program,
                      bool trusts_embedded)
{
    const jx_check_options options = {.settle = {.suggest = true}};
    jx_suppressions *comments =
        jx_suppressions_new(keep, NULL, &options.selection);

    if (!comments)
        return false;
    if (trusts_embedded)
        jx_suppressions_trust_embedded(comments);
    jx_suppressions_begin(comments);
    return jx_check_report(keep, report, program, &options, comments) &&
           jx_suppressions_unused(comments, report, 1);
}

jaxvet_status jaxvet_check(jaxvet_program *program, const char **report,
                           jaxvet_error *error)
{
    jx_report found = {0};
    jaxvet_status status;
    jx_ctx *keep;
    bool done;

    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(report, "where to put the report", error))
        return JAXVET_USAGE;
    found.path = program->program->path;
    begin(program);
    keep = jx_ctx_below(program->ctx, 0);
    *report = NULL;
    jx_buffer_clear(&program->report);
    if (!keep)
        return jx_api_hand_over(program->ctx, error);
    done = report_on(keep, &found, program->program, program->trusts_embedded);
    if (done)
        jx_report_json(&(jx_report_list){1, &found, 0, NULL}, NULL,
                       &program->report);
    if (!done || !jx_ok(program->ctx)) {
        bool theirs = jx_ok(program->ctx) && !jx_ok(keep);
        status = jx_api_hand_over(theirs ? keep : program->ctx, error);
    } else {
        status = status_of_report(&found);
        *report = jx_buffer_text(&program->report);
    }
    jx_ctx_free(keep);
    return status;
}

/* ---- sizes, and running */

static bool refuse(jaxvet_error *error, const char *format, const char *name)
{
    char message[sizeof error->message];

    snprintf(message, sizeof message, format, name);
    jx_api_error(error, JAXVET_USAGE, NULL, NULL, message);
    return false;
}

/* Nothing is read that is not there, and each size has one value. */
static bool are_given(const jaxvet_size *sizes, int count, jaxvet_error *error)
{
    if (count > 0 && !jx_api_given(sizes, "sizes", error))
        return false;
    for (int i = 0; i < count; i++) {
        if (!jx_api_given(sizes[i].name, "the name of a size", error))
            return false;
        for (int k = 0; k < i; k++)
            if (!strcmp(sizes[k].name, sizes[i].name))
                return refuse(error, "the size '%s' is given twice",
                              sizes[i].name);
    }
    return true;
}

/* The variable of that name in the signature, or NULL. */
static const jx_dim_atom *size_named(const jaxvet_program *p,
                                     const char *name)
{
    for (int i = 0; i < p->nsizes; i++)
        if (!strcmp(p->sizes[i]->name, name))
            return p->sizes[i];
    return NULL;
}

/* One value per size of the signature, in `to`. */
static bool bind(const jaxvet_program *p, const jaxvet_size *sizes, int count,
                 jx_binding *to, jaxvet_error *error)
{
    if (!are_given(sizes, count, error))
        return false;
    for (int k = 0; k < count; k++)
        if (!size_named(p, sizes[k].name))
            return refuse(error, "the program has no size '%s'",
                          sizes[k].name);
    for (int i = 0; i < p->nsizes; i++) {
        int k = 0;
        while (k < count && strcmp(sizes[k].name, p->sizes[i]->name))
            k++;
        if (k == count)
            return refuse(error, "expected a value of size '%s'",
                          p->sizes[i]->name);
        to[i] = (jx_binding){p->sizes[i], sizes[k].value};
    }
    return true;
}

/* Values of some sizes of the signature, in `to`. */
static bool bind_some(const jaxvet_program *p, const jaxvet_size *sizes,
                      int count, jx_binding *to, jaxvet_error *error)
{
    if (!are_given(sizes, count, error))
        return false;
    for (int i = 0; i < count; i++) {
        to[i] = (jx_binding){size_named(p, sizes[i].name), sizes[i].value};
        if (!to[i].var)
            return refuse(error, "the program has no size '%s'",
                          sizes[i].name);
    }
    return true;
}

/* What inputs have to say at these sizes.  False without memory. */
static bool decide(const jaxvet_program *p, int count,
                   const jx_binding *bindings, int *nsaid, const said **to)
{
    const jx_program *program = p->program;
    said *all = JX_NEW_ARRAY(p->ctx->arena, p->nsaid + program->nvalued, said);
    int n = 0;

    for (int i = 0; all && i < p->nsaid; i++)
        all[n++] = p->said[i];
    for (int i = 0; all && i < program->nvalued; i++)
        for (int k = 0; k < count; k++)
            if (bindings[k].var == program->valued[i].var)
                all[n++] = (said){program->valued[i].input,
                                  program->valued[i].element,
                                  (int64_t)bindings[k].value,
                                  bindings[k].var->name};
    *nsaid = n;
    *to = all;
    return all != NULL;
}

/* A program of its own in the context of `program`, if there is one. */
static jaxvet_program *guest(jaxvet_program *program, jx_program *made,
                             jaxvet_error *error)
{
    jaxvet_program *p = calloc(1, sizeof *p);

    if (!p) {
        jx_api_starved(error);
        return NULL;
    }
    p->ctx = program->ctx;
    p->report = p->info = p->module = jx_ctx_text(p->ctx);
    p->handlers = program->handlers;
    p->is_guest = true;
    return opened(p, made, error);
}

jaxvet_program *jaxvet_vjp(jaxvet_program *program, int order,
                           jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error))
        return NULL;
    if (order < 1) {
        refuse(error, "expected an order from %s", "1");
        return NULL;
    }
    begin(program);
    return guest(program, jx_input_vjp(program->program, order), error);
}

jaxvet_program *jaxvet_refine(jaxvet_program *program,
                              const jaxvet_size *sizes, int count,
                              jaxvet_error *error)
{
    size_t n = count > 0 ? (size_t)count : 0;
    jx_binding *bindings = NULL;
    jaxvet_program *refined = NULL;

    if (!jx_api_given(program, "a program", error))
        return NULL;
    bindings = calloc(n + 1, sizeof *bindings);
    begin(program);
    if (!bindings) {
        jx_api_starved(error);
    } else if (bind_some(program, sizes, (int)n, bindings, error)) {
        refined = guest(program, jx_program_refine(program->program, NULL,
                                                   (int)n, bindings), error);
        if (refined && !decide(program, (int)n, bindings, &refined->nsaid,
                               &refined->said)) {
            jx_api_hand_over(program->ctx, error);
            jaxvet_close(refined);
            refined = NULL;
        }
    }
    free(bindings);
    return refined;
}

/* The place of a size in the signature. */
static int column_of(const jaxvet_program *p, const jx_dim_atom *var)
{
    int k = 0;

    while (k < p->nsizes && p->sizes[k] != var)
        k++;
    return k;
}

/* The rows of a choice in the order of the signature's sizes. */
static const int64_t *in_order(const jaxvet_program *p, const jx_choice *from)
{
    int64_t *to = jx_arena_array(
        p->ctx->arena, (size_t)from->count * (size_t)p->nsizes + 1, sizeof *to);

    for (int i = 0; to && i < from->count; i++)
        for (int k = 0; k < from->nvars; k++)
            to[i * p->nsizes + column_of(p, from->vars[k])] =
                from->values[i * from->nvars + k];
    return to;
}

int jaxvet_sizes(jaxvet_program *program, int most, const int64_t **values,
                 jaxvet_error *error)
{
    jx_choice found;

    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(values, "where to put the values", error))
        return -1;
    begin(program);
    if (most < 1) {
        refuse(error, "expected to be asked for at least one %s",
               "assignment");
        return -1;
    }
    if (!jx_choose_sizes(program->program, most, &found) ||
        !(*values = in_order(program, &found))) {
        jx_api_hand_over(program->ctx, error);
        return -1;
    }
    return found.count;
}

static jaxvet_layout layout(const jx_port *port)
{
    const jx_aval *aval = port->aval;
    const char *name = aval->kind == JX_AVAL_ARRAY && aval->impl
                           ? aval->impl
                           : jx_dtype_of(aval->dtype)->short_name;

    return (jaxvet_layout){name, port->rank, port->shape, port->bytes};
}

jaxvet_status jaxvet_program_handlers(jaxvet_program *program,
                                      const jaxvet_handlers *handlers,
                                      jaxvet_error *error)
{
    jaxvet_handlers *kept = NULL;

    if (!jx_api_given(program, "a program", error))
        return JAXVET_USAGE;
    if (handlers && (handlers->size < sizeof *handlers || !handlers->knows ||
                     !handlers->run)) {
        refuse(error, "expected %s with their size, and the functions knows and run",
               "handlers");
        return JAXVET_USAGE;
    }
    if (handlers) {
        begin(program);
        kept = jx_arena_copy(program->ctx->arena, handlers, sizeof *kept);
        if (!kept)
            return jx_api_hand_over(program->ctx, error);
    }
    program->handlers = kept;
    return JAXVET_OK;
}

/* The layouts of all inputs and outputs; false without memory. */
static bool describe(jaxvet_call *call)
{
    int nins = jx_plan_nins(call->plan), nouts = jx_plan_nouts(call->plan);

    call->ins = calloc((size_t)nins + 1, sizeof *call->ins);
    call->outs = calloc((size_t)nouts + 1, sizeof *call->outs);
    if (!call->ins || !call->outs)
        return false;
    for (int i = 0; i < nins; i++)
        call->ins[i] = layout(jx_plan_in(call->plan, i));
    for (int i = 0; i < nouts; i++)
        call->outs[i] = layout(jx_plan_out(call->plan, i));
    return true;
}

static bool make_call(jaxvet_program *p, const jx_binding *bindings,
                      jaxvet_call *call)
{
    jx_plan_options options = {
        .domain = JX_DECLARED,
        .nbindings = p->nsizes,
        .bindings = bindings,
        .handlers = p->handlers,
    };

    const jx_typed *typed;

    if (!jx_plan_admit(p->program, p->nsizes, bindings))
        return false;
    typed = jx_program_at(p->program, p->nsizes, bindings);
    if (!typed)
        return false;
    call->plan = jx_plan_make(typed, &typed->program->entry, &options);
    if (!call->plan)
        return false;
    call->exec = jx_exec_new(call->plan);
    if (!call->exec)
        return false;
    if (!describe(call))
        return jx_starved(p->ctx);
    return decide(p, p->nsizes, bindings, &call->nsaid, &call->said);
}

jaxvet_call *jaxvet_prepare(jaxvet_program *program, const jaxvet_size *sizes,
                            int count, jaxvet_error *error)
{
    jaxvet_call *call;
    jx_binding *bindings;
    bool ok = false;

    if (!jx_api_given(program, "a program", error))
        return NULL;
    call = calloc(1, sizeof *call);
    if (call)
        call->program = program;
    bindings = calloc((size_t)program->nsizes + 1, sizeof *bindings);
    begin(program);
    if (!call || !bindings) {
        jx_api_starved(error);
    } else if (bind(program, sizes, count, bindings, error)) {
        ok = make_call(program, bindings, call);
        if (!ok)
            jx_api_hand_over(program->ctx, error);
    }
    free(bindings);
    if (ok)
        return call;
    jaxvet_call_free(call);
    return NULL;
}

void jaxvet_call_free(jaxvet_call *call)
{
    if (!call)
        return;
    jx_exec_free(call->exec);
    if (!call->is_copy) {
        jx_plan_free(call->plan);
        free(call->ins);
        free(call->outs);
    }
    free(call);
}

jaxvet_call *jaxvet_call_copy(const jaxvet_call *call, jaxvet_error *error)
{
    jaxvet_call *copy;

    if (!jx_api_given(call, "a call", error))
        return NULL;
    copy = malloc(sizeof *copy);
    if (!copy) {
        jx_api_starved(error);
        return NULL;
    }
    *copy = *call;
    copy->is_copy = true;
    copy->exec = jx_exec_new(call->plan);
    if (copy->exec)
        return copy;
    jx_api_hand_over(call->program->ctx, error);
    free(copy);
    return NULL;
}

size_t jaxvet_call_memory(const jaxvet_call *call)
{
    return call ? jx_plan_memory(call->plan) : 0;
}

const jaxvet_layout *jaxvet_call_input(const jaxvet_call *call, int i)
{
    return call && i >= 0 && i < jx_plan_nins(call->plan) ? &call->ins[i]
                                                          : NULL;
}

const jaxvet_layout *jaxvet_call_output(const jaxvet_call *call, int i)
{
    return call && i >= 0 && i < jx_plan_nouts(call->plan) ? &call->outs[i]
                                                           : NULL;
}

/* Results at other sizes than those that the inputs say would be wrong. */
static bool say_the_sizes(const jaxvet_call *call, const void *const *inputs,
                          jaxvet_error *error)
{
    char message[sizeof error->message];

    for (int i = 0; i < call->nsaid; i++) {
        const said *s = &call->said[i];
        const jx_port *port = jx_plan_in(call->plan, s->input);
        size_t at = (size_t)s->element * jx_dtype_of(port->dtype)->bytes;
        int64_t value;

        if (s->element < port->count) {
            jx_convert(port->dtype, JX_I64,
                       (const char *)inputs[s->input] + at, &value, 1);
            if (value == s->value)
                continue;
            snprintf(message, sizeof message,
                     "element %d of input %d is the size '%s': it is %lld, and "
                     "the call was prepared for %lld",
                     s->element, s->input, s->size, (long long)value,
                     (long long)s->value);
        } else {
            snprintf(message, sizeof message,
                     "input %d has no element %d, which is the size '%s'",
                     s->input, s->element, s->size);
        }
        jx_api_error(error, JAXVET_INPUT, NULL, NULL, message);
        return false;
    }
    return true;
}

/* A buffer for each of `count` arrays that has elements. */
static bool have_buffers(int count, const jaxvet_layout *arrays,
                         const void *const *buffers, const char *what,
                         jaxvet_error *error)
{
    if (count && !jx_api_given(buffers, what, error))
        return false;
    for (int i = 0; i < count; i++)
        if (arrays[i].bytes && !jx_api_given(buffers[i], what, error))
            return false;
    return true;
}

/* Why the last run failed. */
static jaxvet_status tell_failure(const jaxvet_call *call, jaxvet_error *error)
{
    const jaxvet_error *host = jx_exec_host_error(call->exec);
    jaxvet_status status =
        jx_exec_gave_up(call->exec) ? JAXVET_LIMIT : JAXVET_INPUT;

    if (host)
        jx_api_error(error, host->status, host->file, host->place,
                     host->message);
    else
        jx_api_error(error, status, NULL, NULL, jx_exec_error(call->exec));
    return host ? host->status : status;
}

jaxvet_status jaxvet_run(jaxvet_call *call, const void *const *inputs,
                         void *const *outputs, jaxvet_error *error)
{
    return jaxvet_run_with(call, inputs, outputs, NULL, error);
}

jaxvet_status jaxvet_run_with(jaxvet_call *call, const void *const *inputs,
                              void *const *outputs, void *context,
                              jaxvet_error *error)
{
    if (!jx_api_given(call, "a call", error) ||
        !have_buffers(jx_plan_nins(call->plan), call->ins, inputs,
                      "a pointer per input", error) ||
        !have_buffers(jx_plan_nouts(call->plan), call->outs,
                      (const void *const *)outputs, "a pointer per output",
                      error))
        return JAXVET_USAGE;
    if (!say_the_sizes(call, inputs, error))
        return JAXVET_INPUT;
    jx_exec_restart(call->exec);
    jx_exec_context(call->exec, context);
    return jx_exec_run(call->exec, inputs, outputs) ? JAXVET_OK
                                                    : tell_failure(call, error);
}
