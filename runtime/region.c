/* region.c - see region.h. */
#include "runtime/region.h"

#include "frontend/base/assert.h"
#include "runtime/elementwise.h"
#include "runtime/kernels/vector.h"
#include "runtime/run.h"

#include <string.h>

/* A region is shared with the helper thread from this many element-steps on,
 * in chunks of so many elements. */
enum { SHARED_WORK = 1 << 17, SHARED_CHUNK = 1 << 14 };
enum { TILE_MIN = 128, TILE_MAX = 2048, TILE_BYTES = 24 << 10, ALIGN = 64 };
/* Elements that are moved sooner than a loop over vectors begins. */
enum { FEW = 8 };

/* There is room for a value at any time, with memory or without. */
enum { FIRST_VALUES = 4, FIRST_INSTRS = 1 /* mostly that is all */ };

jx_region *jx_region_new(jx_arena *arena)
{
    jx_region *r = JX_NEW(arena, jx_region);

    if (!r)
        return NULL;
    r->values.at = JX_NEW_ARRAY(arena, FIRST_VALUES, jx_rvalue);
    r->values.capacity = FIRST_VALUES;
    r->instrs.at = JX_NEW_ARRAY(arena, FIRST_INSTRS, jx_rinstr);
    r->instrs.capacity = r->instrs.at ? FIRST_INSTRS : 0;
    return r->values.at ? r : NULL;
}

static int add_value(jx_arena *arena, jx_region *r, jx_dtype dtype, int input)
{
    JX_PUSH(arena, &r->values,
            (jx_rvalue){.dtype = dtype, .input = input, .output = -1});
    /* Without memory any will do: nobody runs the region. */
    return r->values.count ? (int)r->values.count - 1 : 0;
}

int jx_region_input(jx_arena *arena, jx_region *r, jx_dtype dtype)
{
    int value = add_value(arena, r, dtype, r->nins++);

    JX_PUSH(arena, &r->inputs, value);
    return value;
}

int jx_region_instr(jx_arena *arena, jx_region *r, jx_tile *tile,
                    const void *param, jx_dtype out, int nins, const int *ins)
{
    int *kept = jx_arena_copy(arena, ins, (size_t)nins * sizeof *ins);
    for (int i = 0; i < nins; i++)
        JX_ASSERT(ins[i] >= 0 && (size_t)ins[i] < r->values.count);
    int value = add_value(arena, r, out, -1);
    JX_PUSH(arena, &r->instrs, (jx_rinstr){tile, param, value, nins, kept});
    return value;
}

int jx_region_convert(jx_arena *arena, jx_region *r, int value, jx_dtype to)
{
    /* At most: widen, convert, narrow. */
    for (int step = 0; step < 4 && value >= 0; step++) {
        jx_dtype from = r->values.at[value].dtype, next;
        if (from == to)
            return value;
        jx_tile *tile = jx_convert_step(from, to, &next);
        if (!tile)
            return -1;
        value = jx_region_instr(arena, r, tile, NULL, next, 1, &value);
    }
    return value >= 0 && r->values.at[value].dtype == to ? value : -1;
}

void jx_region_output(jx_arena *arena, jx_region *r, int value)
{
    /* A value that is an operand, or an output already, is written by an
     * instruction of its own. */
    if (r->values.at[value].input >= 0 || r->values.at[value].output >= 0) {
        jx_dtype dtype = r->values.at[value].dtype;
        value = jx_region_instr(arena, r, jx_tile_convert(dtype, dtype), NULL,
                                dtype, 1, &value);
    }
    r->values.at[value].output = r->nouts++;
    JX_PUSH(arena, &r->outputs, value);
}

void jx_region_merge(jx_arena *arena, jx_region *a, const jx_region *b,
                     const int *map)
{
    int *values = JX_NEW_ARRAY(arena, b->values.count, int);

    if (!values)
        return;
    for (size_t i = 0; i < b->values.count; i++)
        values[i] = -1; /* none yet */
    for (int i = 0; i < b->nins; i++) {
        int value = b->inputs.at[i];
        values[value] =
            map[i] >= 0 ? map[i]
                        : jx_region_input(arena, a, b->values.at[value].dtype);
    }
    for (size_t i = 0; i < b->instrs.count; i++) {
        const jx_rinstr *instr = &b->instrs.at[i];
        int *ins = JX_NEW_ARRAY(arena, instr->nins, int);
        if (!ins)
            return;
        for (int k = 0; k < instr->nins; k++)
            ins[k] = values[instr->ins[k]];
        values[instr->out] =
            jx_region_instr(arena, a, instr->tile, instr->param,
                            b->values.at[instr->out].dtype, instr->nins, ins);
    }
    for (int i = 0; i < b->nouts; i++)
        jx_region_output(arena, a, values[b->outputs.at[i]]);
}

/* Instruction `i` widens what another narrowed from f32: it may round that. */
static void join_rounding(jx_arena *arena, jx_region *r, const int *maker,
                          size_t i)
{
    jx_rinstr *wide = &r->instrs.at[i];
    int narrow = wide->nins == 1 ? maker[wide->ins[0]] : -1;

    if (narrow < 0 || r->values.at[wide->out].dtype != JX_F32)
        return;
    const jx_rinstr *from = &r->instrs.at[narrow];
    jx_dtype small = r->values.at[from->out].dtype;
    if (!jx_tile_round(small) || wide->tile != jx_tile_convert(small, JX_F32) ||
        from->tile != jx_tile_convert(JX_F32, small))
        return;
    int *ins = jx_arena_copy(arena, from->ins, sizeof *ins);
    if (!ins)
        return;
    wide->tile = jx_tile_round(small);
    wide->ins = ins;
}

static void drop_unused(jx_arena *arena, jx_region *r)
{
    int *maker = JX_NEW_ARRAY(arena, r->values.count, int);
    bool *used = JX_NEW_ARRAY(arena, r->values.count, bool);
    size_t kept = 0;

    if (!maker || !used)
        return;
    for (size_t i = 0; i < r->values.count; i++) {
        maker[i] = -1;
        used[i] = r->values.at[i].output >= 0;
    }
    for (size_t i = 0; i < r->instrs.count; i++) {
        join_rounding(arena, r, maker, i);
        maker[r->instrs.at[i].out] = (int)i;
    }
    for (size_t i = r->instrs.count; i-- > 0;)
        for (int k = 0; used[r->instrs.at[i].out] && k < r->instrs.at[i].nins;
             k++)
            used[r->instrs.at[i].ins[k]] = true;
    for (size_t i = 0; i < r->instrs.count; i++)
        if (used[r->instrs.at[i].out])
            r->instrs.at[kept++] = r->instrs.at[i];
    r->instrs.count = kept;
}

/* ---- as XLA's code has it */

/* A widening of what was narrowed from f32 gives the f32 itself. */
static void skip_rounding(jx_region *r, const int *maker, const int *stands_for,
                          size_t i)
{
    const jx_rinstr *wide = &r->instrs.at[i], *from;
    int narrow = wide->nins == 1 ? maker[wide->ins[0]] : -1;
    int *to = (int *)(uintptr_t)stands_for;

    if (narrow < 0 || r->values.at[wide->out].dtype != JX_F32)
        return;
    from = &r->instrs.at[narrow];
    if (from->nins == 1 && r->values.at[from->ins[0]].dtype == JX_F32 &&
        jx_tile_round(r->values.at[from->out].dtype) &&
        wide->tile == jx_tile_convert(r->values.at[from->out].dtype, JX_F32))
        to[wide->out] = to[from->ins[0]];
}

/* Operands by what they stand for. */
static void take_instead(jx_arena *arena, jx_rinstr *instr,
                         const int *stands_for)
{
    int *ins =
        jx_arena_copy(arena, instr->ins, (size_t)instr->nins * sizeof *ins + 1);

    for (int k = 0; ins && k < instr->nins; k++)
        ins[k] = stands_for[ins[k]];
    if (ins)
        instr->ins = ins;
}

/* A new value, the negative of one; its instruction goes to the end of `to`. */
static int negated(jx_arena *arena, jx_region *r, int value, jx_rinstr *to)
{
    jx_dtype dtype = r->values.at[value].dtype;
    int *ins = jx_arena_copy(arena, &value, sizeof value);

    JX_PUSH(arena, &r->values, ((jx_rvalue){dtype, -1, -1}));
    *to = (jx_rinstr){jx_tile_of(JX_PRIM_neg, dtype), NULL,
                      (int)r->values.count - 1, 1, ins};
    return to->out;
}

/* The operand of a sum or difference that is a product which nothing else
 * takes; -1: none. Unless they are rounded once, they stay what they are: the
 * first of a sum. */
static int product_in(const jx_region *r, const jx_rinstr *sum,
                      const int *maker, const int *uses, bool once)
{
    jx_dtype dtype = r->values.at[sum->out].dtype;

    if ((dtype != JX_F32 && dtype != JX_F64) ||
        (sum->tile != jx_tile_of(JX_PRIM_add, dtype) &&
         (!once || sum->tile != jx_tile_of(JX_PRIM_sub, dtype))))
        return -1;
    for (int k = 0; k < (once ? 2 : 1); k++)
        if (maker[sum->ins[k]] >= 0 && uses[sum->ins[k]] == 1 &&
            r->instrs.at[maker[sum->ins[k]]].tile ==
                jx_tile_of(JX_PRIM_mul, dtype))
            return k;
    return -1;
}

/* Products go into the sums that take them; they are rounded once there, or
 * twice as before. */
static void contract(jx_arena *arena, jx_region *r, const int *maker,
                     const int *uses, bool once)
{
    size_t n = r->instrs.count, made = 0;
    jx_rinstr *instrs = JX_NEW_ARRAY(arena, 2 * n + 1, jx_rinstr);

    for (size_t i = 0; instrs && i < n; i++) {
        jx_rinstr sum = r->instrs.at[i];
        int k = product_in(r, &sum, maker, uses, once);
        if (k >= 0) {
            jx_dtype dtype = r->values.at[sum.out].dtype;
            const int *of = r->instrs.at[maker[sum.ins[k]]].ins;
            int ins[] = {of[0], of[1], sum.ins[1 - k]};
            if (sum.tile == jx_tile_of(JX_PRIM_sub, dtype)) {
                int *less = &ins[k == 0 ? 2 : 0];
                *less = negated(arena, r, *less, &instrs[made++]);
            }
            sum.tile = once ? jx_tile_fma(dtype) : jx_tile_mul_add(dtype);
            sum.nins = 3;
            sum.ins = jx_arena_copy(arena, ins, sizeof ins);
        }
        instrs[made++] = sum;
    }
    if (!instrs || jx_arena_failed(arena))
        return;
    r->instrs.at = instrs;
    r->instrs.count = made;
    r->instrs.capacity = 2 * n + 1;
}

/* Which instruction makes each value, and how many take it. */
static void find_uses(const jx_region *r, int *maker, int *uses)
{
    for (size_t i = 0; i < r->values.count; i++) {
        maker[i] = -1;
        /* somebody else takes it, too */
        uses[i] = r->values.at[i].output >= 0 ? 2 : 0;
    }
    for (size_t i = 0; i < r->instrs.count; i++) {
        maker[r->instrs.at[i].out] = (int)i;
        for (int k = 0; k < r->instrs.at[i].nins; k++)
            uses[r->instrs.at[i].ins[k]]++;
    }
}

static void skip_roundings(jx_arena *arena, jx_region *r, int *maker)
{
    size_t n = r->values.count;
    int *stands_for = JX_NEW_ARRAY(arena, n, int);

    if (!stands_for)
        return;
    for (size_t i = 0; i < n; i++) {
        maker[i] = -1;
        stands_for[i] = (int)i;
    }
    for (size_t i = 0; i < r->instrs.count; i++) {
        jx_rinstr *instr = &r->instrs.at[i];
        skip_rounding(r, maker, stands_for, i);
        take_instead(arena, instr, stands_for);
        maker[instr->out] = (int)i;
    }
}

void jx_region_simplify(jx_arena *arena, jx_region *r, bool excess)
{
    size_t n = r->values.count;
    int *maker, *uses;

    if (r->instrs.count < 2)
        return; /* there is nothing to join */
    maker = JX_NEW_ARRAY(arena, n, int);
    uses = JX_NEW_ARRAY(arena, n, int);
    if (!maker || !uses)
        return;
    if (excess)
        skip_roundings(arena, r, maker);
    drop_unused(arena, r);
    find_uses(r, maker, uses);
    contract(arena, r, maker, uses, excess);
    drop_unused(arena, r);
}

void jx_region_keep(jx_region *r, const bool *keep)
{
    int kept = 0;

    for (int i = 0; i < r->nouts; i++) {
        int value = r->outputs.at[i];
        r->values.at[value].output = keep[i] ? kept : -1;
        if (keep[i])
            r->outputs.at[kept++] = value;
    }
    r->outputs.count = (size_t)kept;
    r->nouts = kept;
}

bool jx_region_in_place(const jx_region *r, int in, int out)
{
    bool written = false;

    for (size_t i = 0; i < r->instrs.count; i++) {
        const jx_rinstr *instr = &r->instrs.at[i];
        for (int k = 0; k < instr->nins && written; k++)
            if (instr->ins[k] == r->inputs.at[in])
                return false;
        written |= instr->out == r->outputs.at[out];
    }
    return true;
}

const char *jx_region_fault(jx_arena *arena, const jx_region *r)
{
    size_t nvalues = r->values.count;
    bool *made = JX_NEW_ARRAY(arena, nvalues, bool);

    if (!made)
        return NULL;
    if (r->inputs.count != (size_t)r->nins ||
        r->outputs.count != (size_t)r->nouts)
        return "a region has other operands or outputs than it says";
    for (size_t i = 0; i < r->inputs.count; i++)
        made[r->inputs.at[i]] = true;
    for (size_t i = 0; i < r->instrs.count; i++) {
        const jx_rinstr *instr = &r->instrs.at[i];
        for (int k = 0; k < instr->nins; k++)
            if (instr->ins[k] < 0 || (size_t)instr->ins[k] >= nvalues ||
                !made[instr->ins[k]])
                return "an instruction of a region reads what is made later";
        if (!instr->tile || made[instr->out])
            return "an instruction of a region makes nothing new";
        made[instr->out] = true;
    }
    for (int i = 0; i < r->nouts; i++)
        if (!made[r->outputs.at[i]] ||
            r->values.at[r->outputs.at[i]].output != i)
            return "an output of a region is not made";
    return NULL;
}

/* Compiled form. */

/* Where a value is during a tile. */
typedef enum place_kind {
    PLACE_NONE = 0, /* not used */
    PLACE_REGISTER,
    PLACE_INPUT,
    PLACE_OUTPUT,
} place_kind;

typedef struct load {
    int input, at; /* `at`: index of the pointer that it fills */
    unsigned size;
    jx_access access;
} load;

typedef struct step {
    jx_tile *tile;
    const void *param;
    int out, nins;
    const int *ins; /* indices of pointers */
} step;

typedef struct compiled {
    int64_t count, tile;
    int npointers; /* registers, then inputs, then outputs */
    int nregs, nins, nouts, nloads, nsteps;
    size_t register_bytes, worker_bytes;
    int workers;
    const load *loads;
    const step *steps;
    const unsigned char *in_sizes, *out_sizes;
} compiled;

typedef struct registers {
    int count;
    int free[256];
    int nfree;
} registers;

static int take(registers *regs)
{
    return regs->nfree ? regs->free[--regs->nfree] : regs->count++;
}

static void give(registers *regs, int reg)
{
    if (regs->nfree < (int)(sizeof regs->free / sizeof *regs->free))
        regs->free[regs->nfree++] = reg;
}

/* The last instruction that reads each value; -1: none. */
static void last_uses(const jx_region *r, int *last)
{
    for (size_t i = 0; i < r->values.count; i++)
        last[i] = -1;
    for (size_t i = 0; i < r->instrs.count; i++)
        for (int k = 0; k < r->instrs.at[i].nins; k++)
            last[r->instrs.at[i].ins[k]] = (int)i;
}

static size_t value_bytes(const jx_region *r, int value)
{
    return jx_dtype_of(r->values.at[value].dtype)->bytes;
}

/* Gives each value a place; registers are reused after a value's last use.
 * Loaded operands keep theirs: loads come before all instructions. */
static int place_values(const jx_region *r, const jx_access *access,
                        const int *last, place_kind *kind, int *reg)
{
    registers regs = {0};

    for (int i = 0; i < r->nins; i++) {
        int value = r->inputs.at[i];
        kind[value] =
            access[i] == JX_ACCESS_DENSE ? PLACE_INPUT : PLACE_REGISTER;
        if (access[i] != JX_ACCESS_DENSE)
            reg[value] = regs.count++;
    }
    for (size_t i = 0; i < r->instrs.count; i++) {
        const jx_rinstr *instr = &r->instrs.at[i];
        for (int k = 0; k < instr->nins; k++) {
            int value = instr->ins[k];
            if (last[value] == (int)i && kind[value] == PLACE_REGISTER &&
                r->values.at[value].input < 0 &&
                value_bytes(r, value) == value_bytes(r, instr->out)) {
                give(&regs, reg[value]);
                kind[value] = PLACE_NONE; /* not twice: x * x */
                reg[value] = -1 - reg[value];
            }
        }
        kind[instr->out] = PLACE_OUTPUT;
        if (r->values.at[instr->out].output < 0) {
            kind[instr->out] = PLACE_REGISTER;
            reg[instr->out] = take(&regs);
            if (last[instr->out] < 0)
                give(&regs, reg[instr->out]);
        }
        /* Elements of another size may not be overwritten while they are
         * read. */
        for (int k = 0; k < instr->nins; k++) {
            int value = instr->ins[k];
            if (last[value] == (int)i && kind[value] == PLACE_REGISTER &&
                r->values.at[value].input < 0 && reg[value] >= 0 &&
                value_bytes(r, value) != value_bytes(r, instr->out)) {
                give(&regs, reg[value]);
                kind[value] = PLACE_NONE;
                reg[value] = -1 - reg[value];
            }
        }
    }
    for (size_t i = 0; i < r->values.count; i++)
        if (reg[i] < 0) {
            reg[i] = -1 - reg[i];
            kind[i] = PLACE_REGISTER;
        }
    return regs.count;
}

static int64_t tile_size(const jx_region *r, int nregs, int64_t count,
                         size_t *widest)
{
    size_t bytes = 1;

    for (size_t i = 0; i < r->values.count; i++)
        if (value_bytes(r, (int)i) > bytes)
            bytes = value_bytes(r, (int)i);
    *widest = bytes;
    int64_t tile =
        TILE_BYTES / ((int64_t)bytes * (nregs + r->nins + r->nouts + 1));
    tile = tile < TILE_MIN ? TILE_MIN : tile > TILE_MAX ? TILE_MAX : tile;
    if (tile > count)
        tile = count;
    return (tile + ALIGN - 1) / ALIGN * ALIGN;
}

/* Each value is read from its pointer before another one is put there. */
static const char *pointers_fault(jx_arena *arena, const jx_region *r,
                                  int npointers, const int *pointer)
{
    int *holds = JX_NEW_ARRAY(arena, npointers, int);

    if (!holds)
        return NULL;
    for (int i = 0; i < npointers; i++)
        holds[i] = -1;
    for (int i = 0; i < r->nins; i++)
        holds[pointer[r->inputs.at[i]]] = r->inputs.at[i];
    for (size_t i = 0; i < r->instrs.count; i++) {
        const jx_rinstr *instr = &r->instrs.at[i];
        for (int k = 0; k < instr->nins; k++) {
            int value = instr->ins[k];
            if (holds[pointer[value]] != value)
                return "a value of a region is read when its register has "
                       "another";
            if (pointer[value] == pointer[instr->out] &&
                value_bytes(r, value) != value_bytes(r, instr->out))
                return "an operand of a region is overwritten by elements of "
                       "another size";
        }
        holds[pointer[instr->out]] = instr->out;
    }
    return NULL;
}

const void *jx_region_compile(jx_arena *arena, jx_arena *working,
                              const jx_region *r, const jx_access *access,
                              int64_t count, size_t *scratch)
{
    int nvalues = (int)r->values.count, ninstrs = (int)r->instrs.count;
    compiled *c = JX_NEW(arena, compiled);
    int *last = JX_NEW_ARRAY(working, nvalues, int);
    int *reg = JX_NEW_ARRAY(working, nvalues, int);
    place_kind *kind = JX_NEW_ARRAY(working, nvalues, place_kind);
    load *loads = JX_NEW_ARRAY(arena, r->nins, load);
    step *steps = JX_NEW_ARRAY(arena, ninstrs, step);
    unsigned char *sizes =
        JX_NEW_ARRAY(arena, r->nins + r->nouts, unsigned char);
    size_t widest;

    if (!c || !last || !reg || !kind || !loads || !steps || !sizes)
        return NULL;
    last_uses(r, last);
    c->count = count;
    c->nins = r->nins;
    c->nouts = r->nouts;
    c->nregs = place_values(r, access, last, kind, reg);
    c->npointers = c->nregs + r->nins + r->nouts;
    c->tile = tile_size(r, c->nregs, count, &widest);
    c->register_bytes = (size_t)c->tile * widest;
    for (int i = 0; i < r->nins; i++)
        sizes[i] = (unsigned char)value_bytes(r, r->inputs.at[i]);
    for (int i = 0; i < r->nouts; i++)
        sizes[r->nins + i] = (unsigned char)value_bytes(r, r->outputs.at[i]);
    c->in_sizes = sizes;
    c->out_sizes = sizes + r->nins;
    for (int i = 0; i < nvalues; i++) /* from here: index of the pointer */
        if (kind[i] == PLACE_INPUT)
            reg[i] = c->nregs + r->values.at[i].input;
        else if (kind[i] == PLACE_OUTPUT)
            reg[i] = c->nregs + r->nins + r->values.at[i].output;
    JX_ASSERT_NONE(pointers_fault(working, r, c->npointers, reg));
    for (int i = 0; i < r->nins; i++)
        if (access[i] != JX_ACCESS_DENSE)
            loads[c->nloads++] =
                (load){i, reg[r->inputs.at[i]], sizes[i], access[i]};
    c->loads = loads;
    for (int i = 0; i < ninstrs; i++) {
        const jx_rinstr *instr = &r->instrs.at[i];
        int *ins = JX_NEW_ARRAY(arena, instr->nins, int);
        for (int k = 0; ins && k < instr->nins; k++)
            ins[k] = reg[instr->ins[k]];
        steps[i] = (step){instr->tile, instr->param, reg[instr->out],
                          instr->nins, ins};
    }
    c->nsteps = ninstrs;
    c->steps = steps;
    c->worker_bytes = ((size_t)c->nregs * c->register_bytes +
                       (size_t)c->npointers * sizeof(void *) + 2 * ALIGN) /
                      ALIGN * ALIGN;
    c->workers =
        count >= SHARED_WORK / (ninstrs + 1) && count >= 2 * SHARED_CHUNK
            ? JX_POOL_WORKERS
            : 1;
    *scratch = c->worker_bytes * (size_t)c->workers;
    return c;
}

#define MOVERS(bytes, type)                                                    \
    JX_VECTOR_CLONES static void fill##bytes(char *to, const char *from,       \
                                             int64_t n)                        \
    {                                                                          \
        type value = *(const type *)(const void *)from;                        \
        type *out = (type *)(void *)to;                                        \
        for (int64_t i = 0; i < n; i++)                                        \
            out[i] = value;                                                    \
    }                                                                          \
    static void pick##bytes(char *to, const char *from, int64_t stride,        \
                            int64_t n)                                         \
    {                                                                          \
        type *out = (type *)(void *)to;                                        \
        for (int64_t i = 0; i < n; i++)                                        \
            out[i] = *(const type *)(const void *)(from + i * stride);         \
    }
typedef struct pair {
    uint64_t a, b;
} pair;
MOVERS(1, uint8_t)
MOVERS(2, uint16_t)
MOVERS(4, uint32_t)
MOVERS(8, uint64_t)
MOVERS(16, pair)

static void fill(char *to, const char *from, unsigned size, int64_t n)
{
    switch (size) {
    case 1: fill1(to, from, n); break;
    case 2: fill2(to, from, n); break;
    case 4: fill4(to, from, n); break;
    case 8: fill8(to, from, n); break;
    default: fill16(to, from, n);
    }
}

static void pick(char *to, const char *from, int64_t stride, unsigned size,
                 int64_t n)
{
    if (size == 8 && n <= FEW) {
        pick8(to, from, stride, n);
        return;
    }
    if (stride == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    if (stride == 0) {
        fill(to, from, size, n);
        return;
    }
    switch (size) {
    case 1: pick1(to, from, stride, n); break;
    case 2: pick2(to, from, stride, n); break;
    case 4: pick4(to, from, stride, n); break;
    case 8: pick8(to, from, stride, n); break;
    default: pick16(to, from, stride, n);
    }
}

/* Elements start .. start + n of a view, in row-major order. */
static void load_strided(const jx_view *v, unsigned size, int64_t start,
                         int64_t n, char *to)
{
    int64_t index[JX_MAX_RANK];
    const char *from = v->data;
    int last = v->rank - 1;

    for (int i = last; i >= 0; i--) {
        index[i] = start ? start % v->shape[i] : 0;
        start = start ? start / v->shape[i] : 0;
        from += index[i] * v->strides[i];
    }
    while (n > 0) {
        int64_t run = v->shape[last] - index[last];
        if (run > n)
            run = n;
        pick(to, from, v->strides[last], size, run);
        to += run * size;
        n -= run;
        from -= index[last] * v->strides[last];
        index[last] = 0;
        for (int i = last - 1; i >= 0; i--) {
            from += v->strides[i];
            if (++index[i] < v->shape[i])
                break;
            from -= v->shape[i] * v->strides[i];
            index[i] = 0;
        }
    }
}

static void run_tile(const compiled *c, const jx_view *ins, char **at,
                     int64_t start, int64_t n)
{
    const void *args[16];

    for (int i = 0; i < c->nloads; i++)
        if (c->loads[i].access == JX_ACCESS_STRIDED)
            load_strided(&ins[c->loads[i].input], c->loads[i].size, start, n,
                         at[c->loads[i].at]);
    for (int i = 0; i < c->nsteps; i++) {
        const step *s = &c->steps[i];
        for (int k = 0; k < s->nins; k++)
            args[k] = at[s->ins[k]];
        s->tile(at[s->out], args, n, s->param);
    }
}

/* One worker's pointers: registers, then operands and outputs. */
static char **worker_space(const compiled *c, char *scratch)
{
    char **at = (char **)(void *)scratch;
    char *storage = scratch + ((size_t)c->npointers * sizeof *at + ALIGN - 1) /
                                  ALIGN * ALIGN;

    for (int i = 0; i < c->nregs; i++)
        at[i] = storage + (size_t)i * c->register_bytes;
    return at;
}

static void fill_splats(const compiled *c, const jx_view *ins, char **at)
{
    int64_t full = c->count < c->tile ? c->count : c->tile;

    for (int i = 0; i < c->nloads; i++)
        if (c->loads[i].access == JX_ACCESS_SPLAT)
            pick(at[c->loads[i].at], ins[c->loads[i].input].data, 0,
                 c->loads[i].size, full);
}

/* Elements from .. to; `from` is a multiple of the tile. */
static void run_range(jx_run *run, const compiled *c, const jx_view *ins,
                      const jx_view *outs, char **at, int64_t from, int64_t to)
{
    char **in_at = at + c->nregs, **out_at = in_at + c->nins;

    for (int i = 0; i < c->nins; i++)
        in_at[i] = ins[i].data + from * c->in_sizes[i];
    for (int i = 0; i < c->nouts; i++)
        out_at[i] = outs[i].data + from * c->out_sizes[i];
    for (int64_t start = from;
         start < to && (start == from || jx_run_lasts(run)); start += c->tile) {
        int64_t n = to - start < c->tile ? to - start : c->tile;
        run_tile(c, ins, at, start, n);
        for (int i = 0; i < c->nins; i++)
            in_at[i] += c->tile * c->in_sizes[i];
        for (int i = 0; i < c->nouts; i++)
            out_at[i] += c->tile * c->out_sizes[i];
    }
}

typedef struct shared {
    jx_run *run;
    const compiled *c;
    const jx_view *ins, *outs;
    char *scratch;
    int64_t chunk;
} shared;

static void run_chunk(const void *job, int64_t i, int worker)
{
    const shared *s = job;
    int64_t from = i * s->chunk, to = from + s->chunk;
    char **at =
        (char **)(void *)(s->scratch + (size_t)worker * s->c->worker_bytes);

    run_range(s->run, s->c, s->ins, s->outs, at, from,
              to < s->c->count ? to : s->c->count);
}

bool jx_run_region(jx_run *run, const void *data, const jx_view *ins,
                   const jx_view *outs, void *scratch)
{
    const compiled *c = data;
    shared s = {run, c, ins, outs, scratch, 0};

    if (c->count == 0)
        return true;
    fill_splats(c, ins, worker_space(c, scratch));
    if (c->workers == 1) {
        run_range(run, c, ins, outs, scratch, 0, c->count);
        return true;
    }
    fill_splats(c, ins, worker_space(c, s.scratch + c->worker_bytes));
    s.chunk = (SHARED_CHUNK + c->tile - 1) / c->tile * c->tile;
    jx_pool_run(jx_run_pool(run), run_chunk, &s,
                (c->count + s.chunk - 1) / s.chunk);
    return true;
}
