/* document_values.c - jaxprs, with the parameters and literals of their
 * equations: values have jaxprs in them again. */
#include "frontend/write/document_parts.h"

#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <math.h>
#include <string.h>

static void put_items(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_putc(to, '[');
    for (int i = 0; i < v->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_emit_value(e, v->items[i], to);
    }
    jx_buffer_putc(to, ']');
}

static void put_tag(jx_buffer *to, const char *tag, const char *text)
{
    jx_buffer_printf(to, "{\"%s\":", tag);
    jx_json_put_text(to, text ? text : "");
    jx_buffer_putc(to, '}');
}

static void put_int(const jx_value *v, jx_buffer *to)
{
    const int64_t exact = (int64_t)1 << 53;

    if (v->text) {
        jx_buffer_printf(to, "{\"$np\":\"%s\",\"v\":", v->text);
        jx_emit_int(v->integer, to);
        jx_buffer_putc(to, '}');
    } else if (v->tag == JX_V_UINT)
        jx_buffer_printf(to, "{\"$int\":\"%llu\"}",
                         (unsigned long long)v->integer);
    else if (v->integer >= -exact && v->integer <= exact)
        jx_json_put_int(to, v->integer);
    else
        jx_buffer_printf(to, "{\"$int\":\"%lld\"}", (long long)v->integer);
}

static void put_float(double value, jx_buffer *to)
{
    if (isfinite(value)) {
        jx_json_put_real(to, value);
        return;
    }
    jx_buffer_puts(to, "{\"$f\":");
    jx_emit_hex(&value, 8, to);
    jx_buffer_putc(to, '}');
}

static void put_complex(const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$c\":[");
    jx_emit_hex(&v->real, 8, to);
    jx_buffer_putc(to, ',');
    jx_emit_hex(&v->imag, 8, to);
    jx_buffer_puts(to, "]}");
}

static void put_map(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$map\":[");
    for (int i = 0; i + 1 < v->count; i += 2) {
        jx_buffer_puts(to, i ? ",[" : "[");
        jx_emit_value(e, v->items[i], to);
        jx_buffer_putc(to, ',');
        jx_emit_value(e, v->items[i + 1], to);
        jx_buffer_putc(to, ']');
    }
    jx_buffer_puts(to, "]}");
}

static void put_record(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$rec\":");
    jx_json_put_text(to, v->text);
    jx_buffer_puts(to, ",\"f\":{");
    for (int i = 0; i < v->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, v->keys[i]);
        jx_buffer_putc(to, ':');
        jx_emit_value(e, v->items[i], to);
    }
    jx_buffer_puts(to, v->boolean ? "},\"hi\":true}" : "}}");
}

static void put_dim(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    int scope = jx_emit_scope_of(e, v->dim);

    jx_buffer_puts(to, "{\"$dim\":");
    jx_emit_dim_text(v->dim, to);
    if (scope)
        jx_buffer_printf(to, ",\"scope\":%d", scope);
    jx_buffer_putc(to, '}');
}

static void put_jaxpr_of(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$jaxpr\":%d", jx_emit_jaxpr(e, v->jaxpr));
    for (int i = 0; i < v->count; i++)
        jx_buffer_printf(to, "%s%d", i ? "," : ",\"consts\":[",
                         jx_emit_array(e, v->items[i]->array));
    jx_buffer_puts(to, v->count ? "]" : "");
    jx_buffer_puts(to, v->open ? ",\"open\":true}" : "}");
}

static void put_rule(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$rule\":%d", jx_emit_rule(e, v->rule));
    if (v->text) {
        jx_emit_key(to, "fn");
        jx_json_put_text(to, v->text);
    }
    jx_buffer_putc(to, '}');
}

static void put_marked(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_emit_spec(v, to);
    if (v->unreduced) {
        jx_emit_key(to, "unreduced");
        put_items(e, v->unreduced, to);
    }
    if (v->reduced) {
        jx_emit_key(to, "reduced");
        put_items(e, v->reduced, to);
    }
    if (v->text) {
        jx_emit_key(to, "unreduced_kind");
        jx_json_put_text(to, v->text);
    }
}

static void put_spec(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$spec\":");
    put_marked(e, v, to);
    jx_buffer_putc(to, '}');
}

static void put_sharding(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$sharding\":{\"mesh\":%d,\"spec\":",
                     jx_emit_mesh(e, v->integer));
    put_marked(e, v->items[0], to);
    if (v->text) {
        jx_emit_key(to, "ms");
        jx_json_put_text(to, v->text);
    }
    jx_buffer_puts(to, "}}");
}

static void put_opaque(const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$opaque\":");
    jx_json_put_text(to, v->text);
    jx_buffer_puts(to, ",\"repr\":");
    jx_json_put_text(to, v->detail ? v->detail : "");
    jx_buffer_putc(to, '}');
}

void jx_emit_value(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    switch (v->tag) {
    case JX_V_NONE: jx_buffer_puts(to, "null"); break;
    case JX_V_BOOL: jx_buffer_puts(to, v->boolean ? "true" : "false"); break;
    case JX_V_INT:
    case JX_V_UINT: put_int(v, to); break;
    case JX_V_FLOAT: put_float(v->real, to); break;
    case JX_V_COMPLEX: put_complex(v, to); break;
    case JX_V_TEXT: jx_json_put_text(to, v->text); break;
    case JX_V_TUPLE: put_items(e, v, to); break;
    case JX_V_SET:
        jx_buffer_puts(to, "{\"$set\":");
        put_items(e, v, to);
        jx_buffer_putc(to, '}');
        break;
    case JX_V_MAP: put_map(e, v, to); break;
    case JX_V_SLICE:
        jx_buffer_puts(to, "{\"$slice\":");
        put_items(e, v, to);
        jx_buffer_putc(to, '}');
        break;
    case JX_V_RECORD: put_record(e, v, to); break;
    case JX_V_ENUM: put_tag(to, "$enum", v->text); break;
    case JX_V_DTYPE: put_tag(to, "$dt", v->text); break;
    case JX_V_DIM: put_dim(e, v, to); break;
    case JX_V_JAXPR: put_jaxpr_of(e, v, to); break;
    case JX_V_RULE: put_rule(e, v, to); break;
    case JX_V_DEFINITION:
        jx_buffer_printf(to, "{\"$definition\":%d}",
                         jx_emit_definition(e, v->definition));
        break;
    case JX_V_AVAL:
        jx_buffer_printf(to, "{\"$aval\":%d}", jx_emit_aval(e, v->aval));
        break;
    case JX_V_PRIM: put_tag(to, "$prim", v->text); break;
    case JX_V_MESH:
        jx_buffer_printf(to, "{\"$mesh\":%d}", jx_emit_mesh(e, v->integer));
        break;
    case JX_V_SPEC: put_spec(e, v, to); break;
    case JX_V_SHARDING: put_sharding(e, v, to); break;
    case JX_V_UNSPECIFIED: jx_buffer_puts(to, "{\"$unspecified\":true}"); break;
    case JX_V_CONST:
        jx_buffer_printf(to, "{\"$const\":%d}", jx_emit_array(e, v->array));
        break;
    case JX_V_FUNCTION: put_tag(to, "$fn", v->text); break;
    case JX_V_TREE: put_tag(to, "$tree", v->text); break;
    case JX_V_IMPL: put_tag(to, "$impl", v->text); break;
    case JX_V_OPAQUE: put_opaque(v, to); break;
    case JX_V_SHOWN: jx_emit_value(e, v->shown, to); break;
    }
}

void jx_emit_closed(jx_emit *e, const jx_closed *closed, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$jaxpr\":%d", jx_emit_jaxpr(e, closed->jaxpr));
    for (int i = 0; i < closed->nconsts; i++)
        jx_buffer_printf(to, "%s%d", i ? "," : ",\"consts\":[",
                         jx_emit_array(e, closed->consts[i]));
    jx_buffer_puts(to, closed->nconsts ? "]}" : "}");
}

/* ---- literals */

static void put_integer(const jx_literal *l, jx_buffer *to)
{
    uint64_t bits = jx_element_integer(l->aval->dtype, l->bits);

    if (jx_dtype_of(l->aval->dtype)->kind == JX_KIND_INT)
        jx_emit_int((int64_t)bits, to);
    else if (bits > (uint64_t)1 << 53)
        jx_buffer_printf(to, "\"%llu\"", (unsigned long long)bits);
    else
        jx_buffer_printf(to, "%llu", (unsigned long long)bits);
}

static void put_real(const jx_literal *l, jx_buffer *to)
{
    float narrow;
    double value = NAN;

    if (l->wide) {
        value = l->real;
    } else if (l->aval->dtype == JX_F32) {
        memcpy(&narrow, l->bits, 4);
        value = narrow;
    } else if (l->aval->dtype == JX_F64) {
        memcpy(&value, l->bits, 8);
    }
    if (isfinite(value))
        jx_json_put_real(to, value);
    else
        jx_emit_hex(l->bits, jx_dtype_of(l->aval->dtype)->bytes, to);
}

static void put_element(const jx_literal *l, jx_buffer *to)
{
    const jx_dtype_info *info = jx_dtype_of(l->aval->dtype);

    switch (info->kind) {
    case JX_KIND_INT:
    case JX_KIND_UINT: put_integer(l, to); break;
    case JX_KIND_FLOAT: put_real(l, to); break;
    case JX_KIND_COMPLEX:
        jx_buffer_putc(to, '[');
        jx_emit_hex(l->bits, info->bytes / 2, to);
        jx_buffer_putc(to, ',');
        jx_emit_hex(l->bits + info->bytes / 2, info->bytes / 2, to);
        jx_buffer_putc(to, ']');
        break;
    default: jx_buffer_puts(to, l->bits[0] ? "true" : "false");
    }
}

void jx_emit_literal(jx_emit *e, const jx_literal *l, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"a\":%d", jx_emit_aval(e, l->aval));
    if (l->dim) {
        int scope = jx_emit_scope_of(e, l->dim);
        jx_emit_key(to, "dim");
        jx_emit_dim_text(l->dim, to);
        if (scope)
            jx_buffer_printf(to, ",\"scope\":%d", scope);
    } else if (l->array) {
        jx_buffer_printf(to, ",\"c\":%d", jx_emit_array(e, l->array));
    } else {
        jx_emit_key(to, "v");
        put_element(l, to);
    }
    jx_buffer_putc(to, '}');
}

/* ---- jaxprs */

static void put_effects(jx_buffer *to, jx_effects effects)
{
    if (!effects.count)
        return;
    jx_emit_key(to, "eff");
    for (int i = 0; i < effects.count; i++) {
        const jx_effect *effect = &effects.at[i];
        jx_buffer_puts(to, i ? ",{" : "[{");
        jx_emit_key(to, "t");
        jx_json_put_text(to, effect->type);
        if (effect->axis) {
            jx_emit_key(to, "axis");
            jx_json_put_text(to, effect->axis);
        }
        if (effect->has_input) {
            jx_emit_key(to, "in");
            jx_json_put_int(to, effect->input);
        }
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_operands(jx_emit *e, jx_buffer *to, int count,
                         const jx_atom *atoms)
{
    jx_buffer_putc(to, '[');
    for (int i = 0; i < count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        if (atoms[i].var)
            jx_json_put_int(to, atoms[i].var->id);
        else
            jx_emit_literal(e, atoms[i].literal, to);
    }
    jx_buffer_putc(to, ']');
}

static void put_params(jx_emit *e, jx_buffer *to, const jx_eqn *eqn)
{
    jx_buffer_putc(to, '{');
    for (int i = 0; i < eqn->nparams; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, eqn->params[i].name);
        jx_buffer_putc(to, ':');
        jx_emit_value(e, eqn->params[i].value, to);
    }
    jx_buffer_putc(to, '}');
}

static void put_extra(jx_buffer *to, const jx_eqn *eqn)
{
    if (!eqn->effects.count && !eqn->saveable && !eqn->offload_from &&
        !eqn->refused)
        return;
    jx_buffer_puts(to, ",{");
    put_effects(to, eqn->effects);
    if (eqn->saveable) {
        jx_emit_key(to, "saveable");
        jx_buffer_puts(to, "true");
    }
    if (eqn->offload_from) {
        jx_emit_key(to, "offload");
        jx_buffer_putc(to, '[');
        jx_json_put_text(to, eqn->offload_from);
        jx_buffer_putc(to, ',');
        jx_json_put_text(to, eqn->offload_to);
        jx_buffer_putc(to, ']');
    }
    if (eqn->refused) {
        jx_emit_key(to, "refused");
        jx_json_put_text(to, eqn->refused);
    }
    jx_buffer_putc(to, '}');
}

static void put_index(jx_buffer *to, int index)
{
    jx_buffer_putc(to, ',');
    jx_json_put_int(to, index);
}

static void put_equation(jx_emit *e, jx_buffer *to, const jx_eqn *eqn)
{
    jx_buffer_putc(to, '[');
    jx_json_put_int(to, jx_emit_prim(e, eqn->prim->name));
    e->modules |= jx_eqn_module(eqn) != NULL;
    jx_buffer_putc(to, ',');
    put_operands(e, to, eqn->nins, eqn->ins);
    jx_buffer_puts(to, ",[");
    for (int i = 0; i < eqn->nouts; i++) {
        int aval = jx_emit_aval(e, eqn->outs[i]->aval);
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_int(to, eqn->outs[i]->dropped ? -1 - aval : aval);
    }
    jx_buffer_puts(to, "],");
    put_params(e, to, eqn);
    put_index(to, jx_emit_stack(e, eqn->stack));
    put_index(to, jx_emit_name(e, eqn->name_stack));
    put_index(to, jx_emit_context(e, eqn->ctx));
    put_extra(to, eqn);
    jx_buffer_putc(to, ']');
}

static void put_jaxpr(jx_emit *e, jx_buffer *to, const jx_jaxpr *jaxpr)
{
    jx_buffer_putc(to, '{');
    jx_emit_key(to, "in");
    for (int i = 0; i < jaxpr->nconsts + jaxpr->nins; i++) {
        jx_buffer_putc(to, i ? ',' : '[');
        jx_json_put_int(to, jx_emit_aval(e, jaxpr->vars[i]->aval));
    }
    jx_buffer_puts(to, jaxpr->nconsts + jaxpr->nins ? "]" : "[]");
    if (jaxpr->nconsts) {
        jx_emit_key(to, "nc");
        jx_json_put_int(to, jaxpr->nconsts);
    }
    jx_emit_key(to, "eqns");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < jaxpr->neqns; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_equation(e, to, &jaxpr->eqns[i]);
    }
    jx_buffer_putc(to, ']');
    jx_emit_key(to, "out");
    put_operands(e, to, jaxpr->nouts, jaxpr->outs);
    put_effects(to, jaxpr->effects);
    if (jaxpr->function && *jaxpr->function) {
        jx_emit_key(to, "fn");
        jx_json_put_text(to, jaxpr->function);
    }
    jx_emit_texts(to, "args", jaxpr->nins, jaxpr->arg_names);
    jx_emit_texts(to, "res", jaxpr->nouts, jaxpr->result_paths);
    jx_buffer_putc(to, '}');
}

/* A jaxpr gets its row when it is complete, after those inside it. */
int jx_emit_jaxpr(jx_emit *e, const jx_jaxpr *jaxpr)
{
    int row = jx_rows_find(&e->jaxprs, jaxpr);
    jx_buffer own = jx_ctx_text(e->program->ctx);

    if (row >= 0 || e->failed)
        return row;
    put_jaxpr(e, &own, jaxpr);
    jx_rows_begin(&e->jaxprs);
    jx_buffer_bytes(&e->jaxprs.text, jx_buffer_text(&own), own.length);
    e->failed = e->failed || !jx_buffer_ok(&own);
    jx_buffer_free(&own);
    return jx_rows_add(e, &e->jaxprs, jaxpr);
}

void jx_emit_entry(jx_emit *e, const jx_closed *closed, jx_buffer *to)
{
    jx_emit_key(to, "jaxpr");
    jx_json_put_int(to, jx_emit_jaxpr(e, closed->jaxpr));
    for (int i = 0; i < closed->nconsts; i++) {
        if (i == 0)
            jx_emit_key(to, "consts");
        jx_buffer_putc(to, i ? ',' : '[');
        jx_json_put_int(to, jx_emit_array(e, closed->consts[i]));
    }
    if (closed->nconsts)
        jx_buffer_putc(to, ']');
}
