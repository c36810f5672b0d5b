/* ops.c - see ops.h. */
#include "frontend/mlir/ops.h"

#include <stdlib.h>
#include <string.h>

static const jx_mlir_op_info ops[] = {
#define OP(name, ins, outs, attrs, regions) {name, ins, outs, attrs, regions},
#include "frontend/mlir/ops.def"
#undef OP
};

static const jx_vhlo_op_info vhlo_ops[] = {
#define V(major, minor, patch) JX_VHLO(major, minor, patch)
#define CURRENT UINT32_MAX
#define OP(name, first, last, ins, outs, attrs, regions)                      \
    {name, first, last, ins, outs, attrs, regions},
#include "frontend/mlir/vhlo_ops.def"
#undef OP
#undef CURRENT
#undef V
};

static int by_name(const void *key, const void *row)
{
    return strcmp(key, ((const jx_mlir_op_info *)row)->name);
}

static int by_vhlo_name(const void *key, const void *row)
{
    return strcmp(key, ((const jx_vhlo_op_info *)row)->name);
}

const jx_mlir_op_info *jx_mlir_op_info_find(const char *name)
{
    return bsearch(name, ops, sizeof ops / sizeof *ops, sizeof *ops, by_name);
}

const jx_vhlo_op_info *jx_vhlo_op_info_find(const char *name)
{
    return bsearch(name, vhlo_ops, sizeof vhlo_ops / sizeof *vhlo_ops,
                   sizeof *vhlo_ops, by_vhlo_name);
}

const char *jx_mlir_next_name(const char *at, const char **name,
                              size_t *length, char *mark)
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

static int find(const char *list, const char *wanted, char *mark)
{
    const char *name;
    size_t length, size = strlen(wanted);

    for (int i = 0; (list = jx_mlir_next_name(list, &name, &length, mark));
         i++)
        if (length == size && memcmp(name, wanted, size) == 0)
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
