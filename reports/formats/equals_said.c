/* equals_said.c - see equals_said.h. */
#include "reports/formats/equals_said.h"

#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "reports/formats/formats.h"

#include <string.h>

const char *jx_equal_word(const jx_equality *e)
{
    switch (e->verdict) {
    case JX_EQUAL_TERMS: return "the same by terms";
    case JX_EQUAL_IDENTICAL: return "identical over the reals";
    case JX_EQUAL_DIFFERENT: return "different";
    case JX_EQUAL_UNDECIDED: break;
    }
    return "undecided";
}

static void put_devices(const jx_equality *e, jx_buffer *to)
{
    if (e->devices[0] > 1)
        jx_buffer_printf(to, " (the first on %d devices)", e->devices[0]);
    if (e->devices[1] > 1)
        jx_buffer_printf(to, " (the second on %d devices)", e->devices[1]);
}

void jx_equality_text(const jx_equality *e, const char *b, jx_buffer *to)
{
    jx_utf8_printf(to, "%s, %s: ", e->path, b);
    if (e->gradient)
        jx_buffer_puts(to, "derivatives: ");
    if (e->every)
        jx_buffer_puts(to, "all sizes of the mesh: ");
    jx_buffer_puts(to, jx_equal_word(e));
    if (e->sizes)
        jx_utf8_printf(to, e->every ? ", for all %s" : " at %s", e->sizes);
    if (e->verdict == JX_EQUAL_IDENTICAL) {
        if (e->outside)
            jx_utf8_printf(to, " where %s", e->outside->within);
        jx_buffer_printf(to, ", error below 2^-%d", e->bits);
        if (e->assuming)
            jx_utf8_printf(to, ", assuming that %s", e->assuming);
        if (e->proof)
            jx_buffer_printf(
                to, "; that each chunk is added once is proved (by %s)",
                e->proof);
        if (!e->every)
            jx_buffer_printf(to, "; no difference in floats at %d points",
                             e->points);
    } else if (e->verdict == JX_EQUAL_UNDECIDED) {
        jx_utf8_printf(to, ": %s", e->why ? e->why : "it is not known");
        if (e->points)
            jx_buffer_printf(to, "; no difference in floats at %d points",
                             e->points);
    }
    if (!e->every)
        put_devices(e, to);
    jx_buffer_putc(to, '\n');
    if (e->outside)
        jx_utf8_printf(to, "  outside: %s\n", e->outside->message);
}

static void put_text(const char *key, const char *text, jx_buffer *to)
{
    if (!text)
        return;
    jx_buffer_printf(to, ",\"%s\":", key);
    jx_json_put_text(to, text);
}

static void put_outside(const jx_equality_outside *outside, jx_buffer *to)
{
    jx_buffer_puts(to, ",\"outside\":{\"within\":");
    jx_json_put_text(to, outside->within);
    put_text("message", outside->message, to);
    if (outside->witness)
        jx_buffer_printf(to, ",\"witness\":%s", outside->witness);
    jx_buffer_putc(to, '}');
}

static void put_equality(const jx_equality *e, jx_buffer *to)
{
    static const char *const words[] = {[JX_EQUAL_UNDECIDED] = "undecided",
                                        [JX_EQUAL_TERMS] = "terms",
                                        [JX_EQUAL_IDENTICAL] = "identical",
                                        [JX_EQUAL_DIFFERENT] = "different"};

    jx_buffer_printf(to, "{\"verdict\":\"%s\",\"of\":\"%s\"", words[e->verdict],
                     e->gradient ? "derivatives" : "values");
    put_text("mesh_sizes", e->every ? "all" : NULL, to);
    put_text("sizes", e->sizes, to);
    if (e->verdict == JX_EQUAL_IDENTICAL) {
        jx_buffer_printf(to, ",\"bits\":%d", e->bits);
        put_text("assuming", e->assuming, to);
        put_text("proof", e->proof, to);
    }
    if (e->outside)
        put_outside(e->outside, to);
    put_text("why", e->verdict == JX_EQUAL_UNDECIDED ? e->why : NULL, to);
    jx_buffer_printf(to, ",\"points\":%d,\"devices\":[%d,%d]}", e->points,
                     e->devices[0], e->devices[1]);
}

void jx_equal_report_json(jx_report *report, const jx_equalities *all,
                          jx_buffer *to)
{
    const jx_report_list list = {1, report, 0, NULL};
    const jx_style style = {0};

    jx_report_json(&list, &style, to);
    jx_buffer_cut(to, to->length - strlen("}\n"));
    jx_buffer_puts(to, ",\"equal\":[");
    for (size_t i = 0; i < all->all.count; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_equality(&all->all.at[i], to);
    }
    jx_buffer_puts(to, "]}\n");
}
