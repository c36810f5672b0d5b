/* unfinite.c - see unfinite.h. */
#include "reports/formats/unfinite.h"

#include "frontend/base/utf8.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"

#include <math.h>

static void put_number(const jx_element *element, jx_buffer *to)
{
    double parts[2] = {0};
    bool complex = jx_dtype_is_complex(element->dtype);

    if (complex || jx_dtype_is_float(element->dtype))
        jx_convert(element->dtype, complex ? JX_C128 : JX_F64, element->bits,
                   parts, 1);
    if (isnan(parts[0]) || isnan(parts[1]))
        jx_buffer_puts(to, "NaN"); /* of either sign, in either part */
    else
        jx_element_print(element->dtype, element->bits, to);
}

static void put_index(const jx_unfinite *u, jx_buffer *to)
{
    for (int i = 0; i < u->rank; i++)
        jx_buffer_printf(to, i ? ",%lld" : " at [%lld", (long long)u->index[i]);
    jx_buffer_puts(to, u->rank ? "]" : "");
}

static void put_type(const jx_unfinite *u, jx_buffer *to)
{
    jx_buffer_printf(to, "%s[", jx_dtype_of(u->value.dtype)->short_name);
    for (int i = 0; i < u->rank; i++)
        jx_buffer_printf(to, i ? ",%lld" : "%lld", (long long)u->shape[i]);
    jx_buffer_putc(to, ']');
}

static void put_count(const jx_unfinite *u, jx_buffer *to)
{
    int64_t all = 1;

    for (int i = 0; i < u->rank; i++)
        all *= u->shape[i];
    if (all > 1)
        jx_buffer_printf(to, " (%lld of %lld elements)", (long long)u->count,
                         (long long)all);
}

static void put_place(const jx_eqn *eqn, jx_buffer *to)
{
    const jx_frame *frame = jx_user_frame(eqn->stack);

    if (!frame)
        return;
    jx_utf8_show(frame->file->path, to);
    jx_buffer_printf(to, ":%d", frame->line);
    if (frame->function) {
        jx_buffer_puts(to, " in ");
        jx_utf8_show(frame->function, to);
    }
    jx_buffer_puts(to, ": ");
}

static void put_operands(const jx_unfinite *u, jx_buffer *to)
{
    for (int i = 0; i < u->noperands; i++) {
        jx_buffer_puts(to, i ? " and " : " of ");
        put_number(&u->operands[i], to);
    }
}

static void put_first(const char *what, const jx_unfinite *u, jx_buffer *to)
{
    if (!u->eqn)
        return;
    jx_buffer_printf(to, "first %s: ", what);
    put_place(u->eqn, to);
    jx_utf8_show(jx_eqn_name(u->eqn), to);
    put_operands(u, to);
    jx_buffer_puts(to, " gives ");
    put_type(u, to);
    if (u->eqn->nouts > 1)
        jx_buffer_printf(to, ", result %d,", u->out);
    jx_buffer_puts(to, " with ");
    put_number(&u->value, to);
    put_index(u, to);
    put_count(u, to);
    if (u->run)
        jx_buffer_printf(to, ", in run %lld of it", (long long)u->run + 1);
    jx_buffer_putc(to, '\n');
}

void jx_watch_print(const jx_watch *watch, jx_buffer *to)
{
    if (watch->infinity_came_first)
        put_first("infinity", &watch->infinity, to);
    put_first("NaN", &watch->nan, to);
    if (!watch->infinity_came_first)
        put_first("infinity", &watch->infinity, to);
}

bool jx_port_unfinite(const char *name, const jx_port *port, const void *data,
                      jx_buffer *to)
{
    jx_unfinite found = {0};

    if (!jx_port_find_unfinite(port, data, &found))
        return false;
    jx_utf8_show(name, to);
    jx_buffer_putc(to, ' ');
    put_type(&found, to);
    jx_buffer_puts(to, ": ");
    put_number(&found.value, to);
    put_index(&found, to);
    put_count(&found, to);
    jx_buffer_putc(to, '\n');
    return true;
}
