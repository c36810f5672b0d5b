/* timings.c - see timings.h. */
#include "reports/formats/timings.h"

#include "frontend/base/json.h"

static void put_seconds(const char *label, double seconds, jx_buffer *to)
{
    jx_buffer_printf(to, "  %-16s%.6g s", label, seconds);
}

void jx_timings_print(const jx_rates *rates, const jx_timing *timing,
                      int64_t devices, jx_buffer *to)
{
    double serial = timing->computing + timing->sending;

    jx_buffer_printf(to, "time of %s, at %.6g s a message and %.6g s a byte",
                     devices > 1 ? "each device" : "the program", rates->alpha,
                     rates->beta);
    if (rates->flops > 0)
        jx_buffer_printf(to, ", %.6g operations a second\n", rates->flops);
    else
        jx_buffer_puts(to, ", computing taken to be free\n");
    put_seconds("computing", timing->computing, to);
    jx_buffer_putc(to, '\n');
    put_seconds("sending", timing->sending, to);
    jx_buffer_printf(
        to, " in rings, %.6g s where both directions of a ring send at once\n",
        timing->both_ways);
    put_seconds("in sequence", serial, to);
    jx_buffer_puts(to, ": one thing after the other\n");
    put_seconds("critical path", timing->path, to);
    jx_buffer_printf(
        to, ", of which %.6g s sending: what has to wait for something else\n",
        timing->path_sending);
}

static void put_number(const char *key, double value, jx_buffer *to)
{
    jx_buffer_printf(to, ",\"%s\":", key);
    jx_json_put_real(to, value);
}

void jx_timings_json(const jx_rates *rates, const jx_timing *timing,
                     int64_t devices, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"devices\":%lld", (long long)devices);
    put_number("alpha", rates->alpha, to);
    put_number("beta", rates->beta, to);
    put_number("flops_per_second", rates->flops, to);
    put_number("computing", timing->computing, to);
    put_number("sending", timing->sending, to);
    put_number("sending_both_ways", timing->both_ways, to);
    put_number("in_sequence", timing->computing + timing->sending, to);
    put_number("critical_path", timing->path, to);
    put_number("critical_path_sending", timing->path_sending, to);
    jx_buffer_puts(to, "}\n");
}

static double idle_part(const jx_idle *idle)
{
    return idle->products ? (double)(idle->products - idle->useful) /
                                (double)idle->products
                          : 0;
}

void jx_idle_print(const jx_idle *idle, int devices, jx_buffer *to)
{
    if (idle->why) {
        jx_buffer_printf(to, "which products reach a result is not known: %s\n",
                         idle->why);
        return;
    }
    jx_buffer_printf(
        to, "products of matrices on %d device%s\n  multiplications %lld\n",
        devices, devices == 1 ? "" : "s", (long long)idle->products);
    jx_buffer_printf(
        to,
        "  idle            %lld (%.1f %%): what they give reaches no result\n",
        (long long)(idle->products - idle->useful), 100 * idle_part(idle));
}

void jx_idle_json(const jx_idle *idle, int devices, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"devices\":%d", devices);
    if (idle->why) {
        jx_buffer_puts(to, ",\"why\":");
        jx_json_put_text(to, idle->why);
    } else {
        jx_buffer_printf(to, ",\"multiplications\":%lld,\"idle\":%lld",
                         (long long)idle->products,
                         (long long)(idle->products - idle->useful));
        put_number("fraction", idle_part(idle), to);
    }
    jx_buffer_puts(to, "}\n");
}
