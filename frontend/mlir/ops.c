/* ops.c - see ops.h. */
#include "frontend/mlir/ops.h"

#include <stdlib.h>
#include <string.h>

static const jx_mlir_op_info ops[] = {
#define OP(name, ins, outs, attrs, regions, form)                              \
    {name, ins, outs, attrs, regions, form},
#include "frontend/mlir/ops.def"
#undef OP
};

static const jx_vhlo_op_info vhlo_ops[] = {
#define V(major, minor, patch) JX_VHLO(major, minor, patch)
#define CURRENT UINT32_MAX
#define OP(name, first, last, ins, outs, attrs, regions)                       \
    {name, first, last, ins, outs, attrs, regions},
#include "frontend/mlir/vhlo_ops.def"
#undef OP
#undef CURRENT
#undef V
};

static const jx_mlir_record_info records[] = {
#define RECORD(name, fields) {name, fields},
#define ENUM(name, cases)
#include "frontend/mlir/records.def"
#undef ENUM
#undef RECORD
};

static const jx_mlir_record_info enums[] = {
#define RECORD(name, fields)
#define ENUM(name, cases) {name, cases},
#include "frontend/mlir/records.def"
#undef ENUM
#undef RECORD
};

/* The name comes first in the rows of all tables. */
static int by_name(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

const jx_mlir_op_info *jx_mlir_op_info_find(const char *name)
{
    return bsearch(name, ops, sizeof ops / sizeof *ops, sizeof *ops, by_name);
}

/* Ids count the rows. */
const jx_mlir_op_info *jx_mlir_op_info_of(jx_op_id id)
{
    return id == JX_OP_unknown ? NULL : &ops[id - 1];
}

const char *jx_mlir_op_name(jx_op_id id)
{
    return id == JX_OP_unknown ? "" : ops[id - 1].name;
}

bool jx_mlir_op_ends(jx_op_id id)
{
    return id == JX_OP_stablehlo_return || id == JX_OP_func_return ||
           id == JX_OP_sdy_return;
}

bool jx_mlir_op_commutes(jx_op_id id)
{
    switch (id) {
    case JX_OP_stablehlo_add:
    case JX_OP_stablehlo_multiply:
    case JX_OP_stablehlo_maximum:
    case JX_OP_stablehlo_minimum:
    case JX_OP_stablehlo_and:
    case JX_OP_stablehlo_or:
    case JX_OP_stablehlo_xor: return true;
    default: return false;
    }
}

jx_op_id jx_mlir_op_id(const char *name)
{
    const jx_mlir_op_info *info = jx_mlir_op_info_find(name);

    return info ? (jx_op_id)(info - ops + 1) : JX_OP_unknown;
}

const jx_vhlo_op_info *jx_vhlo_op_info_find(const char *name)
{
    return bsearch(name, vhlo_ops, sizeof vhlo_ops / sizeof *vhlo_ops,
                   sizeof *vhlo_ops, by_name);
}

const char *jx_mlir_op_attrs(const char *name)
{
    if (strncmp(name, "vhlo.", 5) == 0) {
        const jx_vhlo_op_info *info = jx_vhlo_op_info_find(name + 5);
        return info ? info->attrs : NULL;
    }
    const jx_mlir_op_info *info = jx_mlir_op_info_find(name);
    return info ? info->attrs : NULL;
}

const char *jx_mlir_next_name(const char *at, const char **name, size_t *length,
                              char *mark)
{
    while (*at == ' ')
        at++;
    if (!*at)
        return NULL;
    *name = at;
    *length = strcspn(at, "*?= ");
    at += *length;
    *mark = *at && *at != ' ' ? *at++ : '\0';
    return at;
}

bool jx_mlir_is_name(const char *text, const char *name, size_t length)
{
    return strncmp(text, name, length) == 0 && !text[length];
}

int jx_mlir_count_names(const char *list)
{
    int count = 0;
    const char *name;
    size_t length;
    char mark;

    while ((list = jx_mlir_next_name(list, &name, &length, &mark)))
        count++;
    return count;
}

const char *jx_mlir_case_at(const char *list, uint64_t number, size_t *length)
{
    const char *name;
    char mark;

    while ((list = jx_mlir_next_name(list, &name, length, &mark)))
        if (number-- == 0)
            return *name == '-' ? NULL : name;
    return NULL;
}

static int find(const char *list, const char *wanted, char *mark)
{
    const char *name;
    size_t length;

    for (int i = 0; (list = jx_mlir_next_name(list, &name, &length, mark)); i++)
        if (jx_mlir_is_name(wanted, name, length))
            return i;
    return -1;
}

bool jx_mlir_has_name(const char *list, const char *name, char *mark)
{
    char ignored;

    return find(list, name, mark ? mark : &ignored) >= 0;
}

int jx_mlir_name_index(const char *list, const char *name)
{
    char mark;

    return find(list, name, &mark);
}

bool jx_mlir_group(const char *list, int total, int index, int *begin,
                   int *count)
{
    const char *name, *at = list;
    size_t length;
    char mark;
    int single = 0, groups = 0;

    while ((at = jx_mlir_next_name(at, &name, &length, &mark)))
        *(mark == '*' ? &groups : &single) += 1;
    int left = total - single;
    if (left < 0 || (groups ? left % groups != 0 : left != 0))
        return false;
    *begin = *count = 0;
    for (int i = 0; (list = jx_mlir_next_name(list, &name, &length, &mark));
         i++) {
        *begin += *count;
        *count = mark == '*' ? left / groups : 1;
        if (i == index)
            return true;
    }
    return false;
}

const jx_mlir_record_info *jx_mlir_record_info_find(const char *name)
{
    return bsearch(name, records, sizeof records / sizeof *records,
                   sizeof *records, by_name);
}

const char *jx_mlir_next_field(const char *at, const char **name,
                               size_t *length, char *kind, char *mark)
{
    at = jx_mlir_next_name(at, name, length, mark);
    if (!at)
        return NULL;
    *length -= 2; /* the `:` and the letter */
    *kind = (*name)[*length + 1];
    return at;
}

const char *jx_mlir_enum_cases(const char *enumeration)
{
    const jx_mlir_record_info *found =
        bsearch(enumeration, enums, sizeof enums / sizeof *enums, sizeof *enums,
                by_name);

    return found ? found->fields : "";
}

int jx_mlir_enum_number(const char *enumeration, const char *text)
{
    return jx_mlir_name_index(jx_mlir_enum_cases(enumeration), text);
}

const char *jx_mlir_enum_case(const char *enumeration, int number,
                              size_t *length)
{
    return number < 0 ? NULL
                      : jx_mlir_case_at(jx_mlir_enum_cases(enumeration),
                                        (uint64_t)number, length);
}
