/* program_info.c - see program_info.h. */
#include "reports/formats/program_info.h"

#include "analyzer/typing.h"
#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "frontend/base/vec.h"
#include "frontend/ir/params.h"
#include "frontend/ir/signature.h"
#include "reports/formats/blackbox.h"
#include "reports/formats/costs.h"
#include "reports/formats/reshards.h"
#include "reports/pipeline/checks.h"
#include "reports/pipeline/sizes.h"

#include <stdlib.h>
#include <string.h>

/* A primitive and how often it is written. */
typedef struct tally {
    const char *name;
    bool known;
    int64_t count;
} tally;

typedef JX_VEC(tally *) tally_list;

typedef struct summary {
    const jx_program *program;
    int64_t equations;
    int jaxprs, of_primitives;    /* these are rules of its own primitives */
    JX_VEC(tally) prims;          /* by count, then name */
    JX_VEC(const char *) effects; /* sorted */
    JX_VEC(const jx_dim_atom *) vars; /* symbolic sizes, by name and scope */
    int64_t constant_bytes;
    int patterns; /* of all rules */
    jx_cost cost;
    jx_reshards reshards;
} summary;

static int compare_tallies(const void *a_, const void *b_)
{
    const tally *a = a_, *b = b_;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_vars(const void *a_, const void *b_)
{
    const jx_dim_atom *a = *(const jx_dim_atom *const *)a_;
    const jx_dim_atom *b = *(const jx_dim_atom *const *)b_;
    int c = strcmp(a->name, b->name);

    return c ? c : (a->scope > b->scope) - (a->scope < b->scope);
}

static bool same_tally(const void *kept, const void *key)
{
    return strcmp(((const tally *)kept)->name, key) == 0;
}

static void count_effects(summary *s, jx_ctx *ctx, const jx_effects *effects)
{
    for (int i = 0; i < effects->count; i++) {
        size_t k = 0;
        while (k < s->effects.count &&
               strcmp(s->effects.at[k], effects->at[i].type) != 0)
            k++;
        if (k == s->effects.count)
            JX_PUSH(ctx->arena, &s->effects, effects->at[i].type);
    }
}

static bool count_equation(summary *s, jx_ctx *ctx, jx_intern *seen,
                           tally_list *all, const jx_eqn *eqn)
{
    const char *name = jx_eqn_name(eqn);
    uint64_t hash = jx_hash_bytes(name, strlen(name));
    tally *kept =
        (tally *)(uintptr_t)jx_intern_find(seen, hash, name, same_tally);

    s->equations++;
    if (!kept) {
        kept = JX_NEW(ctx->arena, tally);
        if (!kept)
            return false;
        *kept = (tally){name, true, 0};
        jx_intern_add(seen, hash, kept);
        JX_PUSH(ctx->arena, all, kept);
    }
    kept->known &= !jx_eqn_is_unknown(eqn);
    kept->count++;
    return true;
}

/* Equations as they are written: a jaxpr that is called twice counts once, one
 * that is only shown, or a rule of a primitive, not at all. */
static bool count_equations(summary *s, jx_ctx *ctx)
{
    const bool *meant = jx_program_meant(s->program);
    const bool *written = jx_program_counted(s->program);
    jx_intern seen;
    tally_list all = {0};

    jx_intern_init(&seen, ctx->arena);
    for (int j = 0; meant && written && j < s->program->njaxprs; j++) {
        const jx_jaxpr *jaxpr = s->program->jaxprs[j];
        s->of_primitives += meant[j] && !written[j];
        if (!written[j])
            continue;
        s->jaxprs++;
        count_effects(s, ctx, &jaxpr->effects);
        for (int i = 0; i < jaxpr->neqns; i++)
            if (!count_equation(s, ctx, &seen, &all, &jaxpr->eqns[i]))
                return false;
    }
    for (size_t i = 0; i < all.count; i++)
        JX_PUSH(ctx->arena, &s->prims, *all.at[i]);
    return jx_ok(ctx);
}

static void add_vars(summary *s, jx_ctx *ctx, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->program->dims, dim, &count);

    for (int i = 0; vars && i < count; i++) {
        size_t k = 0;
        while (k < s->vars.count && s->vars.at[k] != vars[i])
            k++;
        if (k == s->vars.count)
            JX_PUSH(ctx->arena, &s->vars, vars[i]);
    }
}

/* The variables of the inputs and of the constraints. */
static void collect_vars(summary *s, jx_ctx *ctx)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_input_vars(s->program, &count);

    for (int i = 0; vars && i < count; i++)
        JX_PUSH(ctx->arena, &s->vars, vars[i]);
    for (int i = 0; i < s->program->nscopes; i++)
        for (int k = 0; k < s->program->scopes[i].nconstraints; k++) {
            add_vars(s, ctx, s->program->scopes[i].constraints[k].lhs);
            add_vars(s, ctx, s->program->scopes[i].constraints[k].rhs);
        }
}

static int64_t bytes_of(const jx_array *array)
{
    int64_t count, bytes;

    if (!array->splat)
        return (int64_t)array->bytes;
    if (!jx_aval_elements(array->aval, &count) ||
        __builtin_mul_overflow(count, (int64_t)array->bytes, &bytes))
        return INT64_MAX;
    return bytes;
}

static void count_constants(summary *s)
{
    for (int i = 0; i < s->program->narrays; i++)
        if (__builtin_add_overflow(s->constant_bytes,
                                   bytes_of(s->program->arrays[i]),
                                   &s->constant_bytes))
            s->constant_bytes = INT64_MAX;
}

static bool summarize(summary *s, jx_ctx *ctx)
{
    if (!count_equations(s, ctx))
        return false;
    collect_vars(s, ctx);
    count_constants(s);
    for (int i = 0; i < s->program->nrules; i++)
        s->patterns += s->program->rules[i]->npatterns;
    if (s->prims.count)
        qsort(s->prims.at, s->prims.count, sizeof *s->prims.at,
              compare_tallies);
    if (s->effects.count)
        qsort(s->effects.at, s->effects.count, sizeof *s->effects.at,
              compare_names);
    if (s->vars.count)
        qsort(s->vars.at, s->vars.count, sizeof *s->vars.at, compare_vars);
    return jx_ok(ctx);
}

/* Text. */

static void put_path(jx_buffer *to, const char *const *paths, int i,
                     const char *otherwise)
{
    if (paths && paths[i] && *paths[i])
        jx_utf8_show(paths[i], to);
    else
        jx_buffer_printf(to, "%s%d", otherwise, i);
}

static void put_signature(jx_buffer *to, const jx_program *program)
{
    const jx_jaxpr *jaxpr = program->entry.jaxpr;

    for (int i = 0; i < jaxpr->nins; i++) {
        jx_buffer_puts(to, "  in   ");
        put_path(to, program->in_paths, i, "in");
        jx_buffer_puts(to, ": ");
        jx_aval_print(jaxpr->vars[jaxpr->nconsts + i]->aval, to);
        jx_buffer_putc(to, '\n');
    }
    for (int i = 0; i < jaxpr->nouts; i++) {
        jx_buffer_puts(to, "  out  ");
        put_path(to, program->out_paths, i, "out");
        jx_buffer_puts(to, ": ");
        jx_aval_print(jx_atom_aval(jaxpr->outs[i]), to);
        jx_buffer_putc(to, '\n');
    }
}

static void put_versions(jx_buffer *to, const jx_program *program)
{
    jx_utf8_printf(to, "traced with JAX %s, Python %s, %s-bit numbers",
                   program->jax_version ? program->jax_version : "(unknown)",
                   program->python_version ? program->python_version
                                           : "(unknown)",
                   program->x64 ? "64" : "32");
    if (program->jaxvet_version)
        jx_utf8_printf(to, ", by jaxvet %s", program->jaxvet_version);
    jx_buffer_putc(to, '\n');
}

static void put_counts(jx_buffer *to, const summary *s)
{
    const jx_program *program = s->program;

    jx_buffer_printf(to, "%lld equations in %d jaxprs\n",
                     (long long)s->equations, s->jaxprs);
    if (s->of_primitives)
        jx_buffer_printf(
            to, "%d more jaxpr%s rules of the program's primitives\n",
            s->of_primitives, s->of_primitives == 1 ? " is" : "s are");
    for (size_t i = 0; i < s->prims.count; i++)
        jx_utf8_printf(to, "  %6lld %s%s\n", (long long)s->prims.at[i].count,
                       s->prims.at[i].name,
                       s->prims.at[i].known ? "" : " (unknown)");
    jx_buffer_printf(to, "%d constant%s, %lld bytes\n", program->narrays,
                     program->narrays == 1 ? "" : "s",
                     (long long)s->constant_bytes);
    for (int i = 0; i < program->narrays; i++) {
        jx_buffer_printf(to, "  %10lld ",
                         (long long)bytes_of(program->arrays[i]));
        jx_aval_print(program->arrays[i]->aval, to);
        jx_buffer_puts(to, program->arrays[i]->splat ? " (all equal)\n" : "\n");
    }
    if (program->nrules)
        jx_buffer_printf(to, "%d custom derivative rule%s, %d patterns\n",
                         program->nrules, program->nrules == 1 ? "" : "s",
                         s->patterns);
    for (int i = 0; i < program->nrules; i++)
        jx_utf8_printf(
            to, "  %s %s%s%s\n", program->rules[i]->vjp ? "vjp" : "jvp",
            program->rules[i]->name ? program->rules[i]->name : "(no name)",
            program->rules[i]->truncated ? ", left out: " : "",
            program->rules[i]->truncated ? program->rules[i]->truncated : "");
    if (program->ncomparisons)
        jx_buffer_printf(to, "%d comparisons of sizes while tracing\n",
                         program->ncomparisons);
    for (size_t i = 0; i < s->effects.count; i++)
        jx_utf8_printf(to, "effect %s\n", s->effects.at[i]);
}

static void put_text(jx_buffer *to, const summary *s)
{
    const jx_program *program = s->program;

    jx_utf8_printf(to, "%s: %s\n", program->path,
                   program->name ? program->name : "(no name)");
    if (program->blackbox)
        jx_blackbox_print(program->blackbox, to);
    put_signature(to, program);
    jx_sizes_print(program, (int)s->vars.count, s->vars.at, to);
    if (s->vars.count)
        jx_checks_print(program, "  call ", to);
    put_counts(to, s);
    jx_costs_print(&s->cost, to);
    jx_reshards_print(&s->reshards, to);
    put_versions(to, program);
}

/* JSON. */

static void put_json_aval(jx_buffer *to, const char *const *paths, int i,
                          const char *otherwise, const jx_aval *aval)
{
    jx_buffer text = {.budget = to->budget};

    jx_buffer_puts(to, i ? ",{\"path\":" : "{\"path\":");
    put_path(&text, paths, i, otherwise);
    jx_json_put_text(to, jx_buffer_text(&text));
    jx_buffer_clear(&text);
    jx_buffer_puts(to, ",\"type\":");
    jx_aval_print(aval, &text);
    jx_json_put_text(to, jx_buffer_text(&text));
    jx_buffer_putc(to, '}');
    jx_buffer_free(&text);
}

static void put_json_signature(jx_buffer *to, const jx_program *program)
{
    const jx_jaxpr *jaxpr = program->entry.jaxpr;

    jx_buffer_puts(to, ",\"inputs\":[");
    for (int i = 0; i < jaxpr->nins; i++)
        put_json_aval(to, program->in_paths, i, "in",
                      jaxpr->vars[jaxpr->nconsts + i]->aval);
    jx_buffer_puts(to, "],\"outputs\":[");
    for (int i = 0; i < jaxpr->nouts; i++)
        put_json_aval(to, program->out_paths, i, "out",
                      jx_atom_aval(jaxpr->outs[i]));
    jx_buffer_putc(to, ']');
}

static void put_json_constants(jx_buffer *to, const summary *s)
{
    jx_buffer text = jx_ctx_text(s->program->ctx);

    jx_buffer_puts(to, ",\"constants\":[");
    for (int i = 0; i < s->program->narrays; i++) {
        jx_buffer_clear(&text);
        jx_aval_print(s->program->arrays[i]->aval, &text);
        jx_buffer_puts(to, i ? ",{\"type\":" : "{\"type\":");
        jx_json_put_text(to, jx_buffer_text(&text));
        jx_buffer_puts(to, ",\"bytes\":");
        jx_json_put_int(to, bytes_of(s->program->arrays[i]));
        jx_buffer_printf(to, ",\"splat\":%s}",
                         s->program->arrays[i]->splat ? "true" : "false");
    }
    jx_buffer_puts(to, "],\"constant_bytes\":");
    jx_json_put_int(to, s->constant_bytes);
    jx_buffer_free(&text);
}

static void put_json_rules(jx_buffer *to, const jx_program *program)
{
    jx_buffer_puts(to, ",\"rules\":[");
    for (int i = 0; i < program->nrules; i++) {
        const jx_rule *rule = program->rules[i];
        jx_buffer_printf(to, "%s{\"kind\":\"%s\",\"name\":", i ? "," : "",
                         rule->vjp ? "vjp" : "jvp");
        jx_json_put_text(to, rule->name ? rule->name : "");
        jx_buffer_printf(to, ",\"patterns\":%d", rule->npatterns);
        if (rule->truncated) {
            jx_buffer_puts(to, ",\"truncated\":");
            jx_json_put_text(to, rule->truncated);
        }
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_json_counts(jx_buffer *to, const summary *s)
{
    jx_buffer_printf(to, ",\"equations\":%lld,\"jaxprs\":%d,\"primitives\":[",
                     (long long)s->equations, s->jaxprs);
    for (size_t i = 0; i < s->prims.count; i++) {
        jx_buffer_puts(to, i ? ",{\"name\":" : "{\"name\":");
        jx_json_put_text(to, s->prims.at[i].name);
        jx_buffer_printf(to, ",\"count\":%lld,\"known\":%s}",
                         (long long)s->prims.at[i].count,
                         s->prims.at[i].known ? "true" : "false");
    }
    jx_buffer_puts(to, "],\"effects\":[");
    for (size_t i = 0; i < s->effects.count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, s->effects.at[i]);
    }
    jx_buffer_putc(to, ']');
    put_json_constants(to, s);
    put_json_rules(to, s->program);
    jx_buffer_printf(to, ",\"comparisons\":%d", s->program->ncomparisons);
}

static void put_json_text(jx_buffer *to, const char *key, const char *text)
{
    jx_buffer_printf(to, ",\"%s\":", key);
    if (text)
        jx_json_put_text(to, text);
    else
        jx_buffer_puts(to, "null");
}

static void put_json(jx_buffer *to, const summary *s)
{
    const jx_program *program = s->program;

    jx_buffer_puts(to, "{\"version\":1");
    put_json_text(to, "path", program->path);
    put_json_text(to, "name", program->name);
    put_json_signature(to, program);
    jx_sizes_json(program, (int)s->vars.count, s->vars.at, to);
    put_json_counts(to, s);
    jx_buffer_puts(to, ",\"cost\":");
    jx_costs_json(&s->cost, to);
    if (s->reshards.all.count) {
        jx_buffer_puts(to, ",\"reshards\":");
        jx_reshards_json(&s->reshards, to);
    }
    put_json_text(to, "jax", program->jax_version);
    put_json_text(to, "python", program->python_version);
    put_json_text(to, "jaxvet", program->jaxvet_version);
    if (program->blackbox) {
        jx_buffer_puts(to, ",\"blackbox\":");
        jx_blackbox_json(program->blackbox, to);
    }
    jx_buffer_printf(to, ",\"x64\":%s}\n", program->x64 ? "true" : "false");
}

bool jx_program_info(jx_program *program, bool json, jx_buffer *to)
{
    summary all = {.program = program};

    const jx_typed *typed = jx_typed_of(program);

    if (!typed || !summarize(&all, program->ctx) ||
        !jx_cost_of(typed, &all.cost) ||
        !jx_reshards_of(program, &all.reshards))
        return false;
    if (json)
        put_json(to, &all);
    else
        put_text(to, &all);
    return true;
}
