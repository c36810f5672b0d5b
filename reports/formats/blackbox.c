/* blackbox.c - see blackbox.h. */
#include "reports/formats/blackbox.h"

#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "frontend/read/blackbox.h"

static void put_shown(const char *before, const char *text, jx_buffer *to)
{
    if (!text)
        return;
    jx_buffer_puts(to, before);
    jx_utf8_show(text, to);
}

void jx_blackbox_print(const jx_blackbox *box, jx_buffer *to)
{
    jx_buffer_printf(to, "call %lld of ", (long long)box->call);
    put_shown("", box->function, to);
    put_shown(" at ", box->place, to);
    put_shown(", JAX ", box->jax, to);
    put_shown(" on ", box->platform, to);
    put_shown(": ", box->why, to);
    jx_buffer_putc(to, '\n');
    for (int i = 0; i < box->ninputs; i++)
        if (box->lost[i]) {
            jx_buffer_printf(to, "in%d was not kept", i);
            put_shown(": ", box->lost[i], to);
            jx_buffer_putc(to, '\n');
        }
}

static void put_member(const char *key, const char *text, jx_buffer *to)
{
    jx_buffer_printf(to, ",\"%s\":", key);
    if (text)
        jx_json_put_text(to, text);
    else
        jx_buffer_puts(to, "null");
}

void jx_blackbox_json(const jx_blackbox *box, jx_buffer *to)
{
    bool any = false;

    jx_buffer_puts(to, "{\"call\":");
    jx_json_put_int(to, box->call);
    put_member("function", box->function, to);
    put_member("place", box->place, to);
    put_member("why", box->why, to);
    put_member("jax", box->jax, to);
    put_member("platform", box->platform, to);
    jx_buffer_puts(to, ",\"lost\":{");
    for (int i = 0; i < box->ninputs; i++)
        if (box->lost[i]) {
            jx_buffer_printf(to, "%s\"in%d\":", any ? "," : "", i);
            jx_json_put_text(to, box->lost[i]);
            any = true;
        }
    jx_buffer_puts(to, "}}");
}
