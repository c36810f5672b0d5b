/* fuzz_certificate.c - any bytes as a certificate: no crash, no endless work,
 * and what is accepted is true.
 *
 * An accepted verdict is held against a small box of assignments, with the
 * arithmetic of frontend/ir, which the checker does not use. */
#include "checker/checker.h"
#include "frontend/ir/dim.h"
#include "prover/prover.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_TEXT = 20000, MAX_VARS = 3, SIDE = 6, MAX_CLAIMS = 8 };

typedef struct box {
    jx_ctx *ctx;
    jx_dims *in;
    int64_t base;
    int n, nvars;
    jx_constraint claims[MAX_CLAIMS];
    const jx_dim_atom *vars[MAX_VARS];
    int64_t at[MAX_VARS];
} box;

static bool lookup(void *env, const jx_dim_atom *var, int64_t *value)
{
    const box *b = env;

    for (int i = 0; i < b->nvars; i++)
        if (b->vars[i] == var) {
            *value = b->at[i];
            return true;
        }
    return false;
}

static bool add_vars(box *b, const jx_dim *d)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(b->in, d, &n);
    int64_t value;

    for (int i = 0; vars && i < n; i++)
        if (!lookup(b, vars[i], &value)) {
            if (b->nvars == MAX_VARS)
                return false;
            b->vars[b->nvars++] = vars[i];
        }
    return vars != NULL;
}

static bool add_claim(box *b, const jx_json *json)
{
    size_t length, at;
    const char *expected;
    const char *text = jx_json_kind_of(json) == JX_JSON_TEXT
                           ? jx_json_text(json, &length)
                           : "";
    jx_constraint *c = &b->claims[b->n];

    if (b->n == MAX_CLAIMS ||
        !jx_constraint_parse(b->in, text, strlen(text), 0, c, &at, &expected))
        return false;
    b->n++;
    return add_vars(b, c->lhs) && add_vars(b, c->rhs);
}

/* -1: no value. */
static int holds(box *b, const jx_constraint *c)
{
    jx_int x, y;

    if (!jx_dim_eval_wide(c->lhs, lookup, b, &x) ||
        !jx_dim_eval_wide(c->rhs, lookup, b, &y))
        return -1;
    switch (c->relation) {
    case JX_REL_EQ: return x == y;
    case JX_REL_NE: return x != y;
    case JX_REL_GE: return x >= y;
    case JX_REL_LE: return x <= y;
    case JX_REL_GT: return x > y;
    case JX_REL_LT: return x < y;
    }
    return -1;
}

static void check_point(box *b, const char *verdict)
{
    bool no_question = !strcmp(verdict, "contradiction");

    for (int i = 0; i < b->n - !no_question; i++)
        if (holds(b, &b->claims[i]) != 1)
            return;
    if (no_question ||
        (!strcmp(verdict, "true") && !holds(b, &b->claims[b->n - 1])) ||
        (!strcmp(verdict, "false") && holds(b, &b->claims[b->n - 1]) == 1))
        abort();
}

/* What the checker accepts is so, everywhere in the box. */
static void check_box(box *b, const jx_json *json)
{
    const jx_json *list, *question, *verdict, *base;
    size_t length;
    int total = 1;

    jx_json_get(json, "constraints", &list);
    jx_json_get(json, "question", &question);
    jx_json_get(json, "verdict", &verdict);
    jx_json_get(json, "base", &base);
    b->base = jx_json_int(base);
    for (size_t i = 0; i < jx_json_count(list); i++)
        if (!add_claim(b, jx_json_item(list, i)))
            return;
    jx_json_text(question, &length);
    if ((length && !add_claim(b, question)) || b->base > 1000 ||
        b->base < -1000)
        return;
    for (int i = 0; i < b->nvars; i++)
        total *= SIDE;
    for (int k = 0; k < total; k++) {
        int rest = k;

        for (int i = 0; i < b->nvars; i++, rest /= SIDE)
            b->at[i] = b->base + rest % SIDE;
        check_point(b, jx_json_text(verdict, &length));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    box b = {.ctx = jx_ctx_new(1 << 26)};
    jx_json *json = NULL;
    char why[120];

    if (b.ctx && size <= MAX_TEXT &&
        jx_json_read(b.ctx, NULL, (const char *)data, size, &json)) {
        b.in = jx_dims_new(b.ctx);
        if (jx_check_certificate(json, why, sizeof why) == JX_CHECK_ACCEPTED &&
            b.in)
            check_box(&b, json);
        jx_json_free(json);
    }
    jx_ctx_free(b.ctx);
    return 0;
}
