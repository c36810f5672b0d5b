/* writer.h - writes the proof of a certificate, in the rules of the checker.
 *
 * The decider's steps are large: "by intervals", "the quotient has a
 * remainder". The rules of a certificate are small, so that the checker is:
 * facts, names, cases, and sums of products of facts
 * (docs/CERTIFICATE.md).  The writer keeps the facts that the checker will
 * have at each place, in the checker's form (mod, min and max by floordiv
 * and max(d, 0), numbers folded), writes claims for what is needed, and so
 * derives what the decider just knew. */
#ifndef JX_PROVER_WRITER_H
#define JX_PROVER_WRITER_H

#include "frontend/base/vec.h"
#include "prover/trace.h"

enum { JX_FACTS = 190, JX_SUM_ITEMS = 600, JX_SUM_FACTS = 10 };

/* The facts of one branch. */
typedef struct jx_facts {
    int n;
    jx_hyp at[JX_FACTS];
    int id[JX_FACTS]; /* the same from branch to branch */
} jx_facts;

/* A step that does nothing but add facts (the `n` ones from `id` on), and where
 * facts are used: what nothing needs is taken out at the end. */
typedef struct jx_written {
    size_t start, end;
    int id, n;
} jx_written;

typedef struct jx_use {
    size_t at;
    int id;
} jx_use;

typedef JX_VEC(jx_written) jx_written_steps;
typedef JX_VEC(jx_use) jx_uses;

typedef struct jx_writer {
    jx_work *work;
    jx_dims *in;
    const jx_dim *zero;
    jx_buffer *to;
    const char *prefix; /* of variables that no question has */
    bool failed;        /* it has no certificate; why says where */
    const char *why;
    long left;          /* of work */
    jx_buffer *explain; /* lines for people, or NULL */
    int depth;          /* of their indentation */
    jx_buffer *used;    /* facts of the last sum, while one is explained */
    int ids, nopen;
    size_t open[64]; /* where such steps begin */
    jx_written_steps steps;
    jx_uses uses;
} jx_writer;

bool jx_writer_fail(jx_writer *w, const char *why);

/* A dim in the checker's form. */
const jx_dim *jx_written_form(jx_writer *w, const jx_dim *d);
const jx_dim *jx_written_atom(jx_writer *w, jx_atom_kind kind, const jx_dim *a,
                              const jx_dim *b);

/* JSON: `["name"`, arguments, `]`. */
void jx_write_begin(jx_writer *w, const char *name);
void jx_write_dim(jx_writer *w, const jx_dim *d);
void jx_write_fact(jx_writer *w, jx_hyp h);
void jx_write_list(jx_writer *w); /* `[` as an argument */
void jx_write_end(jx_writer *w);  /* `]` */
/* Around a step that adds the last `n` facts and does nothing else. */
void jx_write_open(jx_writer *w);
void jx_write_closed(jx_writer *w, int n);
/* The step that comes now needs that fact (if it is one). */
void jx_note_use(jx_writer *w, const jx_facts *f, jx_hyp h);
/* Takes out what is not needed of what was written since `start`. */
void jx_write_needed(jx_writer *w, size_t start);
void jx_print_dim(jx_writer *w, const jx_dim *d, jx_buffer *to);
/* For people: what is negative is on the other side. */
void jx_print_comparison(jx_writer *w, jx_hyp h, jx_buffer *to);

bool jx_facts_have(const jx_writer *w, const jx_facts *f, jx_hyp h);
bool jx_facts_mention(const jx_facts *f, const jx_dim_atom *atom);
void jx_facts_add(jx_writer *w, jx_facts *f, const jx_dim *d, jx_hyp_kind kind);
/* Puts `value` for the atom, everywhere; nothing is written. */
void jx_facts_put(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                  const jx_dim *value);
/* The best ends that facts say. */
bool jx_facts_low(const jx_writer *w, const jx_facts *f,
                  const jx_dim_atom *atom, jx_int *low);
bool jx_facts_high(const jx_writer *w, const jx_facts *f,
                   const jx_dim_atom *atom, jx_int *high);

/* A sum that is to become negative. */
typedef struct jx_sum_item {
    jx_int k;
    const jx_dim *by; /* instead of k, where a fact is an equation */
    int n;
    jx_hyp facts[JX_SUM_FACTS];
} jx_sum_item;

typedef struct jx_sum {
    int n, capacity;
    const jx_dim *total;
    jx_sum_item *items;
} jx_sum;

void jx_sum_start(jx_writer *w, jx_sum *s);
void jx_sum_add(jx_writer *w, jx_sum *s, jx_int k, const jx_dim *a); /* a>=0 */
void jx_sum_item_add(jx_writer *w, jx_sum *s, const jx_sum_item *item);
void jx_sum_equation(jx_writer *w, jx_sum *s, const jx_dim *by,
                     const jx_dim *a); /* a == 0 */
/* a >= 0 times m, which is a number or has m - 1 >= 0 or lows as facts. */
bool jx_sum_times(jx_writer *w, jx_sum *s, const jx_facts *f, const jx_dim *m,
                  const jx_dim *a);
/* Adds what ends of ranges give, until it is a negative number. */
bool jx_sum_complete(jx_writer *w, jx_sum *s, const jx_facts *f);
/* Writes it, if it is a negative number. */
bool jx_sum_write(jx_writer *w, const jx_sum *s, const jx_facts *f);
/* Completes and writes. */
bool jx_sum_close(jx_writer *w, jx_sum *s, const jx_facts *f);

/* d >= 0, or d >= 0 and -d >= 0, is a fact afterwards; false (and nothing is
 * written) if it can't be had from ranges. */
bool jx_have_ge(jx_writer *w, jx_facts *f, const jx_dim *d);
/* The facts of a quotient by what is positive. */
bool jx_have_quotient(jx_writer *w, jx_facts *f, const jx_dim_atom *atom);
/* Ends the branch: the fact h can't be. */
bool jx_write_impossible(jx_writer *w, jx_facts *f, jx_hyp h);
/* What it needs of its operations' ranges becomes facts. */
void jx_have_ranges(jx_writer *w, jx_facts *f, const jx_dim *d);
bool jx_have_low(jx_writer *w, jx_facts *f, const jx_dim_atom *atom);
bool jx_have_high(jx_writer *w, jx_facts *f, const jx_dim_atom *atom);

/* Dims of the proof.  One that does not fit fails the writer for good, and is
 * 0 from there on, so that nobody below has to ask. */
static inline const jx_dim *jx_w_kept(jx_writer *w, const jx_dim *d)
{
    if (d)
        return d;
    jx_writer_fail(w, "too large");
    return w->zero;
}

static inline const jx_dim *jx_w_int(jx_writer *w, jx_int k)
{
    return jx_w_kept(w, jx_dim_wide(w->in, k));
}

static inline const jx_dim *jx_w_neg(jx_writer *w, const jx_dim *a)
{
    return jx_w_kept(w, jx_dim_neg(w->in, a));
}

static inline const jx_dim *jx_w_add(jx_writer *w, const jx_dim *a,
                                     const jx_dim *b)
{
    return jx_w_kept(w, jx_dim_add(w->in, a, b));
}

static inline const jx_dim *jx_w_sub(jx_writer *w, const jx_dim *a,
                                     const jx_dim *b)
{
    return jx_w_kept(w, jx_dim_sub(w->in, a, b));
}

static inline const jx_dim *jx_w_mul(jx_writer *w, const jx_dim *a,
                                     const jx_dim *b)
{
    return jx_w_kept(w, jx_dim_mul(w->in, a, b));
}

static inline const jx_dim *jx_w_map(jx_writer *w, const jx_dim *d,
                                     jx_dim_mapping *map, void *env)
{
    return jx_w_kept(w, d ? jx_dim_map(w->in, d, map, env) : NULL);
}

static inline const jx_dim *jx_w_substitute(jx_writer *w, const jx_dim *d,
                                            const jx_dim_atom *var,
                                            const jx_dim *value)
{
    return jx_w_kept(w, d ? jx_dim_substitute(w->in, d, var, value) : NULL);
}

/* max(a, 0) as it stands. */
static inline const jx_dim *jx_w_part(jx_writer *w, const jx_dim *a)
{
    return jx_w_kept(w, jx_dim_literal(w->in, JX_ATOM_MAX, a, w->zero));
}

/* -1 - a: the opposite of a >= 0. */
static inline const jx_dim *jx_w_not(jx_writer *w, const jx_dim *a)
{
    return jx_w_sub(w, jx_w_int(w, -1), a);
}

#endif
