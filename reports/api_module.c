/* api_module.c - of jaxvet.h, what a backend asks of a module. */
#include "reports/api_program.h"

#include "analyzer/cost.h"
#include "analyzer/transform/summands.h"
#include "analyzer/typing.h"
#include "frontend/ir/signature.h"
#include "frontend/mlir/print.h"
#include "frontend/read/meshes.h"
#include "frontend/read/sharding_flow.h"
#include "frontend/read/stablehlo.h"
#include "frontend/write/stablehlo.h"

#include <limits.h>
#include <stdio.h>

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

static jaxvet_status memory_of(jaxvet_program *p, const jx_mlir_attr *said,
                               const char **kind, jaxvet_error *error)
{
    *kind = NULL;
    if (!said || said->kind != JX_A_STRING)
        return JAXVET_OK;
    *kind = jx_mlir_text(p->ctx, said);
    return *kind ? JAXVET_OK : jx_api_hand_over(p->ctx, error);
}

/* Whether there is something to ask about and where to put it. */
static bool may_ask(const jaxvet_program *program, const char **kind,
                    bool is_there, jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(kind, "where to put the kind of memory", error))
        return false;
    if (is_there)
        jx_api_begin(program);
    else
        jx_api_error(error, JAXVET_USAGE, NULL, NULL,
                     "there is no input or output of that number");
    return is_there;
}

jaxvet_status jaxvet_input_memory(jaxvet_program *program, int i,
                                  const char **kind, jaxvet_error *error)
{
    const jx_tree_entry *entry;

    if (!may_ask(program, kind, program && i >= 0 && i < program->nins, error))
        return JAXVET_USAGE;
    entry = program->program->tree_entry;
    return memory_of(
        program, entry ? jx_tree_argument(entry, i, "mhlo.memory_kind") : NULL,
        kind, error);
}

jaxvet_status jaxvet_output_memory(jaxvet_program *program, int i,
                                   const char **kind, jaxvet_error *error)
{
    const jx_tree_entry *entry;

    if (!may_ask(program, kind, program && i >= 0 && i < program->nouts, error))
        return JAXVET_USAGE;
    entry = program->program->tree_entry;
    return memory_of(
        program, entry ? jx_tree_result(entry, i, "mhlo.memory_kind") : NULL,
        kind, error);
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

/* ---- how arrays lie on devices */

int jaxvet_device_count(const jaxvet_program *program)
{
    int64_t devices = program ? program->program->devices : 0;

    if (devices < 1)
        return 1;
    return devices < INT_MAX ? (int)devices : INT_MAX;
}

static jaxvet_status refuse_sharding(const char *what, int i, const char *why,
                                     jaxvet_error *error)
{
    char message[sizeof error->message];

    snprintf(message, sizeof message, "%s %d: %s", what, i, why);
    jx_api_error(error, JAXVET_INPUT, NULL, NULL, message);
    return JAXVET_INPUT;
}

/* Each axis falls into parts of one size. */
static bool divides(const jx_aval *aval, const jx_placement *placed)
{
    int64_t size;

    for (int i = 0; i < placed->rank; i++)
        if (!jx_dim_is_int(aval->shape[i], &size) || size % placed->parts[i])
            return false;
    return true;
}

static jaxvet_status sharding_of(jaxvet_program *p, const jx_mlir_attr *said,
                                 const jx_aval *aval, const char *what, int i,
                                 const jaxvet_sharding **to,
                                 jaxvet_error *error)
{
    int counts = p->has_summands && said && jx_mesh_is_summed(said);
    jaxvet_sharding *made;
    jx_placement placed;
    const char *why;

    *to = NULL;
    if (!said)
        return JAXVET_OK;
    if (jx_mesh_is_summed(said) && !p->has_summands)
        return refuse_sharding(what, i,
                               "a sharding of parts that are to be added up "
                               "(unreduced axes)",
                               error);
    if (!jx_mesh_place(p->ctx, p->program->tree_entry->module, said,
                       aval->rank - counts, jaxvet_device_count(p), &placed,
                       &why))
        return jx_ok(p->ctx) ? refuse_sharding(what, i, why, error)
                             : jx_api_hand_over(p->ctx, error);
    if (!divides(aval, &placed))
        return refuse_sharding(what, i, "a sharding into unequal parts", error);
    made = JX_NEW(p->ctx->arena, jaxvet_sharding);
    if (!made)
        return jx_api_hand_over(p->ctx, error);
    *made = (jaxvet_sharding){placed.rank, placed.devices, placed.parts,
                              placed.place, placed.is_summed};
    *to = made;
    return JAXVET_OK;
}

typedef const jx_mlir_attr *attribute_of(const jx_tree_entry *entry, int i,
                                         const char *name);

/* What the module says of an argument's or a result's sharding, or NULL. */
static const jx_mlir_attr *said_of(attribute_of *of, const jx_tree_entry *entry,
                                   int i)
{
    const jx_mlir_attr *said = of(entry, i, "sdy.sharding");

    return said ? said : of(entry, i, "mhlo.sharding");
}

jaxvet_status jaxvet_input_sharding(jaxvet_program *program, int i,
                                    const jaxvet_sharding **sharding,
                                    jaxvet_error *error)
{
    const jx_tree_entry *entry = entry_of(program);
    const jx_mlir_attr *said;

    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(sharding, "where to put the sharding", error))
        return JAXVET_USAGE;
    if (i < 0 || i >= program->nins)
        return refuse_sharding("input", i, "there is none", error);
    jx_api_begin(program);
    *sharding = NULL;
    if (!entry)
        return JAXVET_OK;
    said = said_of(jx_tree_argument, entry, i);
    return sharding_of(program, said, jx_input_aval(program->program, i),
                       "input", i, sharding, error);
}

/* One that is free lies as what it is made of does, as far as
 * that can be said. */
static jaxvet_status find_sharding(jaxvet_program *p,
                                   const jx_tree_entry *entry, int i,
                                   const jx_aval *aval,
                                   const jaxvet_sharding **to,
                                   jaxvet_error *error)
{
    if (!p->found_shardings)
        p->found_shardings = jx_sharding_flow(
            p->ctx, entry->module, entry->func, entry->nresults, NULL, NULL);
    if (!p->found_shardings)
        return jx_api_hand_over(p->ctx, error);
    for (int k = 0; k < entry->nresults; k++)
        if (entry->outputs[k] == i && p->found_shardings[k] &&
            sharding_of(p, p->found_shardings[k], aval, "output", i, to,
                        NULL) != JAXVET_OK)
            *to = NULL;
    return JAXVET_OK;
}

jaxvet_status jaxvet_output_sharding(jaxvet_program *program, int i,
                                     const jaxvet_sharding **sharding,
                                     jaxvet_error *error)
{
    const jx_tree_entry *entry = entry_of(program);
    const jx_mlir_attr *said;
    const jx_aval *aval;

    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(sharding, "where to put the sharding", error))
        return JAXVET_USAGE;
    if (i < 0 || i >= program->nouts)
        return refuse_sharding("output", i, "there is none", error);
    jx_api_begin(program);
    *sharding = NULL;
    if (!entry)
        return JAXVET_OK;
    aval = jx_atom_aval(program->program->entry.jaxpr->outs[i]);
    said = said_of(jx_tree_result, entry, i);
    if (said)
        return sharding_of(program, said, aval, "output", i, sharding, error);
    return find_sharding(program, entry, i, aval, sharding, error);
}

/* How many summands an array has; 0: it is not cut into any.  What is wrong
 * with its sharding is told when that is asked for. */
static int64_t summands_of(jaxvet_program *p, const jx_mlir_attr *said,
                           const jx_aval *aval)
{
    jx_placement placed;
    const char *why;

    return said && jx_mesh_is_summed(said) &&
                   jx_mesh_place(p->ctx, p->program->tree_entry->module, said,
                                 aval->rank, jaxvet_device_count(p), &placed,
                                 &why)
               ? placed.parts[0]
               : 0;
}

jaxvet_status jaxvet_program_summands(jaxvet_program *p, jaxvet_error *error)
{
    const jx_tree_entry *entry = entry_of(p);
    jx_program *made = NULL;
    int64_t *ins, *outs;
    bool any = false;

    if (!jx_api_given(p, "a program", error))
        return JAXVET_USAGE;
    jx_api_begin(p);
    if (!entry || p->has_summands || p->program->written)
        return JAXVET_OK;
    ins = JX_NEW_ARRAY(p->ctx->arena, p->nins, int64_t);
    outs = JX_NEW_ARRAY(p->ctx->arena, p->nouts, int64_t);
    for (int i = 0; ins && outs && i < p->nins; i++)
        any |= (ins[i] = summands_of(p, said_of(jx_tree_argument, entry, i),
                                     jx_input_aval(p->program, i))) > 0;
    for (int i = 0; ins && outs && i < p->nouts; i++)
        any |= (outs[i] = summands_of(
                    p, said_of(jx_tree_result, entry, i),
                    jx_atom_aval(p->program->entry.jaxpr->outs[i]))) > 0;
    if (ins && outs && any)
        made = jx_program_summands(p->program, ins, outs);
    if (!ins || !outs || (any && !made))
        return jx_api_hand_over(p->ctx, error);
    p->has_summands = true;
    if (!any)
        return JAXVET_OK;
    p->program = made;
    return jx_api_read_signature(p) ? JAXVET_OK
                                    : jx_api_hand_over(p->ctx, error);
}

/* ---- costs, and the text */

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
    jx_api_begin(program);
    typed = jx_typed_of(program->program);
    if (!typed || !jx_cost_of(typed, &found))
        return jx_api_hand_over(program->ctx, error);
    cost->flops = plain(found.flops);
    cost->transcendentals = plain(found.transcendentals);
    cost->bytes = plain(found.moved);
    return JAXVET_OK;
}

/* What the program is lowered to, without constraints on shardings; NULL
 * with an error. */
static const jx_mlir_op *lowered(jaxvet_program *p)
{
    jx_mlir_types *types = jx_mlir_types_new(p->ctx);
    const jx_typed *typed = types ? jx_typed_of(p->program) : NULL;

    return typed ? jx_write_stablehlo_unlaid(typed, types) : NULL;
}

/* Of several devices what is run is shown, if that can be lowered: constraints
 * on shardings who asks may not know. */
static bool put_module(jaxvet_program *p, bool locations)
{
    const jx_tree_entry *entry = p->is_guest ? NULL : p->program->tree_entry;
    const jx_mlir_op *module = entry ? entry->module : NULL, *run;
    jx_mlir_print_how how = {.locations = locations};

    if (!module || jaxvet_device_count(p) > 1) {
        run = lowered(p);
        if (!run && module)
            jx_error_clear(p->ctx);
        module = run ? run : module;
    }
    return module && jx_mlir_print(p->ctx, module, how, &p->module);
}

jaxvet_status jaxvet_module(jaxvet_program *program, int locations,
                            const char **text, jaxvet_error *error)
{
    if (!jx_api_given(program, "a program", error) ||
        !jx_api_given(text, "where to put the text", error))
        return JAXVET_USAGE;
    jx_api_begin(program);
    jx_buffer_clear(&program->module);
    if (!put_module(program, locations != 0))
        return jx_api_hand_over(program->ctx, error);
    *text = jx_buffer_text(&program->module);
    return JAXVET_OK;
}
