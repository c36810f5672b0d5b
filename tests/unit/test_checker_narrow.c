/* test_checker_narrow.c - the checker of certificates with numbers of 8 bits,
 * so that all that could wrap around can be tried: it is the same code at 128.
 *
 * Polynomials against their values in wider integers, and every sum of two
 * multiples of facts as the proof of something false. */
#include <stdint.h>

#define JX_NUM_BITS 8
typedef int8_t num;
typedef uint8_t unum;
#define jx_check_certificate jx_check_certificate_narrow
#include "checker/checker.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* a + b*x + c*y, or what multiplies it out of two of them. */
typedef struct line {
    int a, b, c;
} line;

static const poly *poly_of(checker *c, line l, const poly *x, const poly *y)
{
    return add(c, number(c, l.a),
               add(c, mul(c, number(c, l.b), x), mul(c, number(c, l.c), y)));
}

/* NULL only where a coefficient leaves 8 bits. */
static void expect_poly(const poly *p, const int *want, int n)
{
    bool fits = true;
    int found = 0;

    for (int i = 0; i < n; i++)
        fits &= want[i] >= -127 && want[i] <= 127;
    if (!p) {
        assert_false(fits);
        return;
    }
    assert_true(fits);
    for (int i = 0; i < p->n; i++) {
        const term *t = &p->at[i];
        /* 1, x, y, xx, xy, yy by how often y is in them */
        int ys = 0, at;

        for (int j = 0; j < t->n; j++)
            ys += t->at[j];
        at = t->n == 0 ? 0 : t->n == 1 ? 1 + ys : 3 + ys;
        assert_true(at < n);
        assert_int_equal(t->k, want[at]);
        found++;
    }
    for (int i = 0; i < n; i++)
        found -= want[i] != 0;
    assert_int_equal(found, 0);
}

static const int ends[] = {-127, -126, -64, -12, -11, -2, -1,  0,
                           1,    2,    11,  12,  63,  64, 126, 127};
enum { ENDS = sizeof ends / sizeof *ends };

static line line_of(int i)
{
    return (line){ends[i % ENDS], ends[i / ENDS % ENDS], ends[i / 5 % ENDS]};
}

static void sums_and_products_have_their_coefficients(void **none)
{
    checker *c = calloc(1, sizeof *c);
    char why[100] = "";
    (void)none;

    c->why = why;
    c->room = sizeof why;
    const poly *x = make_atom(c, (atom){.name = "x", .length = 1});
    const poly *y = make_atom(c, (atom){.name = "y", .length = 1});
    size_t used = c->used;
    for (int i = 0; i < ENDS * ENDS; i++)
        for (int j = 0; j < ENDS * ENDS; j++) {
            line p = line_of(i), q = line_of(j);
            const poly *a = poly_of(c, p, x, y), *b = poly_of(c, q, x, y);
            const int total[] = {p.a + q.a, p.b + q.b, p.c + q.c};
            const int less[] = {p.a - q.a, p.b - q.b, p.c - q.c};
            const int all[] = {
                p.a * q.a, p.a * q.b + p.b * q.a, p.a * q.c + p.c * q.a,
                p.b * q.b, p.b * q.c + p.c * q.b, p.c * q.c};
            const poly *product = mul(c, a, b);
            bool fits = true;

            expect_poly(add(c, a, b), total, 3);
            expect_poly(sub(c, a, b), less, 3);
            /* Each of the two that meet has to fit, too. */
            const int parts[] = {p.a * q.b, p.b * q.a, p.a * q.c,
                                 p.c * q.a, p.b * q.c, p.c * q.b};
            for (int k = 0; k < 6; k++)
                fits &= parts[k] >= -127 && parts[k] <= 127;
            if (product || fits)
                expect_poly(product, all, 6);
            c->used = used;
            c->work = 0;
        }
    assert_string_equal(why, "");
    free(c);
}

/* With n >= 1, what is said of n >= 5 to be true; m1*(n - 1) + m2*(4 - n) == t
 * with whatever t 8 bits give. */
static void no_sum_that_wraps_is_a_proof(void **none)
{
    static const char form[] =
        "{\"certificate\":1,\"id\":null,\"base\":1,\"constraints\":[],\"question\":\"n "
        ">= 5\",\"verdict\":\"true\",\"witnesses\":[[[\"n == 5\"],[\"5 >= "
        "1\",\"5 >= 5\"]]],\"facts\":[\"n - 1 >= 0\",\"4 - n >= "
        "0\"],\"proof\":[[\"sum\",[[\"%d\",\"n - 1 >= 0\"],[\"%d\",\"4 - n >= "
        "0\"]%s],\"%d\"]]}";
    jx_ctx *ctx = jx_ctx_new(0);
    long tried = 0;
    (void)none;

    for (int m1 = -127; m1 <= 127; m1++)
        for (int m2 = -127; m2 <= 127; m2 += m1 % 8 ? 5 : 1) {
            const char *more = m1 % 3 ? "" : ",[\"127\",\"1 >= 0\"]";
            int t = (int8_t)(-m1 + 4 * m2 + (*more ? 127 : 0));
            char text[500], why[200];
            jx_json *json;

            snprintf(text, sizeof text, form, m1, m2, more, t);
            assert_true(jx_json_read(ctx, "narrow", text, strlen(text), &json));
            assert_int_equal(jx_check_certificate(json, why, sizeof why),
                             JX_CHECK_REJECTED);
            tried += t < 0 && m1 == m2;
            jx_json_free(json);
        }
    assert_true(tried > 20); /* these are the sums of numbers alone */
    jx_ctx_free(ctx);
}

/* What is true is accepted at 8 bits, so that the rest means something: 63*5
 * does not fit, 2*5 does. */
static void a_proof_that_fits_is_accepted(void **none)
{
    static const char form[] =
        "{\"certificate\":1,\"id\":null,\"base\":1,\"constraints\":[\"n >= "
        "5\"],\"question\":\"n >= "
        "4\",\"verdict\":\"true\",\"witnesses\":[[[\"n == 5\"],[\"5 >= 1\",\"5 "
        ">= 5\",\"5 >= 4\"]]],\"facts\":[\"n - 1 >= 0\",\"n - 5 >= 0\",\"3 - n "
        ">= 0\"],\"proof\":[[\"sum\",[[\"%d\",\"n - 5 >= 0\"],[\"%d\",\"3 - n "
        ">= 0\"]],\"%d\"]]}";
    jx_ctx *ctx = jx_ctx_new(0);
    (void)none;

    for (int m = 1; m <= 63; m++) {
        char text[500], why[200];
        jx_json *json;

        snprintf(text, sizeof text, form, m, m, -2 * m);
        assert_true(jx_json_read(ctx, "narrow", text, strlen(text), &json));
        assert_int_equal(jx_check_certificate(json, why, sizeof why),
                         m <= 25 ? JX_CHECK_ACCEPTED : JX_CHECK_REJECTED);
        jx_json_free(json);
    }
    jx_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_have_their_coefficients),
        cmocka_unit_test(no_sum_that_wraps_is_a_proof),
        cmocka_unit_test(a_proof_that_fits_is_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
