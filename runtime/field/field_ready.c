/* field_ready.c - see field.h: equations that the runtime runs.
 *
 * What takes integers and gives integers is run as it is.  What moves
 * elements is run on integers that say which element each is: no matter
 * how it moves them, by slices, gathers or scatters, the result says where
 * each came from. */
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"
#include "runtime/exec.h"
#include "runtime/field/plane.h"

#include <stdlib.h>
#include <string.h>

/* An equation that is planned once, for all that are like it: what is written
 * out for many devices, or many turns, has thousands of few kinds. */
typedef struct jx_field_ready {
    jx_plan *plan;
    jx_exec *exec;
    const void **ins;
    const jx_eqn *eqn;
    uint32_t moved;
    bool kept;
    size_t place; /* among those that are kept */
} ready;

enum { KEPT = 1 << 16 }; /* bytes of a plan that is kept for later */

void jx_field_open(jx_field_program *to, const jx_typed *typed, int nbindings,
                   const jx_binding *bindings, size_t memory)
{
    *to = (jx_field_program){.typed = typed,
                             .nbindings = nbindings,
                             .bindings = bindings,
                             .memory = memory};
    jx_intern_init(&to->alike, typed->program->ctx->arena);
}

static void close_one(ready *r)
{
    jx_exec_free(r->exec);
    jx_plan_free(r->plan);
    *r = (ready){0};
}

void jx_field_close(jx_field_program *program)
{
    for (size_t i = 0; i < program->made.count; i++)
        close_one(program->made.at[i]);
}

/* ---- planning */

static const jx_aval *stand_in(const jx_field_program *program,
                               const jx_aval *of)
{
    return jx_aval_array(&program->typed->program->avals, JX_I64, false,
                         of->rank, of->shape);
}

static jx_var *new_var(jx_arena *arena, const jx_aval *aval, int id)
{
    jx_var *to = JX_NEW(arena, jx_var);

    if (to)
        *to = (jx_var){.aval = aval, .id = id};
    return to;
}

/* Which operands are moved: bit i is operand i's, all bits are those
 * of any number. */
static const uint32_t ALL_OPERANDS = UINT32_MAX;

static bool is_moved(uint32_t moved, int operand)
{
    return moved == ALL_OPERANDS || (operand < 32 && moved & (1u << operand));
}

/* A jaxpr that is this equation alone, of `moved` operands and all
 * results on integers. */
static jx_jaxpr *alone(jx_field_program *program, const jx_eqn *like,
                       uint32_t moved)
{
    jx_arena *arena = program->typed->program->ctx->arena;
    int n = like->nins + like->nouts;
    jx_jaxpr *to = JX_NEW(arena, jx_jaxpr);
    jx_eqn *eqn = jx_arena_copy(arena, like, sizeof *like);
    jx_var **vars = JX_NEW_ARRAY(arena, n + 1, jx_var *);
    jx_atom *atoms = JX_NEW_ARRAY(arena, n + 1, jx_atom);

    if (!to || !eqn || !vars || !atoms)
        return NULL;
    for (int i = 0; i < n; i++) {
        bool out = i >= like->nins;
        const jx_aval *aval =
            out ? like->outs[i - like->nins]->aval : jx_atom_aval(like->ins[i]);
        if (moved && (out || is_moved(moved, i)))
            aval = stand_in(program, aval);
        vars[i] = aval ? new_var(arena, aval, i) : NULL;
        if (!vars[i])
            return NULL;
        atoms[i] = (jx_atom){.var = vars[i]};
    }
    eqn->ins = atoms;
    eqn->outs = (const jx_var *const *)vars + like->nins;
    *to = (jx_jaxpr){.id = -1,
                     .nins = like->nins,
                     .neqns = 1,
                     .nouts = like->nouts,
                     .nvars = n,
                     .vars = (const jx_var *const *)vars,
                     .eqns = eqn,
                     .outs = atoms + like->nins};
    return to;
}

/* Equations of one kind share their parameters, as decoded once; types
 * are one pointer. */
static uint64_t hash_of(const jx_eqn *eqn, uint32_t moved)
{
    uint64_t hash = jx_hash_mix((uintptr_t)eqn->prim, (uintptr_t)eqn->typed);

    hash = jx_hash_mix(hash, moved);
    for (int i = 0; i < eqn->nins; i++)
        hash = jx_hash_mix(hash, (uintptr_t)jx_atom_aval(eqn->ins[i]));
    for (int i = 0; i < eqn->nouts; i++)
        hash = jx_hash_mix(hash, (uintptr_t)eqn->outs[i]->aval);
    return hash;
}

static bool is_alike(const void *kept, const void *key)
{
    const ready *a = kept, *b = key;
    const jx_eqn *x = a->eqn, *y = b->eqn;

    if (x->prim != y->prim || x->typed != y->typed || x->params != y->params ||
        x->nparams != y->nparams || x->ctx != y->ctx || x->nins != y->nins ||
        x->nouts != y->nouts || a->moved != b->moved)
        return false;
    for (int i = 0; i < x->nins; i++)
        if (jx_atom_aval(x->ins[i]) != jx_atom_aval(y->ins[i]))
            return false;
    for (int i = 0; i < x->nouts; i++)
        if (x->outs[i]->aval != y->outs[i]->aval)
            return false;
    return true;
}

static size_t bytes_of(const ready *r)
{
    size_t bytes = jx_plan_memory(r->plan);

    for (int i = 0; i < jx_plan_nouts(r->plan); i++)
        bytes += jx_plan_out(r->plan, i)->bytes;
    return bytes;
}

/* Keeps it for the next time; false: it is too large for that. */
static bool keep_ready(jx_field_program *program, ready *r)
{
    jx_arena *arena = program->typed->program->ctx->arena;

    if (bytes_of(r) > KEPT)
        return false;
    r->place = program->made.count;
    JX_PUSH(arena, &program->made, r);
    if (program->made.count == r->place)
        return false;
    jx_intern_add(&program->alike, hash_of(r->eqn, r->moved), r);
    return true;
}

static void done_with(ready *r)
{
    if (!r->kept)
        close_one(r);
}

static ready *make_ready(jx_field_program *program, const jx_eqn *eqn,
                         uint32_t moved)
{
    jx_ctx *ctx = program->typed->program->ctx;
    const ready key = {.eqn = eqn, .moved = moved};
    const ready *known =
        jx_intern_find(&program->alike, hash_of(eqn, moved), &key, is_alike);
    jx_plan_options how = {.memory = program->memory,
                           .nbindings = program->nbindings,
                           .bindings = program->bindings};
    ready *r;
    jx_jaxpr *jaxpr;

    if (known)
        return program->made.at[known->place];
    r = JX_NEW(ctx->arena, ready);
    jaxpr = alone(program, eqn, moved);
    if (!r || !jaxpr ||
        !(r->ins = JX_NEW_ARRAY(ctx->arena, eqn->nins + 1, const void *)))
        return NULL;
    r->eqn = eqn;
    r->moved = moved;
    r->plan = jx_plan_make(program->typed, &(jx_closed){.jaxpr = jaxpr}, &how);
    r->exec = r->plan ? jx_exec_new(r->plan) : NULL;
    if (!r->exec) {
        jx_error_clear(ctx);
        close_one(r);
        return NULL;
    }
    r->kept = keep_ready(program, r);
    return r;
}

/* ---- what is no number */

static const void *bits_of(jx_field *f, const jx_field_value *of)
{
    char *to = of->bits;

    if (to)
        return to;
    to = jx_arena_alloc(f->room, (size_t)of->count + 1);
    for (int64_t i = 0; to && i < of->count; i++) {
        int64_t k = of->splat ? 0 : i;
        to[i] = (char)(of->plane ? of->plane->v[k] : of->cells[k].v);
    }
    f->spent |= !to;
    return to;
}

/* The cell that results depend on: element by element, where all
 * are of one shape. */
static jx_cell reasons(jx_field *f, int nins, const jx_field_value *ins,
                       int64_t i, int64_t n)
{
    jx_cell to = jx_cell_bool(false);

    for (int k = 0; k < nins; k++) {
        jx_cell all;
        if (!ins[k].bits && ins[k].count == n) {
            jx_cell each = jx_plane_element(&ins[k], i);
            to = jx_cell_depends(f, to, &each);
            continue;
        }
        all = jx_field_reasons(f, &ins[k]);
        to = jx_cell_depends(f, to, &all);
    }
    return to;
}

static bool depends_on_choices(jx_field *f, int nins, const jx_field_value *ins)
{
    for (int k = 0; k < nins; k++) {
        jx_cell all = jx_field_reasons(f, &ins[k]);
        for (int c = 0; c < f->ncolours; c++)
            if (all.by[c] || all.mixed || all.needs)
                return true;
    }
    return false;
}

static bool is_elementwise(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_and:
    case JX_PRIM_or:
    case JX_PRIM_xor:
    case JX_PRIM_not:
    case JX_PRIM_select_n:
    case JX_PRIM_convert_element_type: return true;
    default: return false;
    }
}

static bool take_exact(jx_field *f, jx_field_program *program, const ready *r,
                       const jx_eqn *eqn, const jx_field_value *ins,
                       jx_field_value *outs)
{
    bool chosen = depends_on_choices(f, eqn->nins, ins);
    jx_cell all = jx_cell_bool(false);

    for (int k = 0; chosen && k < eqn->nins; k++) {
        jx_cell one = jx_field_reasons(f, &ins[k]);
        all = jx_cell_depends(f, all, &one);
    }
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_port *port = jx_plan_out(r->plan, i);
        const char *from = jx_exec_out(r->exec, i);
        size_t bytes = jx_dtype_of(port->dtype)->bytes;
        if (!jx_field_room(f, program, eqn->outs[i]->aval, &outs[i]))
            return false;
        if (outs[i].cells && port->count != outs[i].count)
            return false;
        for (int64_t k = 0; outs[i].cells && k < outs[i].count; k++) {
            outs[i].cells[k] =
                outs[i].dtype == JX_BOOL
                    ? jx_cell_bool(from[k])
                    : jx_cell_constant(
                          f,
                          jx_element_real(port->dtype,
                                          from + (size_t)k * bytes),
                          port->dtype);
            if (!chosen)
                continue;
            jx_cell on = is_elementwise(eqn)
                             ? reasons(f, eqn->nins, ins, k, outs[i].count)
                             : all;
            outs[i].cells[k] = jx_cell_depends(f, outs[i].cells[k], &on);
        }
        if (!outs[i].cells) { /* keys have a trailing axis */
            outs[i].count = port->count;
            outs[i].bits = jx_arena_copy(f->room, from, port->bytes + 16);
            outs[i].on =
                chosen ? jx_arena_copy(f->room, &all, sizeof all) : NULL;
            f->spent |= !outs[i].bits || (chosen && !outs[i].on);
        }
        if (f->planes && !jx_plane_keep(f, &outs[i]))
            return false;
    }
    return !f->spent;
}

bool jx_field_exact(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                    const jx_field_value *ins, jx_field_value *outs)
{
    ready *r = make_ready(program, eqn, 0);
    bool done = r != NULL;

    for (int i = 0; done && i < eqn->nins; i++)
        done = (r->ins[i] = bits_of(f, &ins[i])) != NULL;
    done = done && jx_exec_run(r->exec, r->ins, NULL) &&
           take_exact(f, program, r, eqn, ins, outs);
    if (r)
        done_with(r);
    return done;
}

/* ---- what moves elements */

/* The operands whose elements are moved, as bits; 0: it is none such. */
static uint32_t moved_by(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_unstack:
    case JX_PRIM_split:
    case JX_PRIM_tile:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_gather: return 1;
    case JX_PRIM_pad:
    case JX_PRIM_dynamic_update_slice: return 3;
    case JX_PRIM_scatter: return jx_scatter_applies(eqn) ? 0 : 5;
    case JX_PRIM_scatter_add: return 5;
    case JX_PRIM_concatenate:
    case JX_PRIM_stack: return ALL_OPERANDS;
    default: return jx_prim_rearranges(eqn->prim->id);
    }
}

static bool can_move(const jx_eqn *eqn, uint32_t moved,
                     const jx_field_value *ins)
{
    for (int i = 0; i < eqn->nins; i++)
        if (is_moved(moved, i) ? !ins[i].cells && !ins[i].plane
                               : !ins[i].bits || ins[i].unknown || ins[i].on)
            return false;
    return true;
}

/* Runs it on integers: of operand `i`, what `of` says of its element k. */
static bool run_moved(ready *r, const jx_eqn *eqn, uint32_t moved,
                      const jx_field_value *ins, int64_t *const *of)
{
    for (int i = 0; i < eqn->nins; i++)
        r->ins[i] = is_moved(moved, i) ? (const void *)of[i] : ins[i].bits;
    return jx_exec_run(r->exec, r->ins, NULL);
}

static jx_cell nothing(jx_field *f, jx_dtype dtype)
{
    return dtype == JX_BOOL || jx_dtype_is_integer(dtype)
               ? jx_cell_unknown(f, "what is filled in, and is no number")
               : jx_cell_nan();
}

static jx_cell plus(jx_field *f, const jx_field_value *to, int64_t i,
                    const jx_field_value *updates, int64_t k)
{
    jx_cell a = jx_plane_element(to, i), b = jx_plane_element(updates, k);

    return jx_cell_add(f, &a, &b);
}

/* Where each element gets one update at most, two sums say which: of their
 * numbers, and of the squares of these.  False: somewhere it gets more. */
static bool add_single(jx_field *f, ready *r, const jx_eqn *eqn, uint32_t moved,
                       const jx_field_value *ins, int64_t *const *of,
                       jx_field_value *out)
{
    int64_t *first = JX_NEW_ARRAY(f->ctx->arena, out->count + 1, int64_t);
    const int64_t *sums;

    if (!first || ins[2].count >= 1 << 15) /* its squares' sum fits */
        return false;
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t k = 0; k < ins[2].count; k++)
            of[2][k] = turn ? (k + 1) * (k + 1) : k + 1;
        if (!run_moved(r, eqn, moved, ins, of))
            return false;
        sums = jx_exec_out(r->exec, 0);
        for (int64_t i = 0; i < out->count; i++)
            if (!turn)
                first[i] = sums[i];
            else if (first[i] * first[i] != sums[i])
                return false;
    }
    for (int64_t i = 0; i < out->count; i++)
        if (first[i]) {
            jx_cell sum = plus(f, out, i, &ins[2], first[i] - 1);
            jx_plane_put(f, out, i, &sum);
        }
    return true;
}

/* Each update by a bit, so many at a time: a sum says which are in it. */
static bool add_bits(jx_field *f, ready *r, const jx_eqn *eqn, uint32_t moved,
                     const jx_field_value *ins, int64_t *const *of,
                     jx_field_value *out)
{
    enum { AT_ONCE = 62 };

    for (int64_t first = 0; first < ins[2].count; first += AT_ONCE) {
        for (int64_t k = 0; k < ins[2].count; k++)
            of[2][k] = k >= first && k < first + AT_ONCE
                           ? (int64_t)1 << (k - first)
                           : 0;
        if (!run_moved(r, eqn, moved, ins, of))
            return false;
        const int64_t *sums = jx_exec_out(r->exec, 0);
        for (int64_t i = 0; i < out->count; i++)
            for (int b = 0; sums[i] && b < AT_ONCE; b++)
                if (sums[i] >> b & 1) {
                    jx_cell sum = plus(f, out, i, &ins[2], first + b);
                    jx_plane_put(f, out, i, &sum);
                }
    }
    return true;
}

static bool add_scattered(jx_field *f, ready *r, const jx_eqn *eqn,
                          uint32_t moved, const jx_field_value *ins,
                          int64_t *const *of, jx_field_value *out)
{
    for (int64_t i = 0; i < out->count; i++) {
        jx_cell cell = jx_plane_element(&ins[0], i);
        jx_plane_put(f, out, i, &cell);
    }
    memset(of[0], 0, (size_t)ins[0].count * sizeof **of);
    return add_single(f, r, eqn, moved, ins, of, out) ||
           add_bits(f, r, eqn, moved, ins, of, out);
}

/* The operand that an element comes from, and where it is there; -1:
 * it is filled in. */
static int origin_of(const jx_eqn *eqn, uint32_t moved,
                     const jx_field_value *ins, int64_t *at)
{
    for (int k = 0; *at >= 0 && k < eqn->nins; k++) {
        if (!is_moved(moved, k))
            continue;
        if (*at < ins[k].count)
            return k;
        *at -= ins[k].count;
    }
    return -1;
}

/* Elements of planes, one by one. */
static bool take_plane(jx_field *f, const jx_eqn *eqn, uint32_t moved,
                       const jx_field_value *ins, const int64_t *from,
                       jx_field_value *out)
{
    jx_field_value *planes =
        JX_NEW_ARRAY(f->ctx->arena, eqn->nins + 1, jx_field_value);
    jx_plane *to = out->plane;

    for (int k = 0; k < eqn->nins; k++)
        if (!planes ||
            (is_moved(moved, k) && !jx_plane_of(f, &ins[k], &planes[k])))
            return false;
        else if (is_moved(moved, k))
            jx_plane_bounds(to, planes[k].plane);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at = from[i];
        int k = origin_of(eqn, moved, ins, &at);
        if (k < 0) {
            jx_cell cell = nothing(f, out->dtype);
            jx_plane_put(f, out, i, &cell);
            continue;
        }
        const jx_plane *p = planes[k].plane;
        at = planes[k].splat ? 0 : at;
        to->v[i] = p->v[at];
        to->state[i] = p->state[at];
        if (p->w && jx_plane_may_extend(f, to, out->count)) {
            to->w[i] = p->w[at];
            to->root[i] = p->root[at];
        }
        if (to->e)
            to->e[i] = p->e[at];
        if (p->needs && jx_plane_may_need(f, to, out->count))
            to->needs[i] = p->needs[at];
    }
    return !f->spent;
}

static bool take_moved(jx_field *f, jx_field_program *program, const ready *r,
                       const jx_eqn *eqn, uint32_t moved,
                       const jx_field_value *ins, jx_field_value *outs)
{
    bool plane = false;

    for (int i = 0; i < eqn->nins; i++)
        plane |= is_moved(moved, i) && ins[i].plane;
    for (int i = 0; i < eqn->nouts; i++) {
        const int64_t *from = jx_exec_out(r->exec, i);
        const jx_aval *aval = eqn->outs[i]->aval;
        if (!(plane ? jx_field_plane(f, program, aval, &outs[i])
                    : jx_field_room(f, program, aval, &outs[i])) ||
            (!outs[i].cells && !outs[i].plane) ||
            jx_plan_out(r->plan, i)->count != outs[i].count)
            return false;
        if (plane && !take_plane(f, eqn, moved, ins, from, &outs[i]))
            return false;
        for (int64_t k = 0; !plane && k < outs[i].count; k++) {
            int64_t at = from[k];
            int operand = origin_of(eqn, moved, ins, &at);
            outs[i].cells[k] = operand < 0
                                   ? nothing(f, outs[i].dtype)
                                   : jx_plane_element(&ins[operand], at);
        }
        if (f->planes && !jx_plane_keep(f, &outs[i]))
            return false;
    }
    return true;
}

static bool move_by(jx_field *f, jx_field_program *program, ready *r,
                    const jx_eqn *eqn, uint32_t moved,
                    const jx_field_value *ins, jx_field_value *outs)
{
    int64_t **of = JX_NEW_ARRAY(f->room, eqn->nins + 1, int64_t *), next = 0;

    for (int i = 0; of && i < eqn->nins; i++) {
        if (!is_moved(moved, i))
            continue;
        of[i] = JX_NEW_ARRAY(f->room, ins[i].count + 1, int64_t);
        for (int64_t k = 0; of[i] && k < ins[i].count; k++)
            of[i][k] = next++;
        f->spent |= !of[i];
    }
    f->spent |= !of;
    if (f->spent)
        return false;
    f->work += next;
    if (eqn->prim->id == JX_PRIM_scatter_add)
        return jx_field_like(f, program, eqn->outs[0]->aval, false, &outs[0]) &&
               jx_plan_out(r->plan, 0)->count == outs[0].count &&
               outs[0].count == ins[0].count && outs[0].dtype != JX_BOOL &&
               add_scattered(f, r, eqn, moved, ins, of, &outs[0]);
    return run_moved(r, eqn, moved, ins, of) &&
           take_moved(f, program, r, eqn, moved, ins, outs);
}

/* The same of one of a gather's, whose places are the last axis
 * of its indices. */
static bool is_gather_clamped(const jx_eqn *eqn, const jx_field_value *ins)
{
    const jx_p_gather *p = eqn->typed;
    jx_ints of = p->dimension_numbers.start_index_map;
    size_t bytes = jx_dtype_of(ins[1].dtype)->bytes;
    int64_t size;

    for (int64_t i = 0; of.count && i < ins[1].count; i++) {
        int64_t axis = of.at[i % of.count];
        int64_t start = (int64_t)jx_element_integer(
            ins[1].dtype, (const char *)ins[1].bits + (size_t)i * bytes);
        if (jx_dim_is_int(p->slice_sizes.at[axis], &size) &&
            (start < 0 || start > ins[0].shape[axis] - size))
            return true;
    }
    return false;
}

/* A number stands where a gather reaches outside: that is no element. */
static bool puts_number(const jx_eqn *eqn, const jx_field_value *ins)
{
    const jx_p_gather *p = eqn->typed;

    return eqn->prim->id == JX_PRIM_gather && p->fill_value &&
           p->mode == JX_MODE_FILL_OR_DROP && is_gather_clamped(eqn, ins);
}

/* A slice that would reach outside begins elsewhere. */
static bool is_clamped(const jx_eqn *eqn, const jx_field_value *ins,
                       const jx_field_value *out)
{
    bool update = eqn->prim->id == JX_PRIM_dynamic_update_slice;
    const jx_field_value *size = update ? &ins[1] : out;
    int first = update ? 2 : 1;

    if (eqn->prim->id == JX_PRIM_gather)
        return ((const jx_p_gather *)eqn->typed)->mode !=
                   JX_MODE_FILL_OR_DROP &&
               is_gather_clamped(eqn, ins);
    if ((!update && eqn->prim->id != JX_PRIM_dynamic_slice) ||
        eqn->nins != first + ins[0].rank)
        return false;
    for (int k = 0; k < ins[0].rank; k++) {
        int64_t start = (int64_t)jx_element_integer(ins[first + k].dtype,
                                                    ins[first + k].bits);
        if (start < 0 || start > ins[0].shape[k] - size->shape[k])
            return true;
    }
    return false;
}

bool jx_field_is_move(const jx_eqn *eqn)
{
    return eqn->typed && moved_by(eqn) && eqn->prim->id != JX_PRIM_scatter_add;
}

bool jx_field_moves(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                    const jx_field_value *ins, jx_field_value *outs)
{
    uint32_t moved = moved_by(eqn);
    ready *r;
    bool done;

    if (!moved || !can_move(eqn, moved, ins) || puts_number(eqn, ins) ||
        !(r = make_ready(program, eqn, moved)))
        return false;
    done = move_by(f, program, r, eqn, moved, ins, outs);
    if (done && !f->clamped && is_clamped(eqn, ins, &outs[0]))
        f->clamped = eqn;
    done_with(r);
    return done;
}
