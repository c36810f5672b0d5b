/* equals_meshes.c - see equals_meshes.h. */
#include "reports/pipeline/equals_meshes.h"

#include "frontend/ir/params.h"
#include "reports/pipeline/equal_words.h"
#include "runtime/equal/rings.h"

#include <string.h>

enum { LEAST_DEVICES = 3 /* on fewer, to go forward is to go back */ };

/* ---- what is known of one size */

static void give_up(struct jx_mesh_sizes *to, const char *why)
{
    if (!to->why)
        to->why = why;
}

static void add_cut(jx_arena *arena, struct jx_mesh_sizes *to, jx_divides cut)
{
    for (size_t i = 0; i < to->cuts.count; i++) {
        jx_divides *have = &to->cuts.at[i];
        if (have->result != cut.result || have->number != cut.number ||
            have->axis != cut.axis)
            continue;
        /* one is 1 */
        have->times = have->times > cut.times ? have->times : cut.times;
        return;
    }
    JX_PUSH(arena, &to->cuts, cut);
}

static const jx_shardings *specs_of(const jx_eqn *eqn, bool outs)
{
    const jx_p_manual_computation *manual = eqn->typed;
    const jx_p_shard_map *mapped = eqn->typed;

    switch (eqn->typed ? eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_sdy_manual_computation:
        return outs ? &manual->out_shardings : &manual->in_shardings;
    case JX_PRIM_shard_map:
        return outs ? &mapped->out_specs : &mapped->in_specs;
    default: return NULL;
    }
}

/* Which input, or result, of the program a variable is; -1: none. */
static int number_of(const jx_jaxpr *entry, const jx_var *var, bool outs)
{
    for (int n = 0; var && n < (outs ? entry->nouts : entry->nins); n++)
        if (var ==
            (outs ? entry->outs[n].var : entry->vars[entry->nconsts + n]))
            return n;
    return -1;
}

/* The axes of inputs and results that specs cut. */
static void add_cuts(jx_arena *arena, struct jx_mesh_sizes *to,
                     const jx_jaxpr *entry)
{
    for (int i = 0; i < 2 * entry->neqns; i++) {
        const jx_eqn *eqn = &entry->eqns[i / 2];
        bool outs = i % 2;
        const jx_shardings *specs = specs_of(eqn, outs);
        for (int k = 0;
             specs && k < specs->count && k < (outs ? eqn->nouts : eqn->nins);
             k++) {
            int number =
                number_of(entry, outs ? eqn->outs[k] : eqn->ins[k].var, outs);
            for (int axis = 0; number >= 0 && axis < specs->at[k].rank; axis++)
                if (specs->at[k].axes[axis].count)
                    add_cut(arena, to, (jx_divides){outs, number, axis, 1});
        }
    }
}

static bool is_known(const struct jx_mesh_sizes *of, int64_t devices)
{
    for (size_t i = 0; i < of->at.count; i++)
        if (of->at.at[i].devices == devices)
            return true;
    return false;
}

static void take_bits(struct jx_mesh_sizes *to, const jx_orders *orders,
                      const jx_equality *made)
{
    int bits = orders->bits;

    if (made->verdict == JX_EQUAL_IDENTICAL && made->bits < bits)
        bits = made->bits;
    if (!to->bits || bits < to->bits)
        to->bits = bits;
    to->assuming = to->assuming ? to->assuming : made->assuming;
}

void jx_mesh_sizes_add(struct jx_mesh_sizes *to,
                       const jx_equal_question *question,
                       const jx_ordinary *first, const jx_equality *made)
{
    jx_arena *arena = question->a.typed->program->ctx->arena;
    jx_orders orders = {.devices = first->devices};
    const char *why;

    to->different |= made->verdict == JX_EQUAL_DIFFERENT;
    if (made->verdict == JX_EQUAL_UNDECIDED)
        give_up(to, made->why
                        ? made->why
                        : "they are not known to be the same at one size");
    if (!first->mesh || first->devices < 2)
        give_up(to, "the first program is for one device: give it as it is for "
                    "several");
    else if (first->mesh->naxes != 1)
        give_up(
            to,
            "its mesh has several axes, and a rule is known of one axis alone");
    if (to->different || to->why || is_known(to, orders.devices))
        return;
    if ((why = jx_equal_orders(question, &orders)))
        give_up(to, why);
    else if (to->at.count && to->at.at[0].nouts != orders.nouts)
        give_up(to,
                "the programs for different sizes do not give as many results");
    JX_PUSH(arena, &to->at, orders);
    add_cuts(arena, to, first->flat->entry.jaxpr);
    take_bits(to, &orders, made);
}

/* ---- words */

static const char *const ordinals[] = {"first", "second", "third", "fourth"};

static void put_axis(const jx_divides *cut, jx_buffer *to)
{
    jx_buffer_printf(to, "axis %d of %s %d", cut->axis,
                     cut->result ? "result" : "input", cut->number);
}

/* "S divides axis 0 of input 0, 2 S divides axis 1 of input 0 and
 * axis 0 of input 1" */
static void put_cuts(const struct jx_mesh_sizes *of, jx_buffer *to)
{
    const char *between = " where ";

    for (int times = 1; times <= JX_MOST_PARTS; times++) {
        bool any = false;
        for (size_t i = 0; i < of->cuts.count; i++) {
            if (of->cuts.at[i].times != times)
                continue;
            if (any)
                jx_buffer_puts(to, " and ");
            else if (times == 1)
                jx_buffer_printf(to, "%sS divides ", between);
            else
                jx_buffer_printf(to, "%s%d S divides ", between, times);
            put_axis(&of->cuts.at[i], to);
            any = true;
            between = ", ";
        }
    }
}

/* "the second half ...": which of so many parts */
static void put_part(int part, int parts, jx_buffer *to)
{
    if (parts > 1)
        jx_buffer_printf(to, "the %s of %d parts of ", ordinals[part], parts);
}

static void put_chunks(const jx_ring_sum *sum, const jx_ring *ring,
                       jx_buffer *to)
{
    put_part(sum->share, ring->shares, to);
    jx_buffer_puts(to, "chunk ");
    for (int t = 0; t < sum->nties; t++) {
        jx_buffer_puts(to, t ? " or " : "");
        jx_ring_step_print(&sum->ties[t], to);
    }
}

/* What one block of a result adds up. */
static void put_block(const jx_ring *ring, int out, int part, jx_buffer *to)
{
    put_part(part, ring->parts, to);
    if (ring->axis < 0)
        jx_buffer_printf(to, "each element of result %d", out);
    else
        jx_buffer_printf(to, "block d of axis %d of result %d", ring->axis,
                         out);
    jx_buffer_puts(to, " adds up ");
    if (!ring->shares)
        jx_buffer_puts(to, "its products in the order of the second program");
    for (int g = 0; g < ring->shares; g++) {
        jx_buffer_puts(to, !g ? "" : ring->apart ? ", then " : " and ");
        put_chunks(&ring->sums[part][g], ring, to);
    }
}

static void put_summed(const jx_ring *ring, const jx_order *order,
                       jx_buffer *to)
{
    if (!ring->shares)
        return;
    jx_buffer_puts(to, " of the S chunks of ");
    if (!order->nsummed)
        jx_buffer_printf(to, "its %lld products", (long long)order->terms);
    for (int i = 0; i < order->nsummed; i++)
        jx_buffer_printf(to, "%saxis %d of input %d", i ? " and " : "",
                         order->summed[i].axis, order->summed[i].input);
}

static void put_sizes(const struct jx_mesh_sizes *of, jx_buffer *to)
{
    for (size_t i = 0; i < of->at.count; i++)
        jx_buffer_printf(to, "%s%lld",
                         !i                     ? ""
                         : i + 1 < of->at.count ? ", "
                                                : " and ",
                         (long long)of->at.at[i].devices);
}

/* ---- all sizes */

static void add_ring(jx_arena *arena, struct jx_mesh_sizes *of,
                     const jx_ring *ring, int out)
{
    const jx_order *order = &of->at.at[0].outs[out];

    for (int i = 0; ring->shares && i < order->nsummed; i++)
        add_cut(arena, of,
                (jx_divides){false, order->summed[i].input,
                             order->summed[i].axis, ring->shares});
    if (ring->axis >= 0)
        add_cut(arena, of, (jx_divides){true, out, ring->axis, ring->parts});
}

/* The rule of each result, proved; its words go to `rules`. */
static bool prove_results(jx_ctx *ctx, struct jx_mesh_sizes *of,
                          jx_equality *to, jx_buffer *rules)
{
    for (int out = 0; out < of->at.at[0].nouts; out++) {
        const jx_order *order = &of->at.at[0].outs[out];
        jx_ring ring;
        if (!jx_ring_find(ctx, (int)of->at.count, of->at.at, out, &ring)) {
            to->why = jx_arena_printf(
                ctx->arena, "no ring is recognised in what result %d adds up",
                out);
            return false;
        }
        if ((to->why = jx_ring_prove(ctx, &ring, &to->proof)))
            return false;
        add_ring(ctx->arena, of, &ring, out);
        for (int p = 0; p < ring.parts; p++) {
            jx_buffer_puts(rules, p || out ? ", " : "");
            put_block(&ring, out, p, rules);
        }
        put_summed(&ring, order, rules);
        if (order->beside)
            jx_buffer_printf(rules,
                             order->beside == 1
                                 ? ", and one product that stands alone"
                                 : ", and %lld products that stand alone",
                             (long long)order->beside);
    }
    return true;
}

static const char *assumption(jx_ctx *ctx, const struct jx_mesh_sizes *of,
                              const char *rules)
{
    jx_buffer text = jx_ctx_text(ctx);
    bool one = of->at.count == 1;

    if (of->assuming)
        jx_buffer_printf(&text, "%s, and that ", of->assuming);
    jx_buffer_puts(
        &text, "on meshes of other sizes, too, at steps i = 0, ..., S - 1 ");
    jx_buffer_puts(&text, rules);
    jx_buffer_printf(&text, ", generalised from the program%s for ",
                     one ? "" : "s");
    put_sizes(of, &text);
    jx_buffer_puts(&text, one ? " devices alone" : " devices");
    return jx_arena_take(ctx->arena, &text);
}

static int64_t most_devices(const struct jx_mesh_sizes *of)
{
    int64_t most = 0;

    for (size_t i = 0; i < of->at.count; i++)
        most = of->at.at[i].devices > most ? of->at.at[i].devices : most;
    return most;
}

bool jx_mesh_sizes_judge(jx_program *a, bool gradient, struct jx_mesh_sizes *of,
                         jx_claim_list *claims, jx_equalities *to)
{
    jx_ctx *ctx = a->ctx;
    jx_equality all = {.path = a->path,
                       .gradient = gradient,
                       .every = true,
                       .devices = {1, 1}};
    jx_buffer rules = jx_ctx_text(ctx), sizes = jx_ctx_text(ctx);

    if (of->different)
        return true;
    all.devices[0] = (int)most_devices(of);
    all.why =
        of->why || of->at.count ? of->why : "they are not compared at one size";
    if (!all.why && most_devices(of) < LEAST_DEVICES)
        all.why = "on two devices a ring has no direction: give it for three "
                  "or more, too";
    if (!all.why && prove_results(ctx, of, &all, &rules)) {
        all.verdict = JX_EQUAL_IDENTICAL;
        all.bits = of->bits;
        all.assuming = assumption(ctx, of, jx_buffer_text(&rules));
        jx_buffer_puts(&sizes, "S >= 1");
        put_cuts(of, &sizes);
        all.sizes = jx_arena_take(ctx->arena, &sizes);
    }
    jx_buffer_free(&rules);
    if (all.verdict == JX_EQUAL_UNDECIDED &&
        !jx_equal_tell_undecided(ctx, claims, &all))
        return false;
    JX_PUSH(ctx->arena, &to->all, all);
    return jx_ok(ctx);
}
