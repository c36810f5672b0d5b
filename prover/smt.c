/* smt.c - see smt.h. */
#include "prover/smt.h"

#include <string.h>

void jx_smt_start(jx_smt *smt, jx_work *work, jx_buffer *to)
{
    *smt = (jx_smt){.work = work, .to = to};
}

bool jx_smt_ok(const jx_smt *smt)
{
    return !smt->failed && jx_buffer_ok(smt->to);
}

/* -------------------------------------------------------------------------
 * Names
 * ---------------------------------------------------------------------- */

static bool set_name(jx_smt *smt, const jx_dim_atom *atom, const char *name)
{
    if (atom->id >= smt->nnames) {
        size_t n = (size_t)atom->id * 2 + 32;
        const char **grown =
            JX_NEW_ARRAY(smt->work->ctx->arena, n, const char *);

        if (!grown || !name) {
            smt->failed = true;
            return false;
        }
        if (smt->nnames)
            memcpy(grown, smt->names, smt->nnames * sizeof *grown);
        smt->names = grown;
        smt->nnames = n;
    }
    smt->names[atom->id] = name;
    return true;
}

static const char *name_of(const jx_smt *smt, const jx_dim_atom *atom)
{
    return atom->id < smt->nnames ? smt->names[atom->id] : NULL;
}

/* Letters, digits and `_`, and nothing that SMT-LIB or we use. */
static bool is_plain(const char *name)
{
    static const char *const taken[] = {
        "and",      "or",      "not",       "xor",        "ite",    "let",
        "forall",   "exists",  "par",       "as",         "div",    "mod",
        "abs",      "true",    "false",     "match",      "_",      "assert",
        "distinct", "implies", "if",        "is",         "iff",    "rem",
        "to_int",   "to_real", "is_int",    "select",     "store",  "const",
        "sin",      "cos",     "tan",       "pi",         "euler",  "concat",
        "extract",  "bvadd",   "root_obj",  "asin",       "acos",   "atan",
        "re",       "str",     "seq",       "int2bv",     "bv2int", "int2bv",
        "map",      "union",   "intersect", "complement", "subset", "default",
        "lambda",   "choice",  "power",     "e",          "exp",
    };
    size_t n = 0;

    for (; name[n]; n++) {
        char c = name[n];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
              (n && c >= '0' && c <= '9')))
            return false;
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(name, taken[i]))
            return false;
    return n > 0;
}

static void print_number(jx_smt *smt, jx_int k)
{
    if (k < 0) {
        jx_buffer digits = jx_ctx_text(smt->work->ctx);

        jx_int_print(k, &digits);
        jx_buffer_printf(smt->to, "(- %s)", jx_buffer_text(&digits) + 1);
        jx_buffer_free(&digits);
    } else {
        jx_int_print(k, smt->to);
    }
}

static const char *declare(jx_smt *smt, const char *plain, const char *stem)
{
    const char *name = plain ? plain
                             : jx_arena_printf(smt->work->ctx->arena, "%s.%d",
                                               stem, smt->fresh++);

    jx_buffer_printf(smt->to, "(declare-const %s Int)\n", name ? name : "");
    smt->failed |= !name;
    return name;
}

static void declare_var(jx_smt *smt, const jx_dim_atom *var)
{
    jx_dim_range r = jx_work_range(smt->work, var);
    const char *name;

    if (name_of(smt, var))
        return;
    name = declare(smt, is_plain(var->name) ? var->name : NULL, "var");
    if (!set_name(smt, var, name))
        return;
    if (!is_plain(var->name))
        jx_buffer_printf(smt->to, "; %s is %s\n", name, var->name);
    jx_buffer_printf(smt->to, "(assert (>= %s ", name);
    print_number(smt, r.low);
    jx_buffer_puts(smt->to, "))\n");
    if (!r.has_high)
        return;
    jx_buffer_printf(smt->to, "(assert (<= %s ", name);
    print_number(smt, r.high);
    jx_buffer_puts(smt->to, "))\n");
}

/* -------------------------------------------------------------------------
 * Polynomials and definitions
 * ---------------------------------------------------------------------- */

static void print_term(jx_smt *smt, const jx_dim_term *t)
{
    if (!t->nfactors) {
        print_number(smt, t->coefficient);
        return;
    }
    if (t->nfactors == 1 && t->factors[0].power == 1 && t->coefficient == 1) {
        const char *name = name_of(smt, t->factors[0].atom);
        jx_buffer_puts(smt->to, name ? name : "");
        return;
    }
    jx_buffer_puts(smt->to, "(*");
    if (t->coefficient != 1) {
        jx_buffer_putc(smt->to, ' ');
        print_number(smt, t->coefficient);
    }
    for (int j = 0; j < t->nfactors; j++)
        for (int k = 0; k < t->factors[j].power && k < 1000; k++) {
            const char *name = name_of(smt, t->factors[j].atom);
            jx_buffer_printf(smt->to, " %s", name ? name : "");
        }
    jx_buffer_putc(smt->to, ')');
}

static void print_dim(jx_smt *smt, const jx_dim *d)
{
    int n = jx_dim_nterms(d);

    if (!n)
        jx_buffer_putc(smt->to, '0');
    if (n > 1)
        jx_buffer_puts(smt->to, "(+");
    for (int i = 0; i < n; i++) {
        if (n > 1)
            jx_buffer_putc(smt->to, ' ');
        print_term(smt, &jx_dim_terms(d)[i]);
    }
    if (n > 1)
        jx_buffer_putc(smt->to, ')');
}

static void define(jx_smt *smt, const jx_dim *d);

/* 0 <= r < d where d > 0, or the mirror image; `always`: d has that sign. */
static void bound_remainder(jx_smt *smt, const jx_dim *d, const char *r,
                            bool positive, bool always)
{
    jx_buffer_puts(smt->to, "(assert ");
    if (!always) {
        jx_buffer_printf(smt->to, "(=> (%s ", positive ? ">" : "<");
        print_dim(smt, d);
        jx_buffer_puts(smt->to, " 0) ");
    }
    jx_buffer_printf(
        smt->to, positive ? "(and (<= 0 %s) (< %s " : "(and (>= 0 %s) (> %s ",
        r, r);
    print_dim(smt, d);
    jx_buffer_puts(smt->to, always ? ")))\n" : "))))\n");
}

static void define_remainder_range(jx_smt *smt, const jx_dim *d, const char *r)
{
    int signs = jx_signs_by_bounds(smt->work, d);

    if (signs & JX_ZERO) {
        jx_buffer_puts(smt->to, "(assert (not (= ");
        print_dim(smt, d);
        jx_buffer_puts(smt->to, " 0)))\n");
    }
    if (signs & JX_POSITIVE)
        bound_remainder(smt, d, r, true, !(signs & JX_NEGATIVE));
    if (signs & JX_NEGATIVE)
        bound_remainder(smt, d, r, false, !(signs & JX_POSITIVE));
}

static void define_quotient(jx_smt *smt, const jx_dim_atom *atom)
{
    bool is_mod = atom->kind == JX_ATOM_MOD;
    const jx_dim *twin =
        jx_dim_literal(smt->work->in, is_mod ? JX_ATOM_FLOORDIV : JX_ATOM_MOD,
                       atom->a, atom->b);
    const char *q, *r;

    if (!twin) {
        smt->failed = true;
        return;
    }
    q = declare(smt, NULL, "quotient");
    r = declare(smt, NULL, "remainder");
    set_name(smt, atom, is_mod ? r : q);
    set_name(smt, jx_dim_terms(twin)[0].factors[0].atom, is_mod ? q : r);
    jx_buffer_puts(smt->to, "(assert (= ");
    print_dim(smt, atom->a);
    jx_buffer_puts(smt->to, " (+ (* ");
    print_dim(smt, atom->b);
    jx_buffer_printf(smt->to, " %s) %s)))\n", q, r);
    define_remainder_range(smt, atom->b, r);
}

static void define_extremum(jx_smt *smt, const jx_dim_atom *atom)
{
    const char *op = atom->kind == JX_ATOM_MAX ? ">=" : "<=";
    const char *name =
        declare(smt, NULL, atom->kind == JX_ATOM_MAX ? "max" : "min");
    const jx_dim *operands[2] = {atom->a, atom->b};

    set_name(smt, atom, name);
    for (int i = 0; i < 2; i++) {
        jx_buffer_printf(smt->to, "(assert (%s %s ", op, name);
        print_dim(smt, operands[i]);
        jx_buffer_puts(smt->to, "))\n");
    }
    jx_buffer_printf(smt->to, "(assert (or (= %s ", name);
    print_dim(smt, atom->a);
    jx_buffer_printf(smt->to, ") (= %s ", name);
    print_dim(smt, atom->b);
    jx_buffer_puts(smt->to, ")))\n");
}

/* Names all atoms of a dim. */
static void define(jx_smt *smt, const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d) && !smt->failed; i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;

            if (name_of(smt, a))
                continue;
            if (a->kind == JX_ATOM_VAR) {
                declare_var(smt, a);
                continue;
            }
            define(smt, a->a);
            define(smt, a->b);
            if (name_of(smt, a) || smt->failed)
                continue;
            if (a->kind == JX_ATOM_MAX || a->kind == JX_ATOM_MIN)
                define_extremum(smt, a);
            else
                define_quotient(smt, a);
        }
}

void jx_smt_assert(jx_smt *smt, const jx_dim *dim, int signs)
{
    static const char *const ops[8] = {
        [JX_NEGATIVE] = "(< ",
        [JX_ZERO] = "(= ",
        [JX_POSITIVE] = "(> ",
        [JX_NEGATIVE | JX_ZERO] = "(<= ",
        [JX_ZERO | JX_POSITIVE] = "(>= ",
        [JX_NEGATIVE | JX_POSITIVE] = "(distinct ",
    };

    define(smt, dim);
    if (!ops[signs & 7]) {
        if (!signs)
            jx_buffer_puts(smt->to, "(assert false)\n");
        return;
    }
    jx_buffer_printf(smt->to, "(assert %s", ops[signs & 7]);
    print_dim(smt, dim);
    jx_buffer_puts(smt->to, " 0))\n");
}

void jx_smt_assert_hyp(jx_smt *smt, const jx_hyp *hyp)
{
    static const int signs[] = {
        [JX_HYP_GE] = JX_ZERO | JX_POSITIVE,
        [JX_HYP_EQ] = JX_ZERO,
        [JX_HYP_NE] = JX_NEGATIVE | JX_POSITIVE,
    };

    jx_smt_assert(smt, hyp->dim, signs[hyp->kind]);
}

const jx_dim_atom *jx_smt_var(const jx_smt *smt, const jx_dim *const *dims,
                              int ndims, const char *name, size_t length)
{
    for (int i = 0; i < ndims; i++) {
        int count;
        const jx_dim_atom *const *vars =
            jx_dim_vars(smt->work->in, dims[i], &count);

        for (int j = 0; j < count; j++) {
            const char *own = name_of(smt, vars[j]);
            if (own && strlen(own) == length && !memcmp(own, name, length))
                return vars[j];
        }
    }
    return NULL;
}
