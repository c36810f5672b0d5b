/* api_run.c - of jaxvet.h, programs at sizes, and running them. */
#include "reports/api_program.h"

#include "analyzer/transform/refine.h"
#include "frontend/ir/signature.h"
#include "prover/choose.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/transforms.h"
#include "runtime/elementwise.h"
#include "runtime/fits.h"
#include "runtime/host.h"
#include "runtime/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static const jx_dim_atom *size_named(const jaxvet_program *p, const char *name)
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
            return refuse(error, "the program has no size '%s'", sizes[k].name);
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
            return refuse(error, "the program has no size '%s'", sizes[i].name);
    }
    return true;
}

/* What inputs have to say at these sizes.  False without memory. */
static bool decide(const jaxvet_program *p, int count,
                   const jx_binding *bindings, int *nsaid,
                   const jx_said_size **to)
{
    const jx_program *program = p->program;
    jx_said_size *all =
        JX_NEW_ARRAY(p->ctx->arena, p->nsaid + program->nvalued, jx_said_size);
    int n = 0;

    for (int i = 0; all && i < p->nsaid; i++)
        all[n++] = p->said[i];
    for (int i = 0; all && i < program->nvalued; i++)
        for (int k = 0; k < count; k++)
            if (bindings[k].var == program->valued[i].var)
                all[n++] = (jx_said_size){
                    program->valued[i].input, program->valued[i].element,
                    (int64_t)bindings[k].value, bindings[k].var->name};
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
    return jx_api_opened(p, made, error);
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
    jx_api_begin(program);
    return guest(program, jx_input_vjp(program->program, order), error);
}

jaxvet_program *jaxvet_transform(jaxvet_program *program, const char *how,
                                 jaxvet_error *error)
{
    const jx_texts lists = {.at = {how}, .count = 1};
    jaxvet_program *made;

    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(how, "a transform", error))
        return NULL;
    jx_api_begin(program);
    if (jx_transforms_ask(&lists, "set")) {
        refuse(error, "sizes are given by %s", "jaxvet_refine()");
        return NULL;
    }
    made =
        guest(program, jx_program_transformed(program->program, &lists, false),
              error);
    if (made) {
        made->nsaid = program->nsaid;
        made->said = program->said;
    }
    return made;
}

jaxvet_program *jaxvet_refine(jaxvet_program *program, const jaxvet_size *sizes,
                              int count, jaxvet_error *error)
{
    size_t n = count > 0 ? (size_t)count : 0;
    jx_binding *bindings = NULL;
    jaxvet_program *refined = NULL;

    if (!jx_api_given(program, "a program", error))
        return NULL;
    bindings = calloc(n + 1, sizeof *bindings);
    jx_api_begin(program);
    if (!bindings) {
        jx_api_starved(error);
    } else if (bind_some(program, sizes, (int)n, bindings, error)) {
        refined = guest(
            program,
            jx_program_refine(program->program, NULL, (int)n, bindings), error);
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
    jx_api_begin(program);
    if (most < 1) {
        refuse(error, "expected to be asked for at least one %s", "assignment");
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
        refuse(error,
               "expected %s with their size, and the functions knows and run",
               "handlers");
        return JAXVET_USAGE;
    }
    if (handlers) {
        jx_api_begin(program);
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
                      unsigned kinds, jaxvet_call *call)
{
    jx_plan_options options = {
        .domain = JX_DECLARED,
        .nbindings = p->nsizes,
        .bindings = bindings,
        .handlers = p->handlers,
    };

    const jx_typed *typed = NULL;

    if (!jx_plan_admit(p->program, p->nsizes, bindings))
        return false;
    if (!kinds)
        typed = jx_program_at(p->program, p->nsizes, bindings);
    if (typed)
        call->plan = jx_plan_make(typed, &typed->program->entry, &options);
    if (kinds ? !jx_api_sanitize(call, bindings, kinds) : !call->plan)
        return false;
    call->exec = jx_exec_new(call->plan);
    if (!call->exec)
        return false;
    if (!describe(call))
        return jx_starved(p->ctx);
    return decide(p, p->nsizes, bindings, &call->nsaid, &call->said);
}

static jaxvet_call *prepare(jaxvet_program *program, const jaxvet_size *sizes,
                            int count, unsigned kinds, jaxvet_error *error)
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
    jx_api_begin(program);
    if (!call || !bindings) {
        jx_api_starved(error);
    } else if (bind(program, sizes, count, bindings, error)) {
        ok = make_call(program, bindings, kinds, call);
        if (!ok)
            jx_api_hand_over(program->ctx, error);
    }
    free(bindings);
    if (ok)
        return call;
    jaxvet_call_free(call);
    return NULL;
}

jaxvet_call *jaxvet_prepare(jaxvet_program *program, const jaxvet_size *sizes,
                            int count, jaxvet_error *error)
{
    return prepare(program, sizes, count, 0, error);
}

jaxvet_call *jaxvet_prepare_sanitized(jaxvet_program *program,
                                      const jaxvet_size *sizes, int count,
                                      unsigned kinds, jaxvet_error *error)
{
    const unsigned all = JAXVET_SANITIZE_NAN | JAXVET_SANITIZE_OOB |
                         JAXVET_SANITIZE_WRAP | JAXVET_SANITIZE_DIGITS;

    if (!kinds || kinds & ~all) {
        refuse(error, "expected a sum of %s", "JAXVET_SANITIZE_...");
        return NULL;
    }
    return prepare(program, sizes, count, kinds, error);
}

void jaxvet_call_free(jaxvet_call *call)
{
    if (!call)
        return;
    jx_exec_free(call->exec);
    jx_api_found_free(call->found);
    if (!call->is_copy) {
        if (call->sanitizer)
            jx_sanitizer_free(call->sanitizer);
        else
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
    copy->found = NULL;
    copy->exec = jx_exec_new(call->plan);
    if (copy->exec)
        return copy;
    jx_api_hand_over(call->program->ctx, error);
    free(copy);
    return NULL;
}

struct jaxvet_helper {
    jx_pool *pool;
};

jaxvet_helper *jaxvet_helper_new(jaxvet_error *error)
{
    jaxvet_helper *helper = malloc(sizeof *helper);
    jx_pool *pool = helper ? jx_pool_new() : NULL;

    if (!pool) {
        free(helper);
        jx_api_starved(error);
        return NULL;
    }
    helper->pool = pool;
    return helper;
}

void jaxvet_helper_free(jaxvet_helper *helper)
{
    if (helper)
        jx_pool_free(helper->pool);
    free(helper);
}

void jaxvet_call_help(jaxvet_call *call, jaxvet_helper *helper)
{
    if (call)
        jx_exec_share(call->exec, helper ? helper->pool : NULL);
}

size_t jaxvet_call_memory(const jaxvet_call *call)
{
    return call ? jx_plan_memory(call->plan) : 0;
}

int jaxvet_call_lends(const jaxvet_call *call, int input, int output)
{
    return call && !call->sanitizer && input >= 0 &&
           input < jx_plan_nins(call->plan) && output >= 0 &&
           output < jx_plan_nouts(call->plan) &&
           jx_plan_lends(call->plan, input, output);
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
        const jx_said_size *s = &call->said[i];
        const jx_port *port = jx_plan_in(call->plan, s->input);
        size_t at = (size_t)s->element * jx_dtype_of(port->dtype)->bytes;
        int64_t value;

        if (s->element < port->count) {
            jx_convert(port->dtype, JX_I64, (const char *)inputs[s->input] + at,
                       &value, 1);
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
    if (call->sanitizer)
        return jx_api_run_sanitized(call, inputs, outputs, context, error);
    jx_exec_context(call->exec, context);
    return jx_exec_run(call->exec, inputs, outputs)
               ? JAXVET_OK
               : jx_api_tell_failure(call, error);
}
