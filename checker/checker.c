/* checker.c - see checker.h.
 *
 * A proof is a refutation.  A *state* is a set of facts, p >= 0, p == 0 or p !=
 * 0, where p is a polynomial over integer variables and the atoms floordiv
 * (with some value where the divisor is 0) and max.  It begins with what is
 * assumed and the opposite of what is claimed; a step adds what follows, or
 * goes on in two cases that leave nothing out; each branch ends in a sum of
 * products of facts that would have to be negative.
 *
 * Numbers are exact in 128 bits.  What gives NULL or false has failed (too
 * large, or a rule that does not apply), and the certificate is rejected.
 * Above each rule stands why it holds. */
#include "checker/checker.h"

#include "checker/number.h"
#include "frontend/base/expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VAR, FLOORDIV, MAX }; /* atoms */
enum { GE, EQ, NE };         /* facts: p >= 0, p == 0, p != 0 */
enum {
    MEMORY = 1 << 26,
    MAX_WORK = 1 << 26,
    MAX_ATOMS = 512, /* and so the depth of nesting */
    MAX_DEGREE = 26,
    MAX_FACTS = 200,
    MAX_VARS = 64,
    MAX_DIVISORS = 1024, /* as they are written */
};

typedef struct term {
    num k; /* not 0 */
    int n;
    short at[MAX_DEGREE]; /* atoms, growing, one as often as its power */
} term;

typedef struct poly {
    int n;
    const term *at; /* sorted, no two with the same atoms: a normal form */
} poly;

typedef struct atom {
    int kind, length;
    const char *name;
    const poly *a, *b;
} atom;

typedef struct fact {
    const poly *p;
    int kind;
} fact;

typedef struct state {
    int nfacts, nvars;
    fact facts[MAX_FACTS];
    bool alive[MAX_ATOMS]; /* variables: no other occurs in facts */
} state;

typedef struct checker {
    _Alignas(16) char memory[MEMORY];
    char *why;
    size_t used, room;
    int natoms, written; /* the first atoms are those of the question */
    long work, step;
    bool malformed, stated; /* the question and constraints have been read */
    atom atoms[MAX_ATOMS];
    int ndivisors, nwitnesses;
    const poly *divisors[MAX_DIVISORS]; /* of the question and constraints */
    num values[2][MAX_ATOMS]; /* of atoms at each witness, where it has them */
    bool has_value[2][MAX_ATOMS];
} checker;

/* Keeps the first reason; a certificate with one is not accepted. */
static bool fail(checker *c, const char *what, const char *why)
{
    if (!*c->why)
        snprintf(c->why, c->room, "step %ld: %.20s%s", c->step, what, why);
    return false;
}

static void *take(checker *c, size_t count, size_t size)
{
    size_t bytes = (count * size + 15) / 16 * 16;

    if (c->work > MAX_WORK || count > MEMORY / size - 1 ||
        bytes > MEMORY - c->used)
        return fail(c, "", "too large") ? c : NULL;
    c->used += bytes;
    return c->memory + c->used - bytes;
}

/* -- Polynomials -------------------------------------------------------- */

static int compare_atoms(const term *s, const term *t)
{
    for (int i = 0; i < s->n && i < t->n; i++)
        if (s->at[i] != t->at[i])
            return s->at[i] - t->at[i];
    return s->n - t->n;
}

static int compare_terms(const void *x, const void *y)
{
    const term *s = x, *t = y;
    int c = compare_atoms(s, t);

    return c ? c : (s->k > t->k) - (s->k < t->k);
}

/* The polynomial of n terms, which are sorted and added up in place. */
static const poly *collect(checker *c, term *t, size_t n)
{
    poly *p = take(c, 1, sizeof *p);
    int m = 0;

    c->work += (long)n + 1;
    if (!p)
        return NULL;
    qsort(t, n, sizeof *t, compare_terms);
    for (size_t i = 0; i < n; i++) {
        if (!m || compare_atoms(&t[m - 1], &t[i]))
            t[m++] = t[i];
        else if (!num_add(t[m - 1].k, t[i].k, &t[m - 1].k))
            return NULL;
        m -= !t[m - 1].k;
    }
    *p = (poly){m, t};
    return p;
}

static const poly *number(checker *c, __int128 k)
{
    term *t = take(c, 1, sizeof *t);

    if (!t || (num)k != k || (num)k == num_least)
        return NULL;
    *t = (term){.k = (num)k};
    return collect(c, t, 1);
}

static const poly *mul(checker *c, const poly *p, const poly *q)
{
    size_t n = p && q ? (size_t)p->n * (size_t)q->n : 0;
    term *t = p && q ? take(c, n, sizeof *t) : NULL;

    for (size_t i = 0; t && i < n; i++) {
        const term *u = &q->at[i % (size_t)q->n];

        t[i] = p->at[i / (size_t)q->n];
        if (t[i].n + u->n > MAX_DEGREE || !num_mul(t[i].k, u->k, &t[i].k))
            return NULL;
        for (int j = 0, at; j < u->n; j++) {
            for (at = t[i].n++; at && t[i].at[at - 1] > u->at[j]; at--)
                t[i].at[at] = t[i].at[at - 1];
            t[i].at[at] = u->at[j];
        }
    }
    return t ? collect(c, t, n) : NULL;
}

static const poly *add(checker *c, const poly *p, const poly *q)
{
    size_t n = p && q ? (size_t)(p->n + q->n) : 0;
    term *t = p && q ? take(c, n, sizeof *t) : NULL;

    for (int i = 0; t && i < (int)n; i++)
        t[i] = i < p->n ? p->at[i] : q->at[i - p->n];
    return t ? collect(c, t, n) : NULL;
}

/* k*p + l */
static const poly *linear(checker *c, num k, const poly *p, num l)
{
    return add(c, mul(c, number(c, k), p), number(c, l));
}

static const poly *sub(checker *c, const poly *p, const poly *q)
{
    return add(c, p, linear(c, -1, q, 0));
}

static bool same(const poly *p, const poly *q)
{
    bool ok = p && q && p->n == q->n;

    for (int i = 0; ok && i < p->n; i++)
        ok = !compare_terms(&p->at[i], &q->at[i]);
    return ok;
}

static bool is_number(const poly *p, num *k)
{
    *k = p && p->n ? p->at[0].k : 0;
    return p && (!p->n || (p->n == 1 && !p->at[0].n));
}

/* The value at a witness, if every divisor is another than 0 there. */
static bool value_at(const checker *c, const poly *p, int witness, num *value)
{
    *value = 0;
    for (int i = 0; p && i < p->n; i++) {
        num product = p->at[i].k;

        for (int j = 0; j < p->at[i].n; j++)
            if (!c->has_value[witness][p->at[i].at[j]] ||
                !num_mul(product, c->values[witness][p->at[i].at[j]], &product))
                return false;
        if (!num_add(*value, product, value))
            return false;
    }
    return p != NULL;
}

/* An operation's value, from those of its operands; a variable has none yet. */
static void evaluate(checker *c, int id, int witness)
{
    const atom *t = &c->atoms[id];
    num a, b;
    bool has = value_at(c, t->a, witness, &a) &&
               value_at(c, t->b, witness, &b) && (t->kind == MAX || b);

    c->has_value[witness][id] = has;
    if (has)
        c->values[witness][id] =
            t->kind == FLOORDIV ? num_floordiv(a, b) : (a > b ? a : b);
}

/* The atom, made if there is none like it, as a polynomial; or its value. */
static const poly *make_atom(checker *c, atom key)
{
    term *made = take(c, 1, sizeof *made);
    short id = 0;
    num a, b;

    if (!made || (key.kind != VAR && (!key.a || !key.b)))
        return NULL;
    if (key.kind != VAR && is_number(key.a, &a) && is_number(key.b, &b)) {
        if (key.kind == MAX)
            return a > b ? key.a : key.b;
        if (b)
            return number(c, num_floordiv(a, b));
    }
    for (const atom *t = c->atoms; id < c->natoms; t++, id++)
        if (t->kind == key.kind &&
            (t->kind == VAR ? t->length == key.length &&
                                  !memcmp(t->name, key.name, (size_t)t->length)
                            : same(t->a, key.a) && same(t->b, key.b)))
            break;
    c->work += id / 4;
    if (id == MAX_ATOMS)
        return fail(c, "", "too many operations") ? c->atoms->a : NULL;
    if (id == c->natoms) {
        c->atoms[c->natoms++] = key;
        for (int i = 0; i < 2; i++)
            evaluate(c, id, i);
    }
    *made = (term){.k = 1, .n = 1, .at = {id}};
    return collect(c, made, 1);
}

/* mod(a, b) is a - b*floordiv(a, b), max(a, b) is b + max(a - b, 0) and
 * min(a, b) is a - max(a - b, 0). */
static const poly *operation(checker *c, jx_expression_op op, const poly *a,
                             const poly *b)
{
    bool divides = op != JX_EXPR_MAX && op != JX_EXPR_MIN;
    const poly *x = make_atom(
        c, divides ? (atom){.kind = FLOORDIV, .a = a, .b = b}
                   : (atom){.kind = MAX, .a = sub(c, a, b), .b = number(c, 0)});

    if (op == JX_EXPR_FLOORDIV || op == JX_EXPR_SLASHES)
        return x;
    return divides             ? sub(c, a, mul(c, b, x))
           : op == JX_EXPR_MAX ? add(c, b, x)
                               : sub(c, a, x);
}

/* The atom that a polynomial consists of, else -1. */
static int lone_atom(const poly *p)
{
    return p && p->n == 1 && p->at->k == 1 && p->at->n == 1 ? p->at->at[0] : -1;
}

static bool mentions(const poly *p, const bool *atoms)
{
    for (int i = 0; p && i < p->n; i++)
        for (int j = 0; j < p->at[i].n; j++)
            if (atoms[p->at[i].at[j]])
                return true;
    return false;
}

/* p with what `put` has in place of atoms, inside of operations too; what it
 * has not yet is added. */
static const poly *put(checker *c, const poly *p, const poly **put_for)
{
    const poly *sum = p ? number(c, 0) : NULL;

    for (int i = 0; sum && i < p->n; i++) {
        const poly *product = number(c, p->at[i].k);

        for (int j = 0; product && j < p->at[i].n; j++) {
            int at = p->at[i].at[j];
            atom a = c->atoms[at];

            if (!put_for[at]) {
                a.a = put(c, a.a, put_for);
                a.b = put(c, a.b, put_for);
                put_for[at] = make_atom(c, a);
            }
            product = mul(c, product, put_for[at]);
        }
        sum = add(c, sum, product);
    }
    return sum;
}

/* -- Text ---------------------------------------------------------------- */

typedef struct reader {
    checker *c;
    const state *known; /* only its variables may occur; NULL: any */
    const char *fault;
} reader;

/* A divisor, as it is written: whatever the normal form makes of it, it may be
 * 0 at no witness.  Those of the question are written before there is one. */
static bool divides(reader *r, const poly *by)
{
    checker *c = r->c;
    num value;

    for (int i = 0; by && i < c->nwitnesses; i++)
        if (!value_at(c, by, i, &value) || !value)
            r->fault = "a divisor is 0 at a witness";
    if (by && c->stated && !r->known)
        r->fault = "a new name divides nothing";
    if (by && !c->stated && c->ndivisors == MAX_DIVISORS)
        r->fault = "too many divisors";
    else if (by && !c->stated)
        c->divisors[c->ndivisors++] = by;
    return by && !r->fault;
}

static const void *read_number(void *env, __int128 value)
{
    return number(((reader *)env)->c, value);
}

static const void *read_name(void *env, const char *text, size_t length)
{
    reader *r = env;
    atom key = {.name = text, .length = (int)length};
    const poly *a = make_atom(r->c, key);

    return a && (!r->known || r->known->alive[lone_atom(a)]) ? a : NULL;
}

static const void *read_apply(void *env, jx_expression_op op, const void *a,
                              const void *b)
{
    reader *r = env;

    switch (op) {
    case JX_EXPR_ADD: return add(r->c, a, b);
    case JX_EXPR_NEG: return linear(r->c, -1, a, 0);
    case JX_EXPR_MUL: return mul(r->c, a, b);
    case JX_EXPR_MAX:
    case JX_EXPR_MIN: return operation(r->c, op, a, b);
    default: return divides(r, b) ? operation(r->c, op, a, b) : NULL;
    }
}

static const void *read_power(void *env, const void *a, long n)
{
    checker *c = ((reader *)env)->c;
    const poly *power = number(c, 1);

    for (int bit = 20; bit >= 0; bit--) { /* the reader's powers have no more */
        power = mul(c, power, power);
        if (n >> bit & 1)
            power = mul(c, power, a);
    }
    return power;
}

/* `a op b`, or just `a`. */
typedef struct claim {
    const poly *a, *b;
    int op;
} claim;

static bool read_text(checker *c, const state *known, const jx_json *text,
                      bool compares, claim *to)
{
    static const jx_expression_maker maker = {read_number, read_name,
                                              read_apply, read_power};
    size_t n = 0, at, used;
    const char *s =
        jx_json_kind_of(text) == JX_JSON_TEXT ? jx_json_text(text, &n) : "";
    reader r = {c, known, NULL};
    jx_expression_end end;
    char where[30];

    *to = (claim){.a = jx_expression_read(s, n, &maker, &r, &end)};
    at = end.at;
    if (to->a && compares) {
        to->op = jx_expression_relation(s + at, n - at, &used);
        to->b = to->op < 0 ? NULL
                           : jx_expression_read(s + at + used, n - at - used,
                                                &maker, &r, &end);
        at += to->op < 0 ? 0 : used + end.at;
    }
    if (to->a && (to->b || !compares) && at == n)
        return true;
    if (r.fault)
        return fail(c, "", r.fault);
    c->malformed |= !*c->why && !c->stated && !end.too_large;
    snprintf(where, sizeof where, "column %d", (int)at + 1);
    return fail(c, where,
                compares ? ": expected a comparison of what is known"
                         : ": expected a size of what is known");
}

/* Over the integers p > 0 is p - 1 >= 0; so a claim and its opposite are
 * facts, both. */
static fact fact_of(checker *c, claim x, bool opposite)
{
    static const int opposites[] = {1, 0, 5, 4, 3, 2};
    static const int kinds[] = {EQ, NE, GE, GE, GE, GE};
    int op = opposite ? opposites[x.op] : x.op;
    const poly *p = op == 3 || op == 5 ? sub(c, x.b, x.a) : sub(c, x.a, x.b);

    return (fact){op > 3 ? linear(c, 1, p, -1) : p, kinds[op]};
}

/* -- Rules -------------------------------------------------------------- */

typedef struct rule {
    checker *c;
    state *s;
    const jx_json *step; /* [name, arguments...] */
    const char *name;
    size_t n; /* arguments */
} rule;

static bool run(checker *c, state s, const jx_json *steps);

static size_t count(const jx_json *list)
{
    return jx_json_kind_of(list) == JX_JSON_ARRAY ? jx_json_count(list) : 0;
}

static bool is(const rule *r, const char *name, size_t arguments)
{
    return !strcmp(r->name, name) && r->n == arguments;
}

static const poly *arg(const rule *r, size_t i)
{
    claim x;

    return read_text(r->c, r->s, jx_json_item(r->step, i), false, &x) ? x.a
                                                                      : NULL;
}

/* A comparison as a fact, or its opposite. */
static fact arg_fact(const rule *r, size_t i, bool opposite)
{
    claim x;

    return read_text(r->c, r->s, jx_json_item(r->step, i), true, &x)
               ? fact_of(r->c, x, opposite)
               : (fact){NULL, GE};
}

/* Whether p + k >= 0 (== 0, != 0) is a fact, or 3 >= 0. */
static bool has(const rule *r, int kind, const poly *p, num k)
{
    const poly *plus = linear(r->c, 1, p, k);
    const poly *minus = kind == GE ? plus : linear(r->c, -1, plus, 0);

    for (int i = 0; i < r->s->nfacts; i++)
        if (r->s->facts[i].kind == kind &&
            (same(r->s->facts[i].p, plus) || same(r->s->facts[i].p, minus)))
            return true;
    return is_number(plus, &k) && (kind == GE ? k >= 0 : kind == NE && k);
}

static bool suppose(const rule *r, fact f)
{
    if (!f.p || r->s->nfacts == MAX_FACTS)
        return fail(r->c, "", "too large, or too many facts");
    r->s->facts[r->s->nfacts++] = f;
    return true;
}

/* Equals for equals.  A fact that becomes too large is given up. */
static bool put_all(const rule *r, int id, const poly *value)
{
    const poly *put_for[MAX_ATOMS] = {NULL};
    bool users[MAX_ATOMS]; /* it, and operations that it is in */
    const atom *atoms = r->c->atoms;
    state *s = r->s;
    int n = 0;

    for (int i = 0; i < r->c->natoms; i++)
        users[i] = i == id || mentions(atoms[i].a, users) ||
                   mentions(atoms[i].b, users);
    if (!value || mentions(value, users))
        return false;
    put_for[id] = value;
    for (int i = 0; i < s->nfacts; i++) {
        fact f = s->facts[i];

        if (mentions(f.p, users))
            f.p = put(r->c, f.p, put_for);
        if (f.p)
            s->facts[n++] = f;
    }
    s->nfacts = n;
    s->nvars -= s->alive[id];
    s->alive[id] = false;
    return true;
}

/* [[multiplier, fact...]...], total: the sum of the products.  Where all facts
 * are p >= 0 and the multiplier is positive, a product is not negative; where
 * one is p == 0, it is 0.  So a negative total is impossible. */
static bool sum(const rule *r)
{
    const jx_json *items = jx_json_item(r->step, 1);
    const poly *all = number(r->c, 0);
    num k, total;

    for (size_t i = 0; i < count(items); i++) {
        rule of = {r->c, r->s, jx_json_item(items, i), r->name, 0};
        const poly *product = count(of.step) > 1 ? arg(&of, 0) : NULL;
        bool some = is_number(product, &k) && k > 0;

        for (size_t j = 1; product && j < count(of.step); j++) {
            fact f = arg_fact(&of, j, false);

            if (f.kind == NE || !has(&of, f.kind, f.p, 0))
                return fail(r->c, r->name, ": not a fact here");
            some |= f.kind == EQ;
            product = mul(r->c, product, f.p);
        }
        all = some ? add(r->c, all, product) : NULL;
    }
    return is_number(arg(r, 2), &total) && total < 0 && same(all, arg(r, 2));
}

/* Whether the steps refute the state with one more fact.  A witness for which
 * that fact does not hold has nothing to do with the case. */
static bool run_case(const rule *r, fact f, const jx_json *steps)
{
    state next = *r->s;
    rule in = {r->c, &next, r->step, r->name, r->n};
    int op = f.kind == GE ? 2 : f.kind != EQ;
    int had = r->c->nwitnesses;
    bool ok = suppose(&in, f);
    num k;

    if (ok && had && !(value_at(r->c, f.p, 0, &k) && num_compare(k, op, 0)))
        r->c->nwitnesses = 0;
    ok = ok && run(r->c, next, steps);
    r->c->nwitnesses = had;
    return ok;
}

/* One of p >= 0, q >= 0 holds if p + q >= -1, or if p + q == -2 and p != -1. */
static bool split(const rule *r)
{
    fact f[2] = {arg_fact(r, 1, false), arg_fact(r, 2, false)};
    bool ok = f[0].kind == GE && f[1].kind == GE;
    num k;

    ok = ok && is_number(add(r->c, f[0].p, f[1].p), &k) && k <= 0 &&
         (k >= -1 || (k == -2 && has(r, NE, f[0].p, 1)));
    return ok && run_case(r, f[0], jx_json_item(r->step, 3)) &&
           run_case(r, f[1], jx_json_item(r->step, 4));
}

/* Rules about the atom x, which is t. */
static bool about(const rule *r, const poly *x, const atom t)
{
    checker *c = r->c;
    const poly *rest = sub(c, t.a, mul(c, t.b, x));
    const poly *over = linear(c, 1, sub(c, t.b, rest), -1);

    /* b*x <= a <= b*x + b - 1 for x == floordiv(a, b) and b >= 1 */
    if (is(r, "quotient", 1) && t.kind == FLOORDIV)
        return has(r, GE, t.b, -1) && suppose(r, (fact){rest, GE}) &&
               suppose(r, (fact){over, GE});
    /* max(a, 0) is a if a >= 0, and 0 if a <= 0. */
    if (is(r, "first", 1) && t.kind == MAX)
        return has(r, GE, t.a, 0) && put_all(r, lone_atom(x), t.a);
    if (is(r, "second", 1) && t.kind == MAX)
        return has(r, GE, sub(c, t.b, t.a), 0) && put_all(r, lone_atom(x), t.b);
    /* floordiv(g*(n + d*w), g*d) is w + floordiv(n, d) if g*d is not 0. */
    if (is(r, "ratio", 5) && t.kind == FLOORDIV) {
        const poly *g = arg(r, 2), *w = arg(r, 3), *n = arg(r, 4);
        const poly *d = arg(r, 5), *all = add(c, n, mul(c, d, w));

        return same(t.b, mul(c, g, d)) && same(t.a, mul(c, g, all)) &&
               (has(r, NE, t.b, 0) || has(r, GE, t.b, -1)) &&
               put_all(r, lone_atom(x),
                       n->n ? add(c, w, operation(c, JX_EXPR_FLOORDIV, n, d))
                            : w);
    }
    return false;
}

/* A step after which the branch goes on. */
static bool step(const rule *r)
{
    checker *c = r->c;
    const poly *x = NULL, *y;
    int natoms = c->natoms;
    claim name;

    /* What follows from its opposite being impossible. */
    if (is(r, "claim", 2)) {
        fact f = arg_fact(r, 1, false);
        return run_case(r, arg_fact(r, 1, true), jx_json_item(r->step, 2)) &&
               suppose(r, f);
    }
    /* A new name for any integer. */
    if (is(r, "let", 2) && r->s->nvars < MAX_VARS &&
        read_text(c, NULL, jx_json_item(r->step, 1), false, &name)) {
        if (lone_atom(name.a) != natoms || c->atoms[natoms].kind != VAR ||
            !(x = arg(r, 2)))
            return false;
        for (int i = 0; i < c->nwitnesses; i++)
            if (!value_at(c, x, i, &c->values[i][natoms]))
                return false;
            else
                c->has_value[i][natoms] = true;
        r->s->alive[natoms] = true;
        r->s->nvars++;
        return suppose(r, (fact){sub(c, name.a, x), EQ});
    }
    x = r->n ? arg(r, 1) : NULL;
    /* No divisor in the question is 0. */
    for (int i = 0; is(r, "nonzero", 1) && i < c->ndivisors; i++)
        if (same(x, c->divisors[i]))
            return suppose(r, (fact){x, NE});
    if (lone_atom(x) < 0)
        return false;
    /* Equals for equals, where the equation is a fact. */
    if (is(r, "put", 2))
        return (y = arg(r, 2)) && has(r, EQ, sub(c, x, y), 0) &&
               put_all(r, lone_atom(x), y);
    return about(r, x, c->atoms[lone_atom(x)]);
}

/* Whether the steps refute the state. */
static bool run(checker *c, state s, const jx_json *steps)
{
    size_t used = c->used, length;
    int natoms = c->natoms;
    bool ends = false, ok = true;

    for (size_t i = 0; ok && i < count(steps); i++) {
        rule r = {c, &s, jx_json_item(steps, i), "", 0};

        c->step++;
        if (ends || !count(r.step) ||
            jx_json_kind_of(jx_json_item(r.step, 0)) != JX_JSON_TEXT)
            return fail(c, "", "expected [rule, arguments...]");
        r.name = jx_json_text(jx_json_item(r.step, 0), &length);
        r.n = count(r.step) - 1;
        ends = is(&r, "sum", 2) || is(&r, "split", 4);
        ok = !ends ? step(&r) : r.n == 2 ? sum(&r) : split(&r);
        if (!ok)
            return fail(c, r.name, ": does not hold");
    }
    /* What the branch made is not needed any more. */
    c->used = used;
    c->natoms = natoms;
    return (ok && ends) || fail(c, "", "the branch does not end");
}

/* -- The certificate ---------------------------------------------------- */

static bool holds_at(checker *c, const claim *x, bool opposite, int witness,
                     const jx_json *text)
{
    claim said;
    num a, b, left, right;

    return value_at(c, x->a, witness, &a) && value_at(c, x->b, witness, &b) &&
           read_text(c, &(state){0}, text, true, &said) && said.op == x->op &&
           is_number(said.a, &left) && left == a && is_number(said.b, &right) &&
           right == b && num_compare(a, x->op, b) != opposite;
}

/* [["a == 1", ...], values]: there no divisor is 0, all claims but the last
 * hold, the last holds or not; the values are the claims with these put in. */
static bool witness(checker *c, const jx_json *json, int which, const claim *x,
                    size_t n, bool holds)
{
    const jx_json *list = count(json) == 2 ? jx_json_item(json, 0) : NULL;
    const jx_json *values = list ? jx_json_item(json, 1) : NULL;
    bool ok = count(values) == n;
    size_t used = 0;
    claim at;
    num k;

    for (int j = 0; ok && j < c->written; j++)
        if (c->atoms[j].kind != VAR)
            evaluate(c, j, which);
        else
            ok = used < count(list) &&
                 read_text(c, NULL, jx_json_item(list, used++), true, &at) &&
                 !at.op && lone_atom(at.a) == j &&
                 is_number(at.b, &c->values[which][j]) &&
                 (c->has_value[which][j] = true);
    ok = ok && used == count(list);
    for (int j = 0; ok && j < c->ndivisors; j++)
        if (!value_at(c, c->divisors[j], which, &k) || !k)
            return fail(c, "", "a divisor is 0 at a witness");
    for (size_t i = 0; ok && i < n; i++)
        ok = holds_at(c, &x[i], i + 1 == n && !holds, which,
                      jx_json_item(values, i));
    return ok || fail(c, "", "a witness does not bear out the verdict");
}

/* The first facts: what is assumed, and the last claim or its opposite; and so
 * says the certificate. */
static bool begin(const rule *r, const jx_json *facts, const claim *x, size_t n,
                  bool opposite)
{
    bool ok = count(facts) == n;

    for (size_t i = 0; ok && i < n; i++) {
        rule of = {r->c, r->s, facts, "facts", 0};
        fact f = fact_of(r->c, x[i], opposite && i + 1 == n), said;

        said = arg_fact(&of, i, false);
        ok = suppose(r, f) && same(f.p, said.p) && f.kind == said.kind;
    }
    return ok || fail(r->c, "", "the facts are not those of the question");
}

static bool check(checker *c, const jx_json *json)
{
    enum { VERSION, BASE, LIST, QUESTION, VERDICT, WITNESSES, FACTS, PROOF, N };
    static const char *const keys[N] = {"certificate", "base",    "constraints",
                                        "question",    "verdict", "witnesses",
                                        "facts",       "proof"};
    static const jx_json_kind kinds[N] = {
        JX_JSON_INT,  JX_JSON_INT,   JX_JSON_ARRAY, JX_JSON_TEXT,
        JX_JSON_TEXT, JX_JSON_ARRAY, JX_JSON_ARRAY, JX_JSON_ARRAY};
    static const char *const verdicts[] = {"true", "false", "depends",
                                           "contradiction", ""};
    static const size_t witnesses[] = {1, 1, 2, 0};
    const jx_json *m[N], *id;
    claim x[MAX_VARS + MAX_FACTS], *said = x + MAX_VARS;
    size_t n, length, v = 0;
    state s = {0};

    for (int i = 0; i < N; i++)
        if (!jx_json_get(json, keys[i], &m[i]) ||
            jx_json_kind_of(m[i]) != kinds[i]) {
            c->malformed = true;
            return fail(c, keys[i], ": expected another such member");
        }
    n = count(m[LIST]);
    while (v < 4 && strcmp(verdicts[v], jx_json_text(m[VERDICT], &length)))
        v++;
    if (jx_json_int(m[VERSION]) != 1 || jx_json_count(json) != N + 1 ||
        !jx_json_get(json, "id", &id) || v == 4 || n + 1 > MAX_FACTS)
        return fail(c, "", "expected version 1, a verdict, and nothing else");
    for (size_t i = 0; i < n; i++)
        if (!read_text(c, NULL, jx_json_item(m[LIST], i), true, &said[i]))
            return false;
    /* Constraints that contradict each other are about no question. */
    jx_json_text(m[QUESTION], &length);
    if (v == 3 ? length : !read_text(c, NULL, m[QUESTION], true, &said[n++]))
        return fail(c, "question", ": expected none");
    c->written = c->natoms;
    c->stated = true;
    /* Every variable is at least `base`. */
    for (int i = 0; i < c->written && s.nvars < MAX_VARS; i++)
        if (c->atoms[i].kind == VAR) {
            s.alive[i] = true;
            s.nvars++;
            *--said = (claim){make_atom(c, c->atoms[i]),
                              number(c, jx_json_int(m[BASE])), 2};
        }
    n += (size_t)s.nvars;
    if (count(m[WITNESSES]) != witnesses[v])
        return fail(c, "witnesses", ": expected one for each answer");
    for (size_t i = 0; i < witnesses[v]; i++)
        if (!witness(c, jx_json_item(m[WITNESSES], i), (int)i, said, n,
                     i == 0 && v != 1))
            return false;
    c->nwitnesses = (int)witnesses[v];
    return begin(&(rule){c, &s, NULL, "", 0}, m[FACTS], said, n, v == 0) &&
           (v == 2 ? !count(m[PROOF]) : run(c, s, m[PROOF]));
}

jx_check_result jx_check_certificate(const jx_json *certificate, char *why,
                                     size_t room)
{
    checker *c = calloc(1, sizeof *c);
    jx_check_result result = c ? JX_CHECK_MALFORMED : JX_CHECK_STARVED;

    snprintf(why, room, "expected an object");
    if (c && jx_json_kind_of(certificate) == JX_JSON_OBJECT) {
        *why = '\0';
        c->why = why, c->room = room;
        if (!check(c, certificate) || c->work > MAX_WORK)
            fail(c, "", "too large");
        result = c->malformed ? JX_CHECK_MALFORMED
                 : *why       ? JX_CHECK_REJECTED
                              : JX_CHECK_ACCEPTED;
    }
    free(c);
    return result;
}
