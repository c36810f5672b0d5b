/* stablehlo_build.c - bodies that become jaxprs: values, variables, equations.
 *
 * A variable gets its number when its body is finished, since what a region
 * captures comes before its inputs and is known only at its end. */
#include "frontend/base/plain.h"
#include "frontend/read/stablehlo_parts.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- failures */

static bool fail_in(jx_hlo_reader *s, const jx_mlir_op *op, const char *format,
                    va_list args)
{
    char place[64] = "", message[600];

    jx_vsnprintf(message, sizeof message, format, args);
    if (op && op->place.line)
        snprintf(place, sizeof place, "line %d, column %d", op->place.line,
                 op->place.column);
    else if (op)
        snprintf(place, sizeof place, "byte %zu", op->place.offset);
    return jx_fail(s->ctx, JX_E_INPUT, s->file->path, place[0] ? place : NULL,
                   "%s%s%s", op ? op->name : "", op ? ": " : "", message);
}

bool jx_hlo_refuse_at(jx_hlo_reader *s, const jx_mlir_op *op,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_in(s, op, format, args);
    va_end(args);
    return false;
}

bool jx_hlo_refuse(jx_hlo_body *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_in(b->s, b->op, format, args);
    va_end(args);
    return false;
}

/* ---- types */

/* What a quantized element stores; its type has no sign, but a flag has. */
static bool stored_dtype(const jx_mlir_type *element, jx_dtype *dtype)
{
    const jx_mlir_type *stored = element->items[0];
    jx_mlir_type like = *stored;

    like.sign = element->quant->flags & 1 ? JX_SIGNED : JX_UNSIGNED;
    *dtype = JX_DT_NONE;
    return stored->kind == JX_T_INTEGER && stored->width > 1 &&
           jx_mlir_dtype(&like, dtype);
}

bool jx_hlo_dtype(const jx_mlir_type *type, jx_dtype *dtype)
{
    const jx_mlir_type *element = type;

    if ((type->kind == JX_T_TENSOR || type->kind == JX_T_MEMREF ||
         type->kind == JX_T_UNRANKED) &&
        type->count)
        element = type->items[0];
    if (element->kind == JX_T_QUANTIZED)
        return stored_dtype(element, dtype);
    return jx_mlir_dtype(element, dtype);
}

int jx_hlo_width(const jx_mlir_type *type)
{
    int width = 0;

    if (type->kind == JX_T_TOKEN || type->kind == JX_T_NONE)
        return 0;
    if (type->kind != JX_T_TUPLE && type->kind != JX_T_FUTURE)
        return 1;
    for (int i = 0; i < type->count; i++)
        width += jx_hlo_width(type->items[i]);
    return width;
}

const jx_dim *jx_hlo_dim_int(jx_hlo_body *b, int64_t value)
{
    return jx_dim_int(b->s->program->dims, value);
}

const jx_aval *jx_hlo_array(jx_hlo_body *b, jx_dtype dtype, int rank,
                            const jx_dim *const *shape)
{
    for (int i = 0; i < rank; i++)
        if (!shape[i]) {
            jx_hlo_refuse(b, "a size that is too large");
            return NULL;
        }
    return jx_aval_array(&b->s->program->avals, dtype, false, rank, shape);
}

/* A value of a type that we know nothing of. */
static const jx_aval *other(jx_hlo_body *b, const char *label)
{
    return jx_aval_add(&b->s->program->avals,
                       &(jx_aval){.kind = JX_AVAL_OTHER,
                                  .label = jx_intern_text(b->s->ctx, label)});
}

static const jx_aval *array_of(jx_hlo_body *b, const jx_mlir_type *type,
                               const jx_dim *const *known)
{
    const jx_dim *shape[JX_HLO_RANK];
    jx_dtype dtype;

    if (type->kind != JX_T_TENSOR && type->kind != JX_T_MEMREF)
        return other(b, type->text ? type->text : "value");
    if (!jx_hlo_dtype(type, &dtype))
        return other(b, type->count && type->items[0]->text
                            ? type->items[0]->text
                            : "tensor");
    if (type->rank > JX_HLO_RANK) {
        jx_hlo_refuse(b, "expected at most %d axes", JX_HLO_RANK);
        return NULL;
    }
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] != JX_MLIR_DYNAMIC)
            shape[i] = jx_hlo_dim_int(b, type->shape[i]);
        else
            shape[i] = known && known[i] ? known[i] : jx_sz_free(b->s->sizes);
    return jx_hlo_array(b, dtype, type->rank, shape);
}

const jx_aval *jx_hlo_aval_of(jx_hlo_body *b, const jx_mlir_type *type,
                              const jx_dim *const *known)
{
    const jx_aval *aval;

    if (jx_hlo_is_open(type))
        return array_of(b, type, known);
    aval = jx_map_get(&b->s->types, type);
    if (aval)
        return aval;
    aval = array_of(b, type, NULL);
    return aval && jx_map_put(&b->s->types, type, aval) ? aval : NULL;
}

bool jx_hlo_rank_ok(jx_hlo_body *b, int result)
{
    if (result < b->op->nouts && b->op->outs[result]->type->rank >= 0 &&
        b->op->outs[result]->type->rank <= JX_HLO_RANK)
        return true;
    return jx_hlo_refuse(b,
                         "expected result %d to be a tensor of at most %d axes",
                         result, JX_HLO_RANK);
}

/* ---- values */

static jx_atoms lookup(jx_hlo_body *b, const jx_mlir_value *value)
{
    const jx_atoms *found = jx_map_get(&b->values, value);

    if (found)
        return *found;
    if (!b->outer)
        return (jx_atoms){-1, NULL};
    jx_atoms outer = lookup(b->outer, value);
    jx_atom *at = outer.count < 0
                      ? NULL
                      : JX_NEW_ARRAY(b->s->ctx->arena, outer.count, jx_atom);
    if (!at)
        return (jx_atoms){outer.count < 0 ? -1 : 0, NULL};
    for (int i = 0; i < outer.count; i++) {
        at[i] = jx_body_own(&b->body, outer.at[i]);
        if (!jx_is_made(at[i]))
            return (jx_atoms){0, NULL};
        jx_sz_info info = jx_sz_operand(b->s->sizes, outer.at[i]);
        if (at[i].var && info.elems)
            jx_sz_set(b->s->sizes, at[i], info);
    }
    jx_hlo_define_value(b, value, outer.count, at);
    return (jx_atoms){outer.count, at};
}

jx_atoms jx_hlo_atoms_of(jx_hlo_body *b, const jx_mlir_value *value)
{
    jx_atoms found = lookup(b, value);

    if (found.count >= 0)
        return found;
    jx_hlo_refuse(b, "an operand that is not defined before");
    return (jx_atoms){0, NULL};
}

jx_atom jx_hlo_atom(jx_hlo_body *b, const jx_mlir_value *value)
{
    jx_atoms found = jx_hlo_atoms_of(b, value);

    if (found.count == 1)
        return found.at[0];
    jx_hlo_refuse(b, "expected a tensor");
    return (jx_atom){NULL, NULL};
}

jx_atom jx_hlo_in(jx_hlo_body *b, int index)
{
    if (index < b->op->nins)
        return jx_hlo_atom(b, b->op->ins[index]);
    jx_hlo_refuse(b, "expected more than %d operands", b->op->nins);
    return (jx_atom){NULL, NULL};
}

jx_atoms jx_hlo_ins(jx_hlo_body *b, int from)
{
    JX_VEC(jx_atom) all = {0};

    /* As a rule each operand is one atom, and room for more is not taken. */
    if (from < b->op->nins) {
        all.capacity = (size_t)(b->op->nins - from);
        all.at = JX_NEW_ARRAY(b->s->ctx->arena, all.capacity, jx_atom);
    }
    for (int i = from; all.at && i < b->op->nins; i++) {
        jx_atoms each = jx_hlo_atoms_of(b, b->op->ins[i]);
        for (int k = 0; k < each.count; k++)
            JX_PUSH(b->s->ctx->arena, &all, each.at[k]);
    }
    return (jx_atoms){(int)all.count, all.at};
}

bool jx_hlo_define_value(jx_hlo_body *b, const jx_mlir_value *value, int count,
                         const jx_atom *atoms)
{
    jx_atoms *to = JX_NEW(b->s->ctx->arena, jx_atoms);

    for (int i = 0; i < count; i++)
        if (!atoms || (!atoms[i].var && !atoms[i].literal))
            return false; /* a failure was recorded, or memory ran out */
    if (!to)
        return false;
    if (jx_map_has(&b->values, value))
        return jx_hlo_refuse(b, "a value that is defined twice");
    *to = (jx_atoms){count, atoms};
    return jx_map_put(&b->values, value, to);
}

bool jx_hlo_define(jx_hlo_body *b, int count, const jx_atom *atoms)
{
    int next = 0;

    for (int i = 0; i < b->op->nouts; i++) {
        int width = jx_hlo_width(b->op->outs[i]->type);
        if (width > count - next)
            return !atoms ? false
                          : jx_hlo_refuse(b, "expected %d results", count);
        jx_atom *copy = JX_NEW_ARRAY(b->s->ctx->arena, width, jx_atom);
        if (copy && width)
            memcpy(copy, atoms + next, (size_t)width * sizeof *copy);
        if (!copy || !jx_hlo_define_value(b, b->op->outs[i], width, copy))
            return false;
        next += width;
    }
    return next == count || jx_hlo_refuse(b, "expected %d results", count);
}

bool jx_hlo_define1(jx_hlo_body *b, jx_atom atom)
{
    return (atom.var || atom.literal) && jx_hlo_define(b, 1, &atom);
}

/* ---- literals */

/* Data where an element may be read as what it is: constants of a file lie
 * there at any offset. */
static const void *aligned(jx_hlo_body *b, const void *data, size_t size,
                           size_t element)
{
    size_t at = element > 8 ? 8 : element ? element : 1;

    if ((uintptr_t)data % at == 0)
        return data;
    return jx_arena_copy(b->s->ctx->arena, data, size);
}

static jx_atom array_literal(jx_hlo_body *b, const jx_aval *aval,
                             const void *data, size_t size, bool splat)
{
    jx_array *array = JX_NEW(b->s->ctx->arena, jx_array);

    if (!array)
        return (jx_atom){NULL, NULL};
    *array = (jx_array){.aval = aval, .splat = splat, .bytes = size};
    array->data = aligned(b, data, size, jx_dtype_of(aval->dtype)->bytes);
    JX_PUSH(b->s->ctx->arena, &b->s->build.arrays, array);
    return jx_build_constant(&b->body, array);
}

jx_atom jx_hlo_literal(jx_hlo_body *b, const jx_aval *aval, const void *data,
                       size_t size, bool splat)
{
    size_t element = aval ? jx_dtype_of(aval->dtype)->bytes : 0;
    int64_t count = 0;

    if (!aval || aval->kind != JX_AVAL_ARRAY ||
        !jx_aval_elements(aval, &count)) {
        jx_hlo_refuse(b, "a constant whose type has no elements that are "
                         "known here");
        return (jx_atom){NULL, NULL};
    }
    if (count > 1 && !splat
            ? size / element != (size_t)count || size % element
            : size != (count ? element : 0) && !(splat && size == element)) {
        jx_hlo_refuse(b, "a constant of %lld elements with %zu bytes",
                      (long long)count, size);
        return (jx_atom){NULL, NULL};
    }
    if (aval->rank == 0) {
        jx_literal like = {.aval = aval};
        memcpy(like.bits, data, size);
        return jx_build_literal(&b->body, &like);
    }
    return array_literal(b, aval, data, count ? size : 0, splat && count > 1);
}

const void *jx_hlo_splat(jx_atom atom)
{
    const jx_literal *l = atom.literal;

    if (atom.var || !l || l->dim || l->aval->kind != JX_AVAL_ARRAY)
        return NULL;
    if (!l->array)
        return l->bits;
    return l->array->splat ||
                   l->array->bytes == jx_dtype_of(l->aval->dtype)->bytes
               ? l->array->data
               : NULL;
}

/* ---- equations */

const jx_atom *jx_hlo_eqn_all(jx_hlo_body *b, const jx_prim *prim, int nins,
                              const jx_atom *ins, jx_params *params, int nouts,
                              const jx_aval *const *outs)
{
    return jx_hlo_eqn_known(b, prim, nins, ins, params, nouts, outs, NULL);
}

const jx_atom *jx_hlo_eqn_known(jx_hlo_body *b, const jx_prim *prim, int nins,
                                const jx_atom *ins, jx_params *params,
                                int nouts, const jx_aval *const *outs,
                                const jx_sz_info *known)
{
    const jx_atom *made;

    b->known = known;
    made = jx_build_as(&b->body, prim, params, nins, ins, nouts, outs);
    b->known = NULL;
    return made;
}

jx_atom jx_hlo_eqn(jx_hlo_body *b, jx_prim_id prim, int nins,
                   const jx_atom *ins, jx_params *params, const jx_aval *out)
{
    return jx_build_one(&b->body, prim, params, nins, ins, out);
}

jx_atom jx_hlo_eqn1(jx_hlo_body *b, jx_prim_id prim, jx_atom a,
                    const jx_aval *out)
{
    return jx_hlo_eqn(b, prim, 1, &a, NULL, out);
}

jx_atom jx_hlo_eqn2(jx_hlo_body *b, jx_prim_id prim, jx_atom a, jx_atom c,
                    const jx_aval *out)
{
    return jx_hlo_eqn(b, prim, 2, (const jx_atom[]){a, c}, NULL, out);
}

jx_atom jx_hlo_eqn_broadcast_dims(jx_hlo_body *b, jx_atom a, jx_ints dims,
                                  int rank, const jx_dim *const *shape)
{
    return jx_build_broadcast(&b->body, a, dims, rank, shape);
}

jx_atom jx_hlo_eqn_broadcast(jx_hlo_body *b, jx_atom a, int rank,
                             const jx_dim *const *shape)
{
    if (!jx_is_made(a) || jx_atom_aval(a)->rank == rank)
        return a;
    return jx_build_broadcast(&b->body, a, (jx_ints){0, NULL}, rank, shape);
}

jx_atom jx_hlo_eqn_reshape(jx_hlo_body *b, jx_atom a, int rank,
                           const jx_dim *const *shape)
{
    return jx_build_reshape(&b->body, a, rank, shape);
}

jx_atom jx_hlo_eqn_transpose(jx_hlo_body *b, jx_atom a, const int64_t *order)
{
    int rank = jx_is_made(a) ? jx_atom_aval(a)->rank : 0;

    return jx_build_transpose(&b->body, a, (jx_ints){rank, order});
}

jx_atom jx_hlo_eqn_convert(jx_hlo_body *b, jx_atom a, jx_dtype dtype)
{
    return jx_build_convert(&b->body, a, dtype, false);
}

/* ---- bodies */

static bool tell(jx_body *b, const char *why)
{
    return jx_hlo_refuse((jx_hlo_body *)b, "%s", why);
}

/* An equation of the op being read: sizes and integers are followed, and what
 * gives nothing else needs no equation. */
static bool follow(jx_body *body, jx_eqn *eqn, jx_atom *atoms)
{
    jx_hlo_body *b = (jx_hlo_body *)body;

    jx_hlo_infer(b, eqn);
    jx_sz_follow(b->s->sizes, eqn);
    for (int i = 0; b->known && i < eqn->nouts; i++)
        if (b->known[i].elems)
            jx_sz_set(b->s->sizes, atoms[i], b->known[i]);
    if (jx_hlo_only_sizes(b, eqn, atoms))
        return false;
    if (b->op) {
        eqn->stack = jx_hlo_stack(b->s, b->op->loc);
        eqn->name_stack = jx_hlo_name_stack(b->s, b->op->loc);
    }
    return true;
}

void jx_hlo_begin_building(jx_hlo_reader *s)
{
    s->build =
        (jx_builder){.program = s->program, .fail = tell, .follow = follow};
}

jx_hlo_body *jx_hlo_body_new(jx_hlo_reader *s, jx_hlo_body *outer)
{
    jx_hlo_body *b = JX_NEW(s->ctx->arena, jx_hlo_body);

    if (!b)
        return NULL;
    b->body.in = &s->build;
    b->body.outer = outer ? &outer->body : NULL;
    b->s = s;
    b->outer = outer;
    b->op = outer ? outer->op : NULL;
    jx_map_init(&b->values, s->ctx->arena);
    return b;
}

/* The arguments of a block, from inputs of these avals. */
static bool define_args(jx_hlo_body *b, const jx_mlir_block *block, int nins,
                        const jx_aval *const *ins, const jx_sz_info *known)
{
    jx_sizes *sizes = b->s->sizes;
    int next = 0;

    for (int i = 0; i < block->nargs; i++) {
        int width = jx_hlo_width(block->args[i]->type);
        jx_atom *atoms = JX_NEW_ARRAY(b->s->ctx->arena, width, jx_atom);
        if (!atoms)
            return false;
        if (width > nins - next)
            return jx_hlo_refuse(b, "expected %d arguments", nins);
        for (int k = 0; k < width; k++, next++) {
            atoms[k] = jx_body_input(&b->body, ins[next]);
            if (!atoms[k].var)
                return false; /* memory ran out */
            if (known && known[next].elems)
                jx_sz_set(sizes, atoms[k], known[next]);
        }
        if (width == 1 && b->func == b->s->entry)
            jx_sz_set_input(sizes, atoms[0].var, i);
        if (width == 1 && !b->outer) /* a size that a function is given */
            jx_hlo_size_symbol(b, atoms[0], &atoms[0]);
        if (!jx_hlo_define_value(b, block->args[i], width, atoms))
            return false;
    }
    return next == nins || jx_hlo_refuse(b, "expected %d arguments", nins);
}

bool jx_hlo_read_block(jx_hlo_body *b, const jx_mlir_block *block, int nins,
                       const jx_aval *const *ins, const jx_sz_info *known)
{
    if (++b->s->depth > JX_HLO_DEPTH)
        return jx_hlo_refuse(b,
                             "more than %d calls and regions inside each other",
                             JX_HLO_DEPTH);
    bool ok = define_args(b, block, nins, ins, known) && jx_hlo_block(b, block);
    b->s->depth--;
    return ok;
}

jx_hlo_body *jx_hlo_region(jx_hlo_body *b, const jx_mlir_op *op, int region,
                           int nins, const jx_aval *const *ins,
                           const jx_sz_info *known)
{
    const jx_mlir_block *block =
        region < op->nregions ? jx_mlir_body(op, region) : NULL;
    jx_hlo_body *to = jx_hlo_body_new(b->s, b);

    if (!to)
        return NULL;
    if (!block) {
        jx_hlo_refuse(b, "expected a region of one block");
        return NULL;
    }
    return jx_hlo_read_block(to, block, nins, ins, known) ? to : NULL;
}

enum { UNUSED = 0, USED = 1 };

/* Atoms that are variables of this body count as used. */
static void use(int count, const jx_atom *atoms)
{
    for (int i = 0; i < count; i++)
        if (atoms[i].var)
            ((jx_var *)(uintptr_t)atoms[i].var)->id = USED;
}

/* What was looked up for an op that turned out to give nothing but sizes is not
 * captured. */
static void drop_captures(jx_body *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->captures.count; i++)
        b->captures.at[i].inner->id = UNUSED;
    use((int)b->results.count, b->results.at);
    for (size_t i = 0; i < b->eqns.count; i++)
        use(b->eqns.at[i].nins, b->eqns.at[i].ins);
    for (size_t i = 0; i < b->captures.count; i++)
        if (b->captures.at[i].inner->id == USED)
            b->captures.at[kept++] = b->captures.at[i];
    b->captures.count = kept;
}

jx_atoms jx_hlo_captured(jx_hlo_body *b, int count, jx_hlo_body *const *bodies)
{
    jx_body **all = JX_NEW_ARRAY(b->s->ctx->arena, count, jx_body *);

    for (int i = 0; all && i < count; i++) {
        if (!bodies[i])
            continue;
        all[i] = &bodies[i]->body;
        if (!b->s->sizes->plain)
            drop_captures(all[i]);
    }
    return jx_body_captured(&b->body, all ? count : 0, all);
}

static bool is_used(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nouts; i++)
        if (eqn->outs[i]->id == USED)
            return true;
    return false;
}

/* Leaves out equations that only make known sizes, where nothing looks at what
 * they make. */
static void drop_shaping(jx_hlo_body *from)
{
    size_t next = from->shaping.count, kept = 0, outs = 0;
    jx_body *b = &from->body;
    bool *gone = JX_NEW_ARRAY(from->s->ctx->arena, b->eqns.count + 1, bool);

    if (!next || !gone)
        return;
    for (size_t i = 0; i < b->outs.count; i++)
        b->outs.at[i]->id = UNUSED;
    use((int)b->results.count, b->results.at);
    for (size_t i = b->eqns.count; i-- > 0;) {
        bool shapes = next && from->shaping.at[next - 1] == (int)i;
        next -= shapes;
        gone[i] = shapes && !is_used(&b->eqns.at[i]);
        if (!gone[i])
            use(b->eqns.at[i].nins, b->eqns.at[i].ins);
    }
    for (size_t i = 0, at = 0; i < b->eqns.count; i++) {
        jx_eqn eqn = b->eqns.at[i];
        for (int k = 0; k < eqn.nouts; k++, at++)
            if (!gone[i])
                b->outs.at[outs++] = b->outs.at[at];
        if (!gone[i])
            b->eqns.at[kept++] = eqn;
    }
    b->eqns.count = kept;
    b->outs.count = outs;
}

jx_jaxpr *jx_hlo_body_finish(jx_hlo_body *b, jx_atoms captures,
                             const char *function)
{
    drop_shaping(b);
    return jx_body_finish(&b->body, captures, function);
}

const jx_jaxpr *jx_hlo_closed(jx_hlo_body *b, const jx_mlir_op *op, int region,
                              int nins, const jx_aval *const *ins)
{
    jx_hlo_body *body = jx_hlo_region(b, op, region, nins, ins, NULL);

    if (!body || jx_hlo_captured(b, 1, &body).count)
        return NULL;
    return jx_hlo_body_finish(body, (jx_atoms){0, NULL}, NULL);
}

/* ---- captured scalars as operands */

static void take_in(jx_body *body, jx_hlo_order order)
{
    size_t half =
        order == JX_HLO_HALVES ? body->ins.count / 2 : body->ins.count;
    jx_arena *arena = body->in->program->ctx->arena;
    JX_VEC(jx_var *) ins = {0};

    for (size_t i = 0; i < half; i++)
        JX_PUSH(arena, &ins, body->ins.at[i]);
    for (size_t i = 0; i < body->captures.count; i++) {
        jx_var *inner = body->captures.at[i].inner;
        JX_PUSH(arena, &ins, inner);
        if (order == JX_HLO_PAIRS)
            JX_PUSH(arena, &ins, jx_body_var(body, inner->aval));
        if (order == JX_HLO_HALVES)
            JX_PUSH(arena, &body->results, (jx_atom){inner, NULL});
    }
    for (size_t i = half; i < body->ins.count; i++)
        JX_PUSH(arena, &ins, body->ins.at[i]);
    for (size_t i = 0; order == JX_HLO_HALVES && i < body->captures.count; i++)
        JX_PUSH(arena, &ins,
                jx_body_var(body, body->captures.at[i].inner->aval));
    body->ins.count = 0;
    for (size_t i = 0; i < ins.count; i++)
        JX_PUSH(arena, &body->ins, ins.at[i]);
    body->captures.count = 0;
}

const jx_jaxpr *jx_hlo_lifted(jx_hlo_body *b, const jx_mlir_op *op, int nins,
                              const jx_aval *const *ins, jx_hlo_order order,
                              jx_atoms *captured)
{
    jx_hlo_body *body = jx_hlo_region(b, op, 0, nins, ins, NULL);

    *captured = (jx_atoms){0, NULL};
    if (!body)
        return NULL;
    *captured = jx_hlo_captured(b, 1, &body);
    for (int i = 0; i < captured->count; i++) {
        const jx_aval *aval = jx_atom_aval(captured->at[i]);
        if (aval->kind != JX_AVAL_ARRAY || aval->rank)
            return NULL;
    }
    if (captured->count)
        take_in(&body->body, order);
    return jx_hlo_body_finish(body, (jx_atoms){0, NULL}, NULL);
}

jx_atoms jx_hlo_eqn_spread(jx_hlo_body *b, jx_atoms atoms, const jx_aval *like)
{
    jx_atom *to = JX_NEW_ARRAY(b->s->ctx->arena, atoms.count, jx_atom);

    for (int i = 0; to && i < atoms.count; i++)
        to[i] = jx_hlo_eqn_broadcast(b, atoms.at[i], like->rank, like->shape);
    return (jx_atoms){to ? atoms.count : 0, to};
}

jx_atoms jx_hlo_joined(jx_hlo_body *b, int count, const jx_atoms *lists)
{
    JX_VEC(jx_atom) all = {0};

    for (int i = 0; i < count; i++)
        for (int k = 0; k < lists[i].count; k++)
            JX_PUSH(b->s->ctx->arena, &all, lists[i].at[k]);
    return (jx_atoms){(int)all.count, all.at};
}

/* ---- what a region computes */

jx_op_id jx_hlo_single_op(const jx_mlir_op *op, int region)
{
    const jx_mlir_block *block =
        region < op->nregions ? jx_mlir_body(op, region) : NULL;

    if (!block || block->nops < 1 || block->nops > 2 || block->nargs != 2)
        return JX_OP_unknown;
    const jx_mlir_op *end = block->ops[block->nops - 1];
    if (end->nins != 1)
        return JX_OP_unknown;
    if (block->nops == 1)
        return end->ins[0] == block->args[1] ? JX_OP_stablehlo_return
                                             : JX_OP_unknown;
    if (jx_hlo_is_quantized(block->args[0]->type))
        return JX_OP_unknown; /* more than the one op on what is stored */
    const jx_mlir_op *one = block->ops[0];
    if (one->nouts != 1 || one->nins != 2 || end->ins[0] != one->outs[0])
        return JX_OP_unknown;
    bool straight =
        one->ins[0] == block->args[0] && one->ins[1] == block->args[1];
    bool swapped =
        one->ins[0] == block->args[1] && one->ins[1] == block->args[0];
    return straight || (swapped && jx_mlir_op_commutes(one->id))
               ? one->id
               : JX_OP_unknown;
}
