/* vhlo_legal.c - what a version of VHLO has and can say, and which version has
 * all that a module has. */
#include "frontend/mlir/vhlo_parts.h"

#include <string.h>

bool jx_vhlo_since(jx_vhlo *v, uint32_t first, const char *what)
{
    if (first <= v->target)
        return true;
    if (v->need) {
        v->target = first;
        v->need->op = v->op;
        v->need->what = what;
    }
    return v->need ||
           jx_vhlo_fail(v, "%s needs VHLO %u.%u.%u, asked for is %d.%d.%d",
                        what, first >> 20, first >> 10 & 1023, first & 1023,
                        v->version[0], v->version[1], v->version[2]);
}

/* ---- types and attributes */

static uint32_t since(const jx_mlir_type *t)
{
    static const struct {
        const char *text;
        uint32_t since;
    } floats[] = {
        {"f4E2M1FN", JX_VHLO(1, 8, 0)},    {"f6E2M3FN", JX_VHLO(1, 8, 0)},
        {"f6E3M2FN", JX_VHLO(1, 8, 0)},    {"f8E3M4", JX_VHLO(1, 7, 0)},
        {"f8E4M3", JX_VHLO(1, 7, 0)},      {"f8E4M3B11FNUZ", JX_VHLO(0, 11, 0)},
        {"f8E4M3FNUZ", JX_VHLO(0, 10, 0)}, {"f8E5M2FNUZ", JX_VHLO(0, 10, 0)},
        {"f8E8M0FNU", JX_VHLO(1, 8, 0)},   {"tf32", JX_VHLO(1, 6, 0)},
    };

    for (size_t i = 0;
         t->kind == JX_T_FLOAT && i < sizeof floats / sizeof *floats; i++)
        if (t->text[1] == floats[i].text[1] &&
            strcmp(floats[i].text, t->text) == 0)
            return floats[i].since;
    switch (t->kind) {
    case JX_T_INTEGER: return t->width == 2 ? JX_VHLO(1, 2, 0) : JX_VHLO_FIRST;
    case JX_T_NONE: return JX_VHLO(1, 6, 0);
    case JX_T_FUTURE: return JX_VHLO(1, 15, 0);
    case JX_T_MEMREF: return JX_VHLO(1, 13, 0);
    case JX_T_QUANTIZED:
        return t->quant->axis >= 0 ? JX_VHLO(0, 18, 0) : JX_VHLO_FIRST;
    default: return JX_VHLO_FIRST;
    }
}

/* Values share types and ops attributes: each is asked once. */
bool jx_vhlo_type_legal(jx_vhlo *v, const jx_mlir_type *type)
{
    if (!type->vhlo || jx_map_has(&v->legal, type))
        return true;
    if (!jx_vhlo_since(v, since(type),
                       type->text ? type->text : "one of its types"))
        return false;
    for (int i = 0; i < type->count; i++)
        if (!jx_vhlo_type_legal(v, type->items[i]))
            return false;
    if (type->encoding && !jx_vhlo_attr_legal(v, type->encoding))
        return false;
    return jx_map_put(&v->legal, type, type);
}

static bool is_case(const jx_mlir_attr *a, const char *of, const char *text)
{
    return a->kind == JX_A_ENUM && !strcmp(a->name, of) &&
           !strcmp(a->text, text);
}

static bool items_legal(jx_vhlo *v, const jx_mlir_attr *attr)
{
    for (int i = 0; attr->items && i < attr->count; i++)
        if (!jx_vhlo_attr_legal(v, attr->items[i]))
            return false;
    return true;
}

/* Of another dialect. */
static bool foreign(jx_vhlo *v, const jx_mlir_attr *attr)
{
    if (!v->need || attr->kind == JX_A_LOC_UNKNOWN)
        return true;
    if ((attr->kind == JX_A_RECORD || attr->kind == JX_A_ENUM) &&
        strncmp(attr->name, "sdy.", 4) == 0)
        v->need->shardy = true;
    return v->need->shardy || items_legal(v, attr);
}

bool jx_vhlo_attr_legal(jx_vhlo *v, const jx_mlir_attr *attr)
{
    if (jx_map_has(&v->legal, attr))
        return true;
    if (!attr->vhlo)
        return foreign(v, attr);
    if (attr->kind == JX_A_RECORD || attr->kind == JX_A_ENUM) {
        bool accuracy = strncmp(attr->name, "vhlo.result_accuracy", 20) == 0;
        bool old = strcmp(attr->name, "vhlo.output_operand_alias_v1") == 0 ||
                   strcmp(attr->name, "vhlo.type_extensions_v1") == 0 ||
                   attr->kind == JX_A_ENUM;
        uint32_t first = is_case(attr, "vhlo.comparison_type_v1", "WEAKORDER")
                             ? JX_VHLO(1, 22, 0)
                         : accuracy ? JX_VHLO(1, 9, 0)
                         : old      ? JX_VHLO_FIRST
                                    : JX_VHLO(1, 16, 0);
        if (!jx_vhlo_since(v, first, attr->name))
            return false;
    }
    if (attr->type && !jx_vhlo_type_legal(v, attr->type))
        return false;
    return items_legal(v, attr) && jx_map_put(&v->legal, attr, attr);
}

/* ---- ops */

static const jx_mlir_type *element_of(const jx_mlir_type *t)
{
    return t->kind == JX_T_TENSOR || t->kind == JX_T_UNRANKED ? t->items[0] : t;
}

static bool mixes_elements(const jx_mlir_op *op)
{
    for (int i = 0; i < op->nins && i < op->nouts; i++)
        if (element_of(op->ins[i]->type) != element_of(op->outs[i]->type))
            return true;
    return false;
}

static bool reduces(const char *name)
{
    static const char *const names[] = {
        "all_reduce_v1",    "reduce_v1",  "reduce_scatter_v1",
        "reduce_window_v1", "scatter_v1", "select_and_scatter_v1"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (jx_vhlo_is(names[i], name))
            return true;
    return false;
}

/* Sums of products of two kinds of 8-bit floats. */
static bool mixes_float8(const jx_mlir_op *op)
{
    const jx_mlir_type *x, *y;

    if (op->nins < 2)
        return false;
    x = element_of(op->ins[0]->type);
    y = element_of(op->ins[1]->type);
    return x != y && x->kind == JX_T_FLOAT && y->kind == JX_T_FLOAT &&
           !strncmp(x->text, "f8", 2) && !strncmp(y->text, "f8", 2);
}

/* An algorithm of dot_general whose operands are rounded to f8E4M3FN. */
static bool rounds_to_e4m3fn(const jx_mlir_op *op)
{
    static const char *const sides[] = {"lhs_precision_type",
                                        "rhs_precision_type"};

    for (int i = 0; i < 2; i++) {
        const jx_mlir_attr *a = jx_mlir_get(op, sides[i]);
        if (a && a->kind == JX_A_TYPE && a->type->kind == JX_T_FLOAT &&
            !strcmp(a->type->text, "f8E4M3FN"))
            return true;
    }
    return false;
}

/* What an op of this row can say since some version after the row's first. */
static bool products_legal(jx_vhlo *v, const jx_mlir_op *to, const char *name)
{
    if ((jx_vhlo_is(name, "convolution_v1") ||
         jx_vhlo_is(name, "dynamic_conv_v2")) &&
        mixes_float8(to))
        return jx_vhlo_since(v, JX_VHLO(1, 20, 0), "operands of two types");
    return !jx_vhlo_is(name, "dot_general_v2") || !rounds_to_e4m3fn(to) ||
           jx_vhlo_since(v, JX_VHLO(1, 21, 0), "the algorithm");
}

static bool call_legal(jx_vhlo *v, const jx_mlir_op *to)
{
    const jx_mlir_attr *config = jx_mlir_get(to, "backend_config");
    const jx_mlir_attr *api = jx_mlir_get(to, "api_version");

    if (((config && config->kind == JX_A_DICT) ||
         (api && api->text &&
          strcmp(api->text, "API_VERSION_TYPED_FFI") == 0)) &&
        !jx_vhlo_since(v, JX_VHLO(1, 3, 0), "its interface"))
        return false;
    for (int i = 0; i < to->nins; i++)
        if (to->ins[i]->type->kind == JX_T_FUTURE)
            return jx_vhlo_since(v, JX_VHLO(1, 17, 0), "a future as operand");
    return true;
}

static bool fits_row(jx_vhlo *v, const jx_mlir_op *to,
                     const jx_vhlo_op_info *row)
{
    int begin, count;

    if (*row->ins ? !jx_mlir_group(row->ins, to->nins, 0, &begin, &count)
                  : to->nins)
        return jx_vhlo_fail(v, "%s of VHLO %d.%d.%d does not take %d operands",
                            row->name, v->version[0], v->version[1],
                            v->version[2], to->nins);
    if (*row->regions
            ? !jx_mlir_group(row->regions, to->nregions, 0, &begin, &count)
            : to->nregions)
        return jx_vhlo_fail(v, "%s of VHLO %d.%d.%d does not take %d regions",
                            row->name, v->version[0], v->version[1],
                            v->version[2], to->nregions);
    return true;
}

/* What ops of this row could not say at first. */
static bool meaning_legal(jx_vhlo *v, const jx_mlir_op *to, const char *name)
{
    if (reduces(name) && mixes_elements(to) &&
        !jx_vhlo_since(v, JX_VHLO(0, 17, 0),
                       "a result of another element type"))
        return false;
    return products_legal(v, to, name) &&
           (!jx_vhlo_is(name, "custom_call_v1") || call_legal(v, to));
}

static bool parts_legal(jx_vhlo *v, const jx_mlir_op *to)
{
    for (int i = 0; i < to->ninherent; i++)
        if (!jx_vhlo_attr_legal(v, to->inherent[i].value))
            return false;
    for (int i = 0; i < to->nattrs; i++)
        if (!jx_vhlo_attr_legal(v, to->attrs[i].value))
            return false;
    for (int i = 0; i < to->nins; i++)
        if (!jx_vhlo_type_legal(v, to->ins[i]->type))
            return false;
    for (int i = 0; i < to->nouts; i++)
        if (!jx_vhlo_type_legal(v, to->outs[i]->type))
            return false;
    return true;
}

bool jx_vhlo_op_legal(jx_vhlo *v, const jx_mlir_op *to,
                      const jx_vhlo_op_info *row)
{
    return fits_row(v, to, row) && meaning_legal(v, to, row->name) &&
           parts_legal(v, to);
}

/* ---- what a module needs */

/* Names are interned: each is looked up once. */
static const jx_vhlo_op_info *row_named(jx_vhlo *v, const char *name)
{
    const jx_vhlo_op_info *row = jx_map_get(&v->known, name);

    if (!row && (row = jx_vhlo_op_info_find(name + 5)))
        jx_map_put(&v->known, name, row);
    return row;
}

static void need_of(jx_vhlo *v, const jx_mlir_op *op)
{
    v->op = op;
    if (strncmp(op->name, "vhlo.", 5) == 0) {
        const jx_vhlo_op_info *row = row_named(v, op->name);
        if (row) {
            jx_vhlo_since(v, row->first, row->name);
            meaning_legal(v, op, row->name);
        } else if (!v->need->unknown) {
            v->need->unknown = op;
        }
    } else if (strncmp(op->name, "sdy.", 4) == 0) {
        v->need->shardy = true;
    }
    parts_legal(v, op);
    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i].nblocks; k++) {
            const jx_mlir_block *block = op->regions[i].blocks[k];
            for (int n = 0; n < block->nops; n++)
                need_of(v, block->ops[n]);
        }
}

bool jx_vhlo_needs(jx_ctx *ctx, const jx_mlir_file *file, jx_vhlo_need *to)
{
    jx_vhlo v = {.ctx = ctx,
                 .scratch = ctx->arena,
                 .path = file->path,
                 .mode = JX_VHLO_VERSION,
                 .target = JX_VHLO_FIRST,
                 .need = to};

    *to = (jx_vhlo_need){0};
    jx_vhlo_init_maps(&v);
    if (file->version[0] < 0)
        return true;
    for (int i = 0; i < file->nmodules; i++)
        need_of(&v, file->modules[i]);
    to->version[0] = (int)(v.target >> 20);
    to->version[1] = (int)(v.target >> 10 & 1023);
    to->version[2] = (int)(v.target & 1023);
    return jx_ok(ctx);
}
