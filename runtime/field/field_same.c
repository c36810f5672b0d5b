/* field_same.c - see field_same.h. */
#include "runtime/field/field_same.h"
#include "frontend/ir/element.h"
#include "runtime/field/assumed.h"

#include <math.h>
#include <string.h>

enum {
    WANTED_BITS = 60,
    MOST_ROUNDS = 4,
    PATHS = 729,
    MEMORY = 1 << 30,
    WORK = 1 << 21,
    DRAWS = 8, /* of integers */
    FEW = 4,   /* as many of them are none that an axis lacks */
};

/* How one path went: what it decided, and the elements of both. */
typedef struct path {
    uint8_t digits[JX_COLOURS];
    int ncolours;
    jx_cell *a, *b;
    bool *nothing; /* of an element: no real numbers make all its choices */
    /* of an element: it depends on a choice that came out as zero ... */
    bool *zero;
    bool *kink; /* ... and nobody asked for equality */
    const jx_field *field;
} path;

typedef JX_VEC(path) path_list;

typedef struct comparing {
    const jx_field_question *question;
    jx_field_answer *answer;
    jx_field_program program, other; /* of a; of b, if that is another one */
    jx_ctx *above, *ctx;             /* the program's; of one round */
    jx_ctx *room;                    /* of one path: arrays */
    bool blends, ideal;
    bool few;  /* integers are from 0 to FEW - 1 */
    int drawn; /* which draw of the integers it is; 0: there are none */
    /* elements that are compared; those of derivatives */
    int64_t count, derived;
    path_list paths;
    jx_field like;          /* the ring of the round */
    const jx_keys *defined; /* what b needs, on any path */
    const jx_keys *alike;   /* what is known not to be 0 where that is so */
    /* of b and a, on any path of the round */
    jx_cell_list divisors, divisors_of_a;
    double error; /* of one round */
    int64_t work; /* that is left */
    bool kinks, powers, needs;
    const char *named; /* constants that stand for others */
    const char *why;
} comparing;

/* Always false: it can't be told. */
static bool give_up(comparing *c, const char *why)
{
    if (!c->why)
        c->why = why;
    return false;
}

static jx_field_program *program_of(comparing *c, bool b)
{
    return b && c->question->other ? &c->other : &c->program;
}

/* ---- one path */

static bool collect(comparing *c, int n, const jx_field_value *from,
                    jx_cell *to)
{
    int64_t next = 0;

    for (int i = 0; i < n; i++) {
        if (!from[i].cells)
            return give_up(c, "a result that is no number");
        for (int64_t k = 0; k < from[i].count; k++) {
            if (next == c->count)
                return give_up(c, "results of different sizes");
            to[next++] = from[i].cells[k];
        }
    }
    return next == c->count || give_up(c, "results of different sizes");
}

static bool count_elements(comparing *c, jx_field *f)
{
    const jx_jaxpr *of = c->question->b->jaxpr;
    jx_field_value shape;

    c->count = 0;
    for (int i = 0; i < of->nouts; i++) {
        if (!jx_field_shape(f, program_of(c, true), jx_atom_aval(of->outs[i]),
                            &shape))
            return give_up(c, "a result too large, or of unknown size");
        c->count += shape.count;
        if (i < of->nouts - c->question->nvalues)
            c->derived = c->count;
    }
    return true;
}

static void look_for_zeros(const jx_field *f, const jx_cell *a, bool *zero,
                           bool *kink)
{
    for (int i = 0; i < f->ncolours; i++)
        if (a->by[i]) {
            const jx_choice *choice = &f->choices.at[a->by[i] - 1];
            if (choice->root || choice->state != 0)
                continue;
            *zero = true;
            *kink &= !choice->equality;
        }
}

/* What a path makes of a: all that must not be 0 on this path is not. */
static void settle(jx_field *f, int64_t n, jx_cell *of)
{
    for (int64_t i = 0; i < n; i++)
        if (of[i].kind == JX_CELL_NUMBER && jx_cell_needs_zero(f, of[i].needs))
            of[i].kind = JX_CELL_NAN;
}

static void name_constants(comparing *c, const jx_field *f)
{
    jx_buffer text = jx_ctx_text(c->above);

    if (c->named || !f->named.count)
        return;
    for (size_t i = 0; i < f->named.count; i++)
        jx_buffer_printf(&text, "%s%s", i ? ", " : "", f->named.at[i]);
    c->named = jx_arena_take(c->above->arena, &text);
}

static void note(comparing *c, const jx_field *f, const path *p)
{
    name_constants(c, f);
    c->powers |= f->powers;
    for (int64_t i = 0; i < c->count; i++) {
        const jx_cell *a = &p->a[i], *b = &p->b[i];
        double degree = (double)a->over + b->under + b->over + a->under;
        double bits = (double)a->bits + b->bits;
        double error = ldexp(degree, -52) + ldexp(bits + 64, -43);
        c->error = fmax(c->error, error);
        c->needs |= a->needs || b->needs;
    }
}

static bool has_integers(const jx_jaxpr *of)
{
    bool any = false;

    for (int i = 0; i < of->nins; i++) {
        const jx_aval *aval = of->vars[of->nconsts + i]->aval;
        any |= aval->kind == JX_AVAL_ARRAY && jx_dtype_is_integer(aval->dtype);
    }
    return any;
}

/* The first draws are all one, each of the few; the others are any. */
static bool draw(const comparing *c, jx_field *f, const jx_aval *aval,
                 int number, jx_field_value *to)
{
    int64_t low =
        c->few || jx_dtype_of(aval->dtype)->kind == JX_KIND_UINT ? 0 : -FEW;
    int64_t count = c->few ? FEW : 10 * FEW;
    size_t bytes = jx_dtype_of(aval->dtype)->bytes;

    if (!c->drawn || !jx_dtype_is_integer(aval->dtype) ||
        !jx_field_room(f, &c->program, aval, to))
        return false;
    for (int64_t i = 0; i < to->count; i++) {
        uint64_t h =
            jx_ring_mix(f->salt ^ jx_hash_mix((uint64_t)number, (uint64_t)i));
        int64_t value = c->drawn <= FEW ? c->drawn - 1
                                        : low + (int64_t)(h % (uint64_t)count);
        if (!jx_element_from_integer(aval->dtype, (uint64_t)value,
                                     (char *)to->bits + (size_t)i * bytes))
            return false;
    }
    return true;
}

static bool evaluate(comparing *c, jx_field *f, path *p)
{
    const jx_closed *sides[] = {c->question->b, c->question->a};
    const jx_jaxpr *of = c->question->a->jaxpr;
    jx_arena *arena = c->ctx->arena;
    jx_field_value *ins = JX_NEW_ARRAY(f->room, of->nins + 1, jx_field_value);
    jx_field_value *outs = JX_NEW_ARRAY(f->room, of->nouts + 1, jx_field_value);

    if (!ins || !outs || !count_elements(c, f))
        return give_up(c, "too large");
    for (int i = 0; i < of->nins; i++)
        if (!jx_field_input(f, &c->program, of->vars[of->nconsts + i]->aval, i,
                            &ins[i]) &&
            !draw(c, f, of->vars[of->nconsts + i]->aval, i, &ins[i]))
            return give_up(c, "it takes what is no real number");
    p->a = JX_NEW_ARRAY(arena, c->count + 1, jx_cell);
    p->b = JX_NEW_ARRAY(arena, c->count + 1, jx_cell);
    p->nothing = JX_NEW_ARRAY(arena, c->count + 1, bool);
    p->zero = JX_NEW_ARRAY(arena, c->count + 1, bool);
    p->kink = JX_NEW_ARRAY(arena, c->count + 1, bool);
    if (!p->a || !p->b || !p->nothing || !p->zero || !p->kink)
        return give_up(c, "too large");
    for (int s = 0; s < 2; s++) {
        f->asks_nothing = s == 1;
        f->divisors = s ? &c->divisors_of_a : &c->divisors;
        if (!jx_field_run(f, program_of(c, !s), sides[s], ins, outs))
            return give_up(c, "too large, or too many comparisons");
        if (!collect(c, of->nouts, outs, s ? p->a : p->b))
            return false;
    }
    for (int64_t i = 0; i < c->count; i++) {
        p->kink[i] = true;
        p->nothing[i] = jx_cell_is_impossible(f, &p->a[i], &p->b[i]);
        look_for_zeros(f, &p->a[i], &p->zero[i], &p->kink[i]);
        look_for_zeros(f, &p->b[i], &p->zero[i], &p->kink[i]);
        if (p->a[i].mixed || p->b[i].mixed)
            return give_up(c, "comparisons that meet in one result");
    }
    settle(f, c->count, p->a);
    settle(f, c->count, p->b);
    return !f->spent || give_up(c, "too large, or too many comparisons");
}

static const char *kept(comparing *c, const char *why)
{
    return why ? jx_arena_string(c->above->arena, why, strlen(why))
               : "it is not known";
}

/* Numbers, as far as anybody knows. */
static bool is_sound(comparing *c, const jx_field *f, const path *p)
{
    for (int64_t i = 0; i < c->count; i++) {
        if (p->nothing[i])
            continue;
        if (p->a[i].kind == JX_CELL_UNKNOWN || p->b[i].kind == JX_CELL_UNKNOWN)
            return give_up(c, kept(c, f->why));
        if (p->b[i].kind != JX_CELL_NUMBER && !p->zero[i])
            return give_up(c, "the function's own value is not finite");
    }
    return true;
}

static const char *const different = "they differ as formal expressions";

/* They differ, and no other path could excuse it. */
static bool is_different(const comparing *c, const path *p)
{
    for (int64_t i = 0; i < c->count; i++)
        if (!p->nothing[i] && !jx_cell_same(&p->a[i], &p->b[i]) &&
            (c->blends || !p->zero[i]))
            return true;
    return false;
}

/* What b gives needs that divisor not to be 0; of others nothing comes. */
static bool is_needed(const comparing *c, const jx_field *f, const jx_cell *by)
{
    for (int i = 0; by->zeros && i < by->zeros->count; i++)
        if (!jx_keys_hold(c->defined, by->zeros->at[i]))
            return false;
    return by->zeros || jx_keys_hold(c->defined, jx_cell_zero_key(f, by));
}

static bool is_that(jx_field *f, const jx_cell *a, const jx_cell *b,
                    uint64_t need)
{
    jx_cell made = jx_cell_product(f, a, b);

    return jx_cell_zero_key(f, &made) == need;
}

enum { MOST_DIVISORS = 1 << 8 };

/* Those of b's divisors that it needs. */
static int needed_divisors(const comparing *c, const jx_field *f,
                           const jx_cell **to)
{
    int n = 0;

    for (size_t i = 0; i < c->divisors.count; i++)
        if (is_needed(c, f, &c->divisors.at[i]))
            to[n++] = &c->divisors.at[i];
    return n;
}

/* Whether it is one of b's divisors times an exponential, which never is 0, or
 * times another of them. */
static bool is_made_of_divisors(const comparing *c, jx_field *f, uint64_t need)
{
    const jx_memory *made = c->like.made;
    const jx_cell *by[MOST_DIVISORS], one = jx_cell_integer(f, 1);
    int n = needed_divisors(c, f, by);

    for (int i = 0; i < n; i++)
        if (jx_cell_zero_key(f, by[i]) == need)
            return true;
    for (int i = 0; i < n && f->work <= 0; i++)
        for (int k = 0; k < i; k++)
            if (is_that(f, by[i], by[k], need))
                return true;
    for (size_t k = 0; n && k < made->exps.count && f->work <= 0; k++) {
        const jx_cell *e = &made->exps.at[k].to;
        jx_cell inverse = jx_cell_div(f, &one, e);
        for (int i = 0; i < n; i++)
            if (is_that(f, by[i], e, need) || is_that(f, by[i], &inverse, need))
                return true;
    }
    return false;
}

/* Whether what b needs is that times another of a's divisors. */
static bool is_a_factor(const comparing *c, jx_field *f, uint64_t need)
{
    const jx_cell_list *all = &c->divisors_of_a;

    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0;
             jx_cell_zero_key(f, &all->at[i]) == need && k < all->count; k++) {
            jx_cell product = jx_cell_product(f, &all->at[i], &all->at[k]);
            if (jx_keys_hold(c->defined, jx_cell_zero_key(f, &product)))
                return true;
        }
    return false;
}

/* The search is work as is all else: where none is left nothing is found. */
static bool is_defined_alike(comparing *c, uint64_t need)
{
    jx_field f;
    bool found;

    if (jx_keys_hold(c->alike, need))
        return true;
    jx_field_again(&f, &c->like);
    f.work = -c->work;
    found = c->divisors.count < MOST_DIVISORS &&
            c->divisors_of_a.count < MOST_DIVISORS &&
            (is_made_of_divisors(c, &f, need) || is_a_factor(c, &f, need));
    c->work = -f.work;
    if (found)
        c->alike = jx_keys_with(&f, c->alike, need);
    return found;
}

/* What a needs, b needs too, somewhere. */
static bool needs_no_more(comparing *c, const path *p)
{
    for (int64_t i = 0; i < c->count; i++) {
        const jx_keys *needs = p->nothing[i] ? NULL : p->a[i].needs;
        for (int k = 0; needs && k < needs->count; k++)
            if (!jx_keys_hold(c->defined, needs->at[k]) &&
                !is_defined_alike(c, needs->at[k]))
                return give_up(
                    c, "one divides, or takes a root or logarithm, where the "
                       "other does not");
    }
    return true;
}

/* ---- all paths of a round */

static bool next_path(const jx_field *f, uint8_t *digits, int *ndigits)
{
    memcpy(digits, f->taken, sizeof f->taken);
    *ndigits = f->ncolours;
    while (*ndigits && digits[*ndigits - 1] + 1 >= f->arity[*ndigits - 1])
        --*ndigits;
    if (!*ndigits)
        return false;
    digits[*ndigits - 1]++;
    return true;
}

static bool follow_paths(comparing *c, uint64_t seed)
{
    int64_t most = c->question->paths ? c->question->paths : PATHS;
    uint8_t digits[JX_COLOURS] = {0};
    int ndigits = 0;
    jx_field *f;

    if (!jx_field_begin(&c->like, c->ctx, c->room->arena, seed))
        return give_up(c, "too large");
    for (bool more = true; more;) {
        path p = {0};
        f = JX_NEW(c->ctx->arena, jx_field);
        if (!f)
            return give_up(c, "too large");
        jx_field_again(f, &c->like);
        f->blends = c->blends;
        f->ideal = c->ideal;
        f->work = -c->work;
        f->digits = digits;
        f->ndigits = ndigits;
        if ((int64_t)c->paths.count == most)
            return give_up(c, "too many comparisons");
        bool done = evaluate(c, f, &p);
        jx_arena_clear(c->room->arena);
        c->work = -f->work;
        if (!done)
            return false;
        memcpy(p.digits, f->taken, sizeof p.digits);
        p.ncolours = f->ncolours;
        note(c, f, &p);
        if (!is_sound(c, f, &p))
            return false;
        if (is_different(c, &p))
            return give_up(c, different);
        for (int64_t i = 0; i < c->count; i++)
            if (!p.nothing[i])
                c->defined = jx_keys_join(f, c->defined, p.b[i].needs);
        p.field = f;
        JX_PUSH(c->ctx->arena, &c->paths, p);
        c->answer->paths++;
        more = next_path(f, digits, &ndigits);
    }
    return true;
}

/* ---- kinks */

/* Whether a path is another that has some zeros in place of signs. */
static bool is_beside(const path *at, const path *other)
{
    if (at->ncolours != other->ncolours)
        return false;
    for (int i = 0; i < at->ncolours; i++)
        if (at->digits[i] != 2 && at->digits[i] != other->digits[i])
            return false;
    return at != other;
}

/* Twice what a gives at the kink is the sum of what both give on
 * its two sides. */
static bool is_mean(const comparing *c, const path *at, int64_t i,
                    const path *one, const path *other)
{
    jx_field f;
    jx_cell twice, sum;

    jx_field_again(&f, &c->like);
    twice = jx_cell_add(&f, &at->a[i], &at->a[i]);
    sum = jx_cell_add(&f, &one->a[i], &other->a[i]);
    return jx_cell_same(&twice, &sum);
}

/* Two numbers that are one where that choice is zero. */
static bool meet(const comparing *c, const jx_cell *a, const jx_cell *b,
                 uint64_t where)
{
    jx_field f;
    jx_cell d;

    if (jx_cell_same(a, b))
        return true;
    if (a->kind || b->kind || jx_keys_hold(a->needs, where) ||
        jx_keys_hold(b->needs, where))
        return false;
    jx_field_again(&f, &c->like);
    d = jx_cell_sub(&f, a, b);
    return d.zeros ? jx_keys_hold(d.zeros, where)
                   : jx_cell_zero_key(&f, &d) == where;
}

/* What a number comes to at the kink is another: they are one where a choice is
 * zero that is zero there. */
static bool comes_to(const comparing *c, const path *at, const jx_cell *there,
                     const jx_cell *beside)
{
    const jx_field *f = at->field;

    if (there->needs || beside->needs)
        return jx_cell_same(there, beside);
    for (size_t i = 0; i < f->choices.count; i++)
        if (!f->choices.at[i].root && !f->choices.at[i].state &&
            meet(c, there, beside, f->choices.at[i].zero))
            return true;
    return jx_cell_same(there, beside);
}

/* The element that a gives is what both come to from a side of the kink, or the
 * mean of what both give on its two sides. */
static bool is_convention(const comparing *c, const path *at, int64_t i)
{
    const path *beside[3];
    int n = 0;

    for (size_t k = 0; k < c->paths.count; k++) {
        const path *other = &c->paths.at[k];
        if (!is_beside(at, other) || other->nothing[i] || other->zero[i] ||
            !jx_cell_same(&other->a[i], &other->b[i]))
            continue;
        if (comes_to(c, at, &at->a[i], &other->a[i]))
            return true;
        if (n < 3)
            beside[n++] = other;
    }
    return n == 2 && is_mean(c, at, i, beside[0], beside[1]);
}

/* The function is what it is beside where two numbers are equal. */
static bool is_continuous(const comparing *c, const path *at, int colour,
                          uint32_t number)
{
    uint64_t where = at->field->choices.at[number - 1].zero;
    bool any = false;

    for (int64_t k = c->derived; k < c->count; k++) {
        if (at->b[k].by[colour] != number)
            continue;
        any = true;
        for (size_t o = 0; o < c->paths.count; o++)
            if (is_beside(at, &c->paths.at[o]) && !c->paths.at[o].nothing[k] &&
                !meet(c, &at->b[k], &c->paths.at[o].b[k], where))
                return false;
    }
    return any;
}

/* So it is for all that were asked for equality: what is derived beside is
 * derived there. */
static bool is_removable(const comparing *c, const path *at, int64_t i)
{
    const jx_field *f = at->field;

    for (int colour = 0; colour < f->ncolours; colour++) {
        uint32_t number =
            at->a[i].by[colour] ? at->a[i].by[colour] : at->b[i].by[colour];
        const jx_choice *choice = number ? &f->choices.at[number - 1] : NULL;
        if (choice && !choice->root && !choice->state && choice->equality &&
            !is_continuous(c, at, colour, number))
            return false;
    }
    return true;
}

static bool compare_path(comparing *c, const path *p)
{
    for (int64_t i = 0; i < c->count; i++) {
        if (p->nothing[i] || jx_cell_same(&p->a[i], &p->b[i]))
            continue;
        if (c->blends || c->question->strict || !p->zero[i] ||
            (!p->kink[i] && (i >= c->derived || !is_removable(c, p, i))) ||
            !is_convention(c, p, i))
            return give_up(c, different);
        c->kinks = true;
    }
    return true;
}

/* ---- rounds */

static bool run_round(comparing *c, uint64_t seed)
{
    bool same, any = false;

    c->ctx = jx_ctx_below(c->above,
                          c->question->memory ? c->question->memory : MEMORY);
    if (!c->ctx)
        return give_up(c, "too large");
    c->paths = (path_list){0};
    c->defined = c->alike = NULL;
    c->divisors = c->divisors_of_a = (jx_cell_list){0};
    same = follow_paths(c, seed);
    for (size_t i = 0; same && i < c->paths.count; i++) {
        for (int64_t k = 0; k < c->count; k++)
            any |= !c->paths.at[i].nothing[k];
        same = needs_no_more(c, &c->paths.at[i]) &&
               compare_path(c, &c->paths.at[i]);
    }
    same = same &&
           ((any && c->count) || give_up(c, "there is nothing to compare"));
    jx_ctx_free(c->ctx);
    c->ctx = NULL;
    c->paths = (path_list){0};
    return same;
}

static const char *assumptions(const comparing *c)
{
    const jx_assumption all[] = {
        {c->needs, JX_ASSUMES_DEFINED},
        {c->kinks, "at a kink one side's value will do"},
        {c->powers, JX_ASSUMES_POWERS},
        {c->drawn && !c->few,
         "integers are like those that were drawn, from -4 to 35"},
        {c->drawn && c->few,
         "integers are like those that were drawn, from 0 to 3"},
    };

    return jx_assumed(c->above, sizeof all / sizeof *all, all, c->named);
}

/* As many rounds as are needed, for each draw of integers; false: they are not
 * found to be the same. */
static bool run_rounds(comparing *c)
{
    int rounds = 1, draws = c->drawn ? DRAWS : 1;

    c->error = 0x1p-52; /* also where nothing is compared */
    for (int i = 0; i < rounds * draws; i++) {
        c->drawn = c->drawn ? 1 + i % draws : 0;
        if (!run_round(c, jx_hash_mix(c->question->seed, (uint64_t)i + 1)))
            return false;
        if (c->error >= 0x1p-15)
            return give_up(c, "degrees too high");
        rounds = (int)ceil(WANTED_BITS / -log2(c->error));
        if (rounds > MOST_ROUNDS)
            return give_up(c, "degrees too high");
    }
    c->answer->bits = (int)floor(rounds * -log2(c->error));
    return true;
}

bool jx_field_same(const jx_field_question *question, jx_field_answer *answer)
{
    jx_ctx *above = question->typed->program->ctx;
    int64_t work = question->work ? question->work : WORK;
    size_t memory = question->memory ? question->memory : MEMORY;
    jx_ctx *room = jx_ctx_below(above, memory);
    comparing c = {.question = question, .answer = answer, .above = above};
    const char *first = NULL;

    *answer = (jx_field_answer){0};
    if (!room)
        return false;
    jx_field_open(&c.program, question->typed, question->nbindings,
                  question->bindings, memory);
    if (question->other)
        jx_field_open(&c.other, question->other, 0, NULL, memory);
    bool draws = question->integers && has_integers(question->a->jaxpr);
    work *= draws ? DRAWS : 1;
    /* Exact constants before those that they were rounded from, ways before
     * chances, any integers before few. */
    for (int turn = 0;
         turn < (draws ? 8 : 4) && answer->verdict == JX_FIELD_UNDECIDED;
         turn++) {
        c = (comparing){.question = question,
                        .answer = answer,
                        .above = above,
                        .room = room,
                        .program = c.program,
                        .other = c.other,
                        .work = work,
                        .ideal = turn & 1,
                        .blends = turn % 4 > 1,
                        .few = turn > 3,
                        .drawn = draws};
        if (question->a->jaxpr->nins == question->b->jaxpr->nins &&
            question->a->jaxpr->nouts == question->b->jaxpr->nouts &&
            run_rounds(&c))
            answer->verdict = JX_FIELD_IDENTICAL;
        first = first ? first : c.why;
        work = c.work;
    }
    jx_field_close(&c.program);
    if (question->other)
        jx_field_close(&c.other);
    jx_ctx_free(room);
    answer->kinks = c.kinks;
    if (answer->verdict == JX_FIELD_IDENTICAL)
        answer->assuming = assumptions(&c);
    else
        answer->why = first ? first : "they do not take and give the same";
    return jx_ok(above);
}
