/* exported_loads.c - which releases of JAX load an exported file, for info. */
#include "frontend/base/json.h"
#include "frontend/mlir/bytecode.h"
#include "reports/formats/exported_info.h"

/* The file itself, then its derivatives, which are files inside. */
bool jx_exported_loads_of(jx_exported_info *info)
{
    const jx_exported *x = info->exported;
    jx_exported_loads *to = JX_NEW_ARRAY(
        info->ctx->arena, jx_exported_vjps(x) + 1, jx_exported_loads);

    info->loads = to;
    for (int i = 0; to && x; x = x->vjp, i++) {
        const jx_mlir_file *module =
            i ? jx_bytecode_read(info->ctx, NULL, info->path, x->module.at,
                                 x->module.size,
                                 (size_t)(x->module.at - x->file))
              : info->module;
        if (!module || !jx_vhlo_needs(info->ctx, module, &to[i].need))
            return false;
        jx_jax_window_of(x, &to[i].need, &to[i].window);
    }
    return to != NULL;
}

/* ---- text */

/* The answers that the file itself gives, are not said again
 * of a derivative. */
static void put_refusals(const jx_exported_loads *loads, int order,
                         jx_buffer *to)
{
    for (int answer = 1; answer < JX_JAX_ANSWERS; answer++) {
        jx_jax_window news = loads[order].window;
        jx_buffer releases = {.budget = to->budget};
        const char *help = jx_jax_help((jx_jax_answer)answer);

        for (int i = 0; order && i < JX_JAX_RELEASES; i++)
            if (loads[0].window.of[i] != JX_JAX_LOADS)
                news.of[i] = JX_JAX_LOADS;
        if (jx_jax_window_print(&news, (jx_jax_answer)answer, &releases)) {
            if (order)
                jx_buffer_printf(to, "its derivative of order %d ", order);
            jx_buffer_printf(to, "not in JAX %s: ", jx_buffer_text(&releases));
            jx_jax_why((jx_jax_answer)answer, &loads[order].need, to);
            jx_buffer_printf(to, "%s%s\n", help ? "; " : "", help ? help : "");
        }
        jx_buffer_free(&releases);
    }
}

void jx_exported_loads_text(const jx_exported_info *info, jx_buffer *to)
{
    jx_buffer releases = {.budget = to->budget};

    if (jx_jax_window_print(&info->loads->window, JX_JAX_LOADS, &releases))
        jx_buffer_printf(to, "loads in JAX %s\n", jx_buffer_text(&releases));
    else
        jx_buffer_puts(to, "loads in no JAX that is known here\n");
    for (int i = 0; i <= jx_exported_vjps(info->exported); i++)
        put_refusals(info->loads, i, to);
    jx_buffer_free(&releases);
}

/* ---- JSON */

void jx_exported_loads_json(const jx_exported_loads *loads, jx_buffer *to)
{
    jx_buffer_puts(to, ",\"loads\":[");
    for (int i = 0; i < JX_JAX_RELEASES; i++) {
        jx_jax_answer answer = loads->window.of[i];
        jx_buffer why = {.budget = to->budget};

        jx_buffer_printf(to, "%s{\"jax\":\"%s\",\"loads\":%s", i ? "," : "",
                         jx_jax_release_at(i)->name,
                         answer == JX_JAX_LOADS ? "true" : "false");
        if (answer != JX_JAX_LOADS) {
            jx_jax_why(answer, &loads->need, &why);
            jx_buffer_puts(to, ",\"why\":");
            jx_json_put_text(to, jx_buffer_text(&why));
        }
        jx_buffer_putc(to, '}');
        jx_buffer_free(&why);
    }
    jx_buffer_putc(to, ']');
}
