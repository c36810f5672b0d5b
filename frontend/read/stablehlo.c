/* stablehlo.c - modules and functions, and the rules for calls.
 *
 * A function is read once for each list of argument types that it is called
 * with: what its own type leaves open (`?`) the call says. */
#include "frontend/read/stablehlo.h"

#include "frontend/read/stablehlo_parts.h"

/* ---- the table of rules */

bool jx_hlo_op_none(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    (void)row;
    return jx_hlo_unknown(b, op);
}

static const jx_hlo_row adapter[] = {
#define ADAPT(op, detail, prim, read, write)                                   \
    {JX_OP_##op, detail, JX_PRIM_##prim, jx_hlo_op_##read, NULL},
#include "frontend/mlir/adapter.def"
#undef ADAPT
};

/* The rows of an op in the order of the table. */
static void fill_rows(jx_hlo_reader *s)
{
    jx_hlo_row *rows = jx_arena_copy(s->ctx->arena, adapter, sizeof adapter);

    for (size_t i = sizeof adapter / sizeof *adapter; rows && i-- > 0;)
        if (rows[i].rule != jx_hlo_op_none) {
            rows[i].next = s->rows[rows[i].op];
            s->rows[rows[i].op] = &rows[i];
        }
}

const jx_hlo_row *jx_hlo_row_of(jx_hlo_reader *s, jx_op_id op,
                                const char *detail)
{
    const jx_hlo_row *plain = NULL;

    for (const jx_hlo_row *row = s->rows[op]; row; row = row->next) {
        if (detail && !strcmp(row->detail, detail))
            return row;
        if (!plain && !row->detail[0])
            plain = row;
    }
    return plain;
}

/* ---- blocks */

jx_atom jx_hlo_size_atom(jx_hlo_body *b, jx_dtype dtype, const jx_dim *dim)
{
    jx_atom none = {NULL, NULL};
    jx_literal *literal;
    int64_t number;

    if (jx_dim_is_int(dim, &number))
        return number == (int32_t)number
                   ? jx_build_number(&b->body, dtype, (double)number)
                   : none;
    if (!jx_sz_is_given(b->s->sizes, dim) ||
        !(literal = JX_NEW(b->s->ctx->arena, jx_literal)))
        return none;
    literal->aval = jx_hlo_array(b, dtype, 0, NULL);
    literal->dim = dim;
    b->s->program->x64 |= dtype == JX_I64;
    return literal->aval ? (jx_atom){NULL, literal} : none;
}

/* The size that a scalar is known to be; NULL: it is none. */
static const jx_dim *size_of(jx_hlo_body *b, jx_atom atom)
{
    const jx_dim *const *known =
        jx_atom_aval(atom)->rank == 0 ? jx_sz_known(b->s->sizes, atom) : NULL;

    return known ? known[0] : NULL;
}

static bool is_number(const jx_dim *dim)
{
    jx_int number;

    return jx_dim_is_wide(dim, &number);
}

/* The literal of a scalar of which more may be known than the
 * size that it is. */
static jx_atom literal_size(jx_hlo_body *b, jx_atom atom, const jx_dim *dim)
{
    jx_atom made = jx_hlo_size_atom(b, jx_atom_aval(atom)->dtype, dim);

    if (made.literal)
        jx_sz_set(b->s->sizes, made, jx_sz_info_of(b->s->sizes, atom));
    return made;
}

bool jx_hlo_size_symbol(jx_hlo_body *b, jx_atom atom, jx_atom *to)
{
    const jx_dim *dim = size_of(b, atom);
    jx_atom made;

    if (!dim || is_number(dim))
        return false;
    made = literal_size(b, atom, dim);
    if (made.literal)
        *to = made;
    return made.literal != NULL;
}

/* Whether the op computes with nothing but sizes. */
static bool has_known_operands(jx_hlo_body *b)
{
    for (int i = 0; i < b->op->nins; i++) {
        jx_atoms atoms = jx_hlo_atoms_of(b, b->op->ins[i]);
        if (atoms.count != 1 || !jx_sz_known(b->s->sizes, atoms.at[0]))
            return false;
    }
    return b->op->nins > 0;
}

/* An integer that is a size needs no computing, nor does a call that gives
 * nothing else; a number does, unless it is made of sizes (and numbers), as
 * `2*floordiv(b, 2) - b` is where b is even. */
bool jx_hlo_only_sizes(jx_hlo_body *b, const jx_eqn *eqn, jx_atom *to)
{
    enum { MOST = 8 };
    jx_atom atoms[MOST];

    if (b->s->sizes->plain || !b->op || eqn->nouts < 1 || eqn->nouts > MOST ||
        (eqn->nouts > 1 && eqn->prim->id != JX_PRIM_jit))
        return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_dim *dim = size_of(b, to[i]);
        if (!dim || (is_number(dim) && eqn->prim->id != JX_PRIM_jit &&
                     !has_known_operands(b)))
            return false;
        atoms[i] = literal_size(b, to[i], dim);
        if (!atoms[i].literal)
            return false;
    }
    if (jx_hlo_acts(b->s, b->op, 0))
        return false;
    memcpy(to, atoms, (size_t)eqn->nouts * sizeof *to);
    return true;
}

/* Whether the op's results are literals: what computed them is not needed. */
static bool gives_literals(jx_hlo_body *b, const jx_mlir_op *op)
{
    for (int i = 0; i < op->nouts; i++) {
        jx_atoms atoms = jx_hlo_atoms_of(b, op->outs[i]);
        for (int k = 0; k < atoms.count; k++)
            if (!atoms.at[k].literal)
                return false;
    }
    return op->nouts > 0 && !jx_hlo_acts(b->s, op, 0);
}

/* Equations from `first` on make a vector of sizes: what asks for sizes knows
 * them already. */
static void note_shaping(jx_hlo_body *b, const jx_mlir_op *op, size_t first)
{
    jx_atoms atoms =
        op->nouts == 1 ? jx_hlo_atoms_of(b, op->outs[0]) : (jx_atoms){0, NULL};

    if (atoms.count != 1 || jx_atom_aval(atoms.at[0])->rank < 1 ||
        !jx_sz_known(b->s->sizes, atoms.at[0]) || jx_hlo_acts(b->s, op, 0))
        return;
    for (size_t i = first; i < b->body.eqns.count; i++)
        JX_PUSH(b->s->ctx->arena, &b->shaping, (int)i);
}

/* A number that an op hands on as it is needs no variable either. */
static void put_number(jx_hlo_body *b, const jx_mlir_op *op)
{
    jx_atoms atoms =
        op->nouts == 1 ? jx_hlo_atoms_of(b, op->outs[0]) : (jx_atoms){0, NULL};
    const jx_dim *dim =
        atoms.count == 1 && atoms.at[0].var ? size_of(b, atoms.at[0]) : NULL;
    jx_atom made = {NULL, NULL};

    if (dim && has_known_operands(b) && !jx_hlo_acts(b->s, op, 0))
        made = literal_size(b, atoms.at[0], dim);
    if (made.literal)
        *(jx_atom *)(uintptr_t)atoms.at = made;
}

/* Leaves out equations that nobody needs who knows the sizes. */
static void drop_sizes(jx_hlo_body *b, const jx_mlir_op *op, size_t eqn,
                       size_t out)
{
    if (b->s->sizes->plain)
        return;
    put_number(b, op);
    if (b->body.eqns.count == eqn)
        return;
    if (!gives_literals(b, op)) {
        note_shaping(b, op, eqn);
        return;
    }
    b->body.eqns.count = eqn;
    b->body.outs.count = out;
}

/* ---- attributes that no rule knows the meaning of */

typedef struct refused {
    jx_op_id op;
    const char *attribute;
} refused;

#define READ(op, name)
#define MOOT(op, name)
#define REFUSED(op, name) {JX_OP_##op, name},
static const refused not_taken[] = {
#define ATTRIBUTE(op, name, fate, why) fate(op, name)
#include "frontend/mlir/attributes.def"
#undef ATTRIBUTE
};
#undef READ
#undef MOOT
#undef REFUSED

static bool says_something(const jx_mlir_attr *a)
{
    return a && !(a->kind == JX_A_BOOL && !a->boolean) &&
           !(a->kind == JX_A_ARRAY && !a->count);
}

static bool is_refused(const jx_mlir_op *op)
{
    for (size_t i = 0; i < sizeof not_taken / sizeof *not_taken; i++)
        if (not_taken[i].op == op->id &&
            says_something(jx_mlir_get(op, not_taken[i].attribute)))
            return true;
    return false;
}

/* ---- ops */

static bool read_op(jx_hlo_body *b, const jx_mlir_op *op)
{
    const jx_hlo_row *row = b->s->rows[op->id];
    size_t open = b->s->open.count, eqn = b->body.eqns.count;
    size_t out = b->body.outs.count;

    b->op = op;
    bool other = jx_hlo_has_quantized(op) || jx_hlo_widens(op);
    jx_hlo_rule *read = !row || is_refused(op) ? jx_hlo_op_none
                        : other                ? jx_hlo_quantized
                                               : row->rule;
    if (!read(b, op, row))
        return jx_ok(b->s->ctx) && jx_hlo_refuse(b, "could not be read");
    if (!jx_hlo_close(b, open, eqn, out))
        return false;
    drop_sizes(b, op, eqn, out);
    return jx_ok(b->s->ctx);
}

bool jx_hlo_block(jx_hlo_body *b, const jx_mlir_block *block)
{
    /* an op is an equation, as a rule */
    jx_body_reserve(&b->body, block->nops);
    for (int i = 0; i < block->nops; i++) {
        const jx_mlir_op *op = block->ops[i], *made;
        jx_hlo_spmd spmd = jx_hlo_spmd_of(b, block, op, &made);
        if (spmd == JX_HLO_SPMD_PART)
            continue;
        if (!jx_mlir_op_ends(op->id)) {
            if (!read_op(b, made ? made : op))
                return false;
            if (op == b->s->last)
                return true;
            continue;
        }
        b->op = op;
        jx_atoms results = jx_hlo_ins(b, 0);
        for (int k = 0; k < results.count; k++)
            JX_PUSH(b->s->ctx->arena, &b->body.results, results.at[k]);
        return jx_ok(b->s->ctx);
    }
    return jx_hlo_refuse(b, "expected the region to end in a return");
}

/* ---- functions */

typedef struct function {
    const jx_mlir_op *op;
    int nins;
    const jx_aval *const *ins;
    const jx_sz_info *known;   /* of its arguments; or NULL */
    const jx_jaxpr *jaxpr;     /* NULL while it is being read */
    const jx_sz_info *results; /* what is known of them */
} function;

static bool same_function(const void *kept, const void *key)
{
    const function *a = kept, *b = key;

    if (a->op != b->op || a->nins != b->nins || !a->known != !b->known ||
        (a->nins &&
         memcmp(a->ins, b->ins, (size_t)a->nins * sizeof *a->ins) != 0))
        return false;
    for (int i = 0; a->known && i < a->nins; i++)
        if (!jx_sz_same_info(&a->known[i], &b->known[i]))
            return false;
    return true;
}

static uint64_t hash_function(const function *f)
{
    uint64_t hash = jx_hash_mix(7, (uint64_t)(uintptr_t)f->op);

    for (int i = 0; i < f->nins; i++)
        hash = jx_hash_mix(hash, (uint64_t)(uintptr_t)f->ins[i]);
    for (int i = 0; f->known && i < f->nins; i++)
        if (f->known[i].elems)
            hash = jx_hash_mix(hash, jx_hash_bytes(f->known[i].elems,
                                                   (size_t)f->known[i].count *
                                                       sizeof(jx_sz_elem)));
    return hash;
}

static const char *function_name(jx_hlo_reader *s, const jx_mlir_op *func)
{
    const jx_mlir_attr *name = jx_mlir_get(func, "sym_name");
    const char *text = name ? jx_mlir_text(s->ctx, name) : NULL;

    return text ? text : "";
}

/* `x` of loc("x"), as JAX names arguments. */
static const char *arg_name(const jx_mlir_value *arg)
{
    const jx_mlir_attr *loc = arg->loc;

    return loc && loc->kind == JX_A_LOC_NAME ? loc->text : NULL;
}

static const char *const *arg_names(jx_hlo_reader *s,
                                    const jx_mlir_block *block, int nins)
{
    const char **names = JX_NEW_ARRAY(s->ctx->arena, nins, const char *);
    int next = 0;

    for (int i = 0; names && i < block->nargs; i++) {
        if (jx_hlo_width(block->args[i]->type) != 1)
            return NULL;
        const char *name = arg_name(block->args[i]);
        if (!name || next == nins)
            return NULL;
        names[next++] = name;
    }
    return next == nins ? names : NULL;
}

/* What JAX calls the results; NULL unless it does for all. */
static const char *const *result_paths(jx_hlo_reader *s, const jx_mlir_op *func,
                                       int nouts)
{
    const jx_mlir_attr *all = jx_mlir_get(func, "res_attrs");
    const char **paths = JX_NEW_ARRAY(s->ctx->arena, nouts, const char *);

    if (!paths || !all || all->kind != JX_A_ARRAY || all->count != nouts)
        return NULL;
    for (int i = 0; i < nouts; i++) {
        const jx_mlir_attr *info =
            jx_mlir_field(all->items[i], "jax.result_info");
        paths[i] = info ? jx_mlir_text(s->ctx, info) : NULL;
        if (!paths[i])
            return NULL;
    }
    return paths;
}

/* What is known of these atoms; NULL: of none of them. */
static const jx_sz_info *known_of(jx_hlo_reader *s, size_t count,
                                  const jx_atom *atoms, bool as_operands)
{
    jx_sz_info *known = !jx_sz_follows(s->sizes)
                            ? NULL
                            : JX_NEW_ARRAY(s->ctx->arena, count, jx_sz_info);
    bool any = false;

    for (size_t i = 0; known && i < count; i++) {
        known[i] = as_operands ? jx_sz_operand(s->sizes, atoms[i])
                               : jx_sz_info_of(s->sizes, atoms[i]);
        any = any || known[i].elems;
    }
    return any ? known : NULL;
}

static const jx_jaxpr *read_function(jx_hlo_reader *s, function *f)
{
    const jx_mlir_block *block =
        f->op->nregions == 1 ? jx_mlir_body(f->op, 0) : NULL;
    jx_hlo_body *b = jx_hlo_body_new(s, NULL);
    jx_jaxpr *made;

    if (!b)
        return NULL;
    b->op = b->func = f->op;
    if (!block) {
        jx_hlo_refuse(b, "expected a function with a body of one block");
        return NULL;
    }
    if (!jx_hlo_read_block(b, block, f->nins, f->ins, f->known))
        return NULL;
    f->results = known_of(s, b->body.results.count, b->body.results.at, false);
    made = jx_hlo_body_finish(b, (jx_atoms){0, NULL}, function_name(s, f->op));
    if (made) {
        made->arg_names = arg_names(s, block, made->nins);
        made->result_paths = result_paths(s, f->op, made->nouts);
    }
    return made;
}

static const function *find_function(jx_hlo_reader *s, const jx_mlir_op *func,
                                     const jx_mlir_op *caller, int nins,
                                     const jx_aval *const *ins,
                                     const jx_sz_info *known)
{
    function key = {.op = func, .nins = nins, .ins = ins, .known = known};
    uint64_t hash = hash_function(&key);
    const function *found =
        jx_intern_find(&s->functions, hash, &key, same_function);

    if (found && !found->jaxpr)
        jx_hlo_refuse_at(s, caller, "a function that calls itself");
    if (found)
        return found->jaxpr ? found : NULL;
    function *kept = jx_arena_copy(s->ctx->arena, &key, sizeof key);
    if (!kept || !(kept->ins = jx_arena_copy(s->ctx->arena, ins,
                                             (size_t)nins * sizeof *ins)))
        return NULL;
    jx_intern_add(&s->functions, hash, kept);
    kept->jaxpr = read_function(s, kept);
    return kept->jaxpr ? kept : NULL;
}

const jx_jaxpr *jx_hlo_jaxpr_of(jx_hlo_reader *s, const jx_mlir_op *func,
                                const jx_mlir_op *caller, int nins,
                                const jx_aval *const *ins,
                                const jx_sz_info *known)
{
    const function *found = find_function(s, func, caller, nins, ins, known);

    return found ? found->jaxpr : NULL;
}

/* ---- calls */

static const jx_aval *const *avals_of(jx_hlo_reader *s, jx_atoms atoms)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(s->ctx->arena, atoms.count, const jx_aval *);

    for (int i = 0; avals && i < atoms.count; i++)
        avals[i] = jx_atom_aval(atoms.at[i]);
    return avals;
}

static const jx_atom *emit_call(jx_hlo_body *b, const jx_jaxpr *jaxpr,
                                const jx_sz_info *known, jx_atoms ins,
                                const char *name)
{
    jx_params p = jx_hlo_no_params(b);
    const jx_aval *const *outs =
        avals_of(b->s, (jx_atoms){jaxpr->nouts, jaxpr->outs});

    jx_put_jaxpr(&p, "jaxpr", jaxpr);
    jx_put_text(&p, "name", name);
    return outs ? jx_hlo_eqn_known(b, jx_prim_of(JX_PRIM_jit), ins.count,
                                   ins.at, &p, jaxpr->nouts, outs, known)
                : NULL;
}

/* A `jit` equation: its results have the types that the jaxpr gives. */
const jx_atom *jx_hlo_eqn_call(jx_hlo_body *b, const jx_jaxpr *jaxpr,
                               jx_atoms ins, const char *name)
{
    return emit_call(b, jaxpr, NULL, ins, name);
}

bool jx_hlo_call_of(jx_hlo_body *b, const jx_mlir_op *func, const char *name)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval *const *avals = avals_of(b->s, ins);
    const function *made;
    const jx_atom *outs;

    if (!avals || !jx_ok(b->s->ctx))
        return false;
    made = find_function(b->s, func, b->op, ins.count, avals,
                         known_of(b->s, (size_t)ins.count, ins.at, true));
    outs = made ? emit_call(b, made->jaxpr, made->results, ins, name) : NULL;
    return outs && jx_hlo_define(b, made->jaxpr->nouts, outs);
}

static const jx_mlir_op *callee(jx_hlo_body *b, const char *attribute)
{
    const char *name = jx_hlo_attr_text(b, attribute);
    const jx_mlir_op *func =
        name ? jx_mlir_find(b->s->ctx, &b->s->symbols, b->s->module, name)
             : NULL;

    if (!func || func->id != JX_OP_func_func) {
        jx_hlo_refuse(b,
                      "expected the name of a function of the module, "
                      "found '%s'",
                      name ? name : "");
        return NULL;
    }
    return func;
}

bool jx_hlo_op_call(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    const jx_mlir_op *func = callee(b, "callee");

    (void)op, (void)row;
    return func && jx_hlo_call_of(b, func, function_name(b->s, func));
}

/* A composite is what its decomposition computes. */
bool jx_hlo_op_composite(jx_hlo_body *b, const jx_mlir_op *op,
                         const jx_hlo_row *row)
{
    const jx_mlir_op *func = callee(b, "decomposition");
    const char *name = jx_hlo_attr_text(b, "name");

    (void)op, (void)row;
    return func &&
           jx_hlo_call_of(b, func, name ? name : function_name(b->s, func));
}

/* ---- ops without a meaning here */

/* By the name of the op; one that is a primitive's name says that it is not
 * that one: a `sin` of another dialect, an op in a form that is not known. */
static const jx_prim *unknown_prim(jx_hlo_body *b, const jx_mlir_op *op)
{
    const jx_prim *prim = jx_prim_named(b->s->ctx, op->name);
    const char *name;

    if (!prim || prim->id == JX_PRIM_unknown)
        return prim;
    name = jx_arena_printf(b->s->ctx->arena, "%s (in another form)", op->name);
    return name ? jx_prim_named(b->s->ctx, jx_intern_text(b->s->ctx, name))
                : NULL;
}

bool jx_hlo_unknown(jx_hlo_body *b, const jx_mlir_op *op)
{
    const jx_prim *prim = unknown_prim(b, op);
    jx_atoms ins = jx_hlo_ins(b, 0);
    JX_VEC(const jx_aval *) outs = {0};
    jx_arena *arena = b->s->ctx->arena;

    for (int i = 0; i < op->nouts; i++) {
        const jx_mlir_type *type = op->outs[i]->type;
        if (type->kind == JX_T_TUPLE || type->kind == JX_T_FUTURE) {
            for (int k = 0; k < type->count; k++)
                if (jx_hlo_width(type->items[k]) == 1)
                    JX_PUSH(arena, &outs,
                            jx_hlo_aval_of(b, type->items[k], NULL));
        } else if (jx_hlo_width(type) == 1) {
            JX_PUSH(arena, &outs, jx_hlo_aval_of(b, type, NULL));
        }
    }
    const jx_atom *made = jx_hlo_eqn_all(b, prim, ins.count, ins.at, NULL,
                                         (int)outs.count, outs.at);
    return made && jx_hlo_define(b, (int)outs.count, made);
}

/* ---- modules */

static bool is_public(const jx_mlir_op *func)
{
    const jx_mlir_attr *v = jx_mlir_get(func, "sym_visibility");

    return !v || v->kind != JX_A_STRING || v->size != 7 ||
           memcmp(v->bytes, "private", 7);
}

typedef JX_VEC(const jx_mlir_op *) op_list;

/* The functions of a module that are its program: `main`, or all public. */
static bool entries_of(jx_hlo_reader *s, const jx_mlir_op *module, op_list *to)
{
    const jx_mlir_op *main = jx_mlir_symbol(module, "main");
    const jx_mlir_block *body =
        module->nregions ? jx_mlir_body(module, 0) : NULL;

    if (main && main->id == JX_OP_func_func) {
        JX_PUSH(s->ctx->arena, to, main);
        return true;
    }
    for (int i = 0; body && i < body->nops; i++)
        if (body->ops[i]->id == JX_OP_func_func && is_public(body->ops[i]) &&
            body->ops[i]->nregions && body->ops[i]->regions[0].nblocks)
            JX_PUSH(s->ctx->arena, to, body->ops[i]);
    return true;
}

/* Calls each of them in order, with all their inputs and outputs. */
static const jx_jaxpr *read_all(jx_hlo_reader *s, const op_list *modules,
                                const op_list *funcs)
{
    jx_hlo_body *b = jx_hlo_body_new(s, NULL);

    for (size_t i = 0; b && i < funcs->count; i++) {
        s->module = modules->at[i];
        const jx_jaxpr *jaxpr = jx_hlo_entry(s, funcs->at[i], NULL);
        if (!jaxpr)
            return NULL;
        jx_atom *ins = JX_NEW_ARRAY(s->ctx->arena, jaxpr->nins, jx_atom);
        for (int k = 0; ins && k < jaxpr->nins; k++)
            ins[k] = jx_body_input(&b->body, jaxpr->vars[k]->aval);
        b->op = funcs->at[i];
        const jx_atom *outs =
            ins ? jx_hlo_eqn_call(b, jaxpr, (jx_atoms){jaxpr->nins, ins},
                                  function_name(s, funcs->at[i]))
                : NULL;
        for (int k = 0; outs && k < jaxpr->nouts; k++)
            JX_PUSH(s->ctx->arena, &b->body.results, outs[k]);
        if (!outs)
            return NULL;
    }
    return b ? jx_hlo_body_finish(b, (jx_atoms){0, NULL}, NULL) : NULL;
}

/* What is read continues the tables of another program. */
static void go_on(jx_hlo_reader *s, const jx_builder *into)
{
    for (size_t i = 0; i < into->jaxprs.count; i++)
        JX_PUSH(s->ctx->arena, &s->build.jaxprs, into->jaxprs.at[i]);
    for (int i = 0; i < into->program->nmeshes; i++)
        JX_PUSH(s->ctx->arena, &s->meshes, into->program->meshes[i]);
}

bool jx_hlo_begin_reading(jx_hlo_reader *s, const jx_mlir_file *file,
                          jx_infer_open *infer, const jx_builder *into)
{
    *s = (jx_hlo_reader){.ctx = file->ctx, .file = file, .infer = infer};
    s->program = into ? into->program : jx_program_new(file->ctx, file->path);
    if (s->program && !into)
        s->program->base = 0; /* until somebody says that sizes are positive */
    s->base = s->program ? s->program->base : 0;
    jx_hlo_begin_building(s);
    if (into)
        go_on(s, into);
    jx_map_init(&s->types, file->ctx->arena);
    jx_intern_init(&s->functions, file->ctx->arena);
    jx_map_init(&s->doing, file->ctx->arena);
    jx_intern_init(&s->calls, file->ctx->arena);
    jx_map_init(&s->stacks, file->ctx->arena);
    jx_map_init(&s->files, file->ctx->arena);
    jx_map_init(&s->frames, file->ctx->arena);
    fill_rows(s);
    return s->program && jx_ok(file->ctx);
}

/* Sizes that are values of inputs: which input an argument is. */
static void put_valued(jx_hlo_reader *s)
{
    const jx_mlir_block *block = s->entry ? jx_mlir_body(s->entry, 0) : NULL;
    JX_VEC(jx_valued) found = {0};

    for (size_t i = 0; block && i < s->sizes->vars.count; i++) {
        const jx_size_var *var = &s->sizes->vars.at[i];
        jx_valued made = {0, var->element, var->var};
        if (var->origin != JX_SIZE_INPUT)
            continue;
        for (int k = 0; k < var->input; k++)
            made.input += jx_hlo_width(block->args[k]->type);
        JX_PUSH(s->ctx->arena, &found, made);
    }
    s->program->nvalued = (int)found.count;
    s->program->valued = found.at;
}

static int64_t number_said(const jx_mlir_op *module, const char *name)
{
    const jx_mlir_attr *a = module ? jx_mlir_get(module, name) : NULL;

    return a && a->kind == JX_A_INTEGER && !a->bytes && a->integer > 1
               ? a->integer
               : 1;
}

/* Replicas times partitions: at most what is met in practice and far beyond. */
static void count_devices(const jx_mlir_op *module, jx_program *p)
{
    p->replicas = number_said(module, "mhlo.num_replicas");
    if (__builtin_mul_overflow(number_said(module, "mhlo.num_partitions"),
                               p->replicas, &p->devices))
        p->devices = INT64_MAX;
}

/* ---- what was read and is not called */

static void keep_value(bool *kept, const jx_value *value)
{
    if (value->jaxpr)
        kept[value->jaxpr->id] = true;
    for (int i = 0; value->items && i < value->count; i++)
        keep_value(kept, value->items[i]);
}

/* A function that gives nothing but sizes is read to know them, and not called.
 * Callers come behind what they call. */
static void drop_jaxprs(jx_hlo_reader *s, const jx_jaxpr *entry)
{
    bool *kept = JX_NEW_ARRAY(s->ctx->arena, s->build.jaxprs.count + 1, bool);
    size_t next = 0;

    if (!kept || s->sizes->plain)
        return;
    kept[entry->id] = true;
    for (size_t i = s->build.jaxprs.count; i-- > 0;)
        for (int k = 0; kept[i] && k < s->build.jaxprs.at[i]->neqns; k++)
            for (int n = 0; n < s->build.jaxprs.at[i]->eqns[k].nparams; n++)
                keep_value(kept,
                           s->build.jaxprs.at[i]->eqns[k].params[n].value);
    for (size_t i = 0; i < s->build.jaxprs.count; i++) {
        jx_jaxpr *jaxpr = (jx_jaxpr *)(uintptr_t)s->build.jaxprs.at[i];
        if (!kept[i])
            continue;
        jaxpr->id = (int)next;
        s->build.jaxprs.at[next++] = jaxpr;
    }
    s->build.jaxprs.count = next;
}

void jx_hlo_end_into(const jx_hlo_reader *s, jx_builder *into)
{
    jx_program *p = into->program;
    const jx_file **files =
        JX_NEW_ARRAY(s->ctx->arena, (size_t)p->nfiles + s->files_read.count,
                     const jx_file *);

    p->base = s->base; /* it knows its own sizes */
    for (size_t i = into->jaxprs.count; i < s->build.jaxprs.count; i++)
        JX_PUSH(s->ctx->arena, &into->jaxprs, s->build.jaxprs.at[i]);
    for (size_t i = 0; i < s->build.arrays.count; i++)
        JX_PUSH(s->ctx->arena, &into->arrays, s->build.arrays.at[i]);
    for (int i = 0; files && i < p->nfiles; i++)
        files[i] = p->files[i];
    for (size_t i = 0; files && i < s->files_read.count; i++)
        files[p->nfiles++] = s->files_read.at[i];
    p->files = files ? files : p->files;
}

jx_program *jx_hlo_end(jx_hlo_reader *s, const jx_jaxpr *entry,
                       const char *name)
{
    jx_program *p = s->program;
    jx_scope *scope = JX_NEW(s->ctx->arena, jx_scope);

    if (!entry || !scope || !jx_ok(s->ctx))
        return NULL;
    drop_jaxprs(s, entry);
    p->entry.jaxpr = entry;
    p->name = name;
    p->njaxprs = (int)s->build.jaxprs.count;
    p->jaxprs = s->build.jaxprs.at;
    p->nfiles = (int)s->files_read.count;
    p->files = s->files_read.at;
    p->narrays = (int)s->build.arrays.count;
    p->arrays = s->build.arrays.at;
    put_valued(s);
    jx_program_put_unsaid(p, (int)s->unsaid.count, s->unsaid.at);
    *scope = (jx_scope){(int)s->sizes->constraints.count,
                        s->sizes->constraints.at, NULL};
    if (scope->nconstraints) {
        p->nscopes = 1;
        p->scopes = scope;
    }
    p->base = s->sizes->base;
    p->nequated = (int)s->equated.count;
    p->equated = s->equated.at;
    count_devices(s->module, p);
    p->nmisstated = (int)s->misstated.count;
    p->misstated = s->misstated.at;
    p->nlooked = (int)s->sizes->looked.count;
    p->looked = s->sizes->looked.at;
    p->tree = s->file;
    return p;
}

/* The attribute of the one of `count` that is number `wanted`
 * of the program. */
static const jx_mlir_attr *attribute_of(const jx_mlir_attr *all, int count,
                                        const int *numbers, int wanted,
                                        const char *name)
{
    for (int i = 0; all && all->kind == JX_A_ARRAY && i < count; i++)
        if (numbers[i] == wanted)
            return i < all->count ? jx_mlir_field(all->items[i], name) : NULL;
    return NULL;
}

const jx_mlir_attr *jx_tree_argument(const jx_tree_entry *entry, int input,
                                     const char *name)
{
    return attribute_of(jx_mlir_get(entry->func, "arg_attrs"), entry->nargs,
                        entry->inputs, input, name);
}

const jx_mlir_attr *jx_tree_result(const jx_tree_entry *entry, int output,
                                   const char *name)
{
    return attribute_of(jx_mlir_get(entry->func, "res_attrs"), entry->nresults,
                        entry->outputs, output, name);
}

/* The outputs that the function's results are. */
static const int *outputs_of(jx_hlo_reader *s, const jx_mlir_block *block,
                             int *count)
{
    const jx_mlir_op *last = block->nops ? block->ops[block->nops - 1] : NULL;
    int n = last ? last->nins : 0, next = 0;
    int *outputs = JX_NEW_ARRAY(s->ctx->arena, n + 1, int);

    for (int i = 0; outputs && i < n; i++) {
        int width = jx_hlo_width(last->ins[i]->type);
        outputs[i] = width == 1 ? next : -1;
        next += width;
    }
    *count = n;
    return outputs;
}

const struct jx_tree_entry *jx_hlo_tree_entry(jx_hlo_reader *s,
                                              const jx_mlir_op *func, int nkept,
                                              const uint16_t *kept)
{
    const jx_mlir_block *block = jx_mlir_body(func, 0);
    jx_tree_entry *made = JX_NEW(s->ctx->arena, jx_tree_entry);
    int *inputs =
            block ? JX_NEW_ARRAY(s->ctx->arena, block->nargs + 1, int) : NULL,
        next = 0, nresults = 0;
    const int *outputs = block ? outputs_of(s, block, &nresults) : NULL;

    if (!made || !inputs || !outputs)
        return NULL;
    for (int i = 0; i < block->nargs; i++) {
        int width = jx_hlo_width(block->args[i]->type);
        int last = i - (block->nargs - nkept);
        if (kept)
            inputs[i] = last >= 0 ? kept[last] : -1;
        else
            inputs[i] = width == 1 ? next : -1;
        next += width;
    }
    *made = (jx_tree_entry){s->infer, s->module, func,   block->nargs,
                            nresults, inputs,    outputs};
    return made;
}

/* "f" of a module "jit_f", else the function's name. */
static const char *program_name(jx_hlo_reader *s, const jx_mlir_op *module,
                                const jx_mlir_op *func)
{
    const jx_mlir_attr *name = jx_mlir_get(module, "sym_name");
    const char *text = name ? jx_mlir_text(s->ctx, name) : NULL;

    if (text && !strncmp(text, "jit_", 4) && text[4])
        return text + 4;
    return text && *text ? text : function_name(s, func);
}

jx_program *jx_read_stablehlo(const jx_mlir_file *file, jx_infer_open *infer)
{
    op_list modules = {0}, funcs = {0};
    const jx_jaxpr *entry;
    jx_program *made;
    jx_hlo_reader s;

    if (!jx_hlo_begin_reading(&s, file, infer, NULL))
        return NULL;
    for (int i = 0; i < file->nmodules; i++) {
        entries_of(&s, file->modules[i], &funcs);
        for (size_t k = modules.count; k < funcs.count; k++)
            JX_PUSH(s.ctx->arena, &modules, file->modules[i]);
    }
    if (!funcs.count || modules.count != funcs.count) {
        jx_fail(s.ctx, JX_E_INPUT, file->path, NULL,
                "expected a module with a function");
        return NULL;
    }
    s.module = modules.at[0];
    entry = funcs.count == 1 ? jx_hlo_entry(&s, funcs.at[0], NULL)
                             : read_all(&s, &modules, &funcs);
    made = jx_hlo_end(&s, entry, program_name(&s, modules.at[0], funcs.at[0]));
    if (made && funcs.count == 1)
        made->tree_entry = jx_hlo_tree_entry(&s, funcs.at[0], 0, NULL);
    return made;
}
