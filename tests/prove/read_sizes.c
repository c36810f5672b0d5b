/* read_sizes.c - the values of sizes that are read from standard input, a line
 * each: `a b c` (numbers), a tab, an expression in a, b and c.  Prints its
 * value, `zero` where a divisor is 0, `large` where it does not fit, `error`
 * and the column where it can't be read.  tests/prove/grammar.py asks. */
#include "frontend/base/expression.h"
#include "frontend/ir/dim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct point {
    long long at[3];
} point;

static bool look_up(void *env, const jx_dim_atom *var, jx_int *value)
{
    bool known = !var->name[1] && var->name[0] >= 'a' && var->name[0] <= 'c';

    *value = known ? ((point *)env)->at[var->name[0] - 'a'] : 5;
    return true;
}

static void answer(jx_dims *in, const char *text, size_t length, bool written,
                   point *at, jx_buffer *to)
{
    jx_dim_divisors divisors = {0};
    jx_dim_reading reading = {.written = written, .divisors = &divisors};
    const jx_dim *dim = jx_dim_read(in, text, length, &reading);
    jx_int value;

    if (reading.too_large && jx_expression_length(text, length) == length) {
        jx_buffer_puts(to, "large");
        return;
    }
    if (!dim || reading.end != length) {
        jx_buffer_printf(to, "error %zu", reading.end + 1);
        return;
    }
    for (size_t i = 0; i < divisors.count; i++)
        if (jx_dim_eval_exact(divisors.at[i], look_up, at, &value) && !value) {
            jx_buffer_puts(to, "zero");
            return;
        }
    if (jx_dim_eval_exact(dim, look_up, at, &value))
        jx_int_print(value, to);
    else
        jx_buffer_puts(to, "large");
}

int main(void)
{
    static char line[1 << 16];

    while (fgets(line, sizeof line, stdin)) {
        jx_ctx *ctx = jx_ctx_new(1 << 26);
        jx_dims *in = ctx ? jx_dims_new(ctx) : NULL;
        char *text = strchr(line, '\t');
        jx_buffer to = {0};
        point at;

        if (!in || !text ||
            sscanf(line, "%lld %lld %lld", &at.at[0], &at.at[1], &at.at[2]) !=
                3)
            return 2;
        text++;
        text[strcspn(text, "\n")] = '\0';
        answer(in, text, strlen(text), false, &at, &to);
        jx_buffer_putc(&to, '\t');
        answer(in, text, strlen(text), true, &at, &to);
        puts(jx_buffer_text(&to));
        jx_buffer_free(&to);
        jx_ctx_free(ctx);
    }
    return 0;
}
