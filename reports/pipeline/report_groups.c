/* report_groups.c - see report_groups.h. */
#include "reports/pipeline/report_groups.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_finding(const void *kept, const void *key)
{
    const jx_finding *a = ((const jx_group *)kept)->first, *b = key;

    return a->code == b->code && a->verdict == b->verdict &&
           a->level == b->level && same_text(a->where.file, b->where.file) &&
           (!a->where.file || (a->where.line == b->where.line &&
                               a->where.column == b->where.column &&
                               same_text(a->message, b->message)));
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? jx_hash_mix(hash, jx_hash_bytes(text, strlen(text))) : hash;
}

static uint64_t hash_of(const jx_finding *f)
{
    uint64_t hash = jx_hash_mix((uint64_t)f->code, (uint64_t)f->verdict);

    if (!f->where.file)
        return hash;
    hash = jx_hash_mix(hash, (uint64_t)(unsigned)f->where.line);
    return hash_text(hash_text(hash, f->where.file), f->message);
}

static void add(jx_groups *to, const jx_finding *finding, const char *path,
                int report)
{
    uint64_t hash = hash_of(finding);
    const void *kept = jx_intern_find(&to->table, hash, finding, same_finding);
    jx_group *group = (jx_group *)(uintptr_t)kept; /* ours, not const */

    if (!group) {
        group = JX_NEW(to->ctx->arena, jx_group);
        if (!group)
            return;
        *group = (jx_group){
            .first = finding, .path = path, .same_message = true, .last = -1};
        if (!jx_intern_add(&to->table, hash, group))
            return;
        JX_PUSH(to->ctx->arena, &to->list, group);
    }
    group->files += group->last != report;
    group->last = report;
    group->same_message &= same_text(group->first->message, finding->message);
}

void jx_groups_init(jx_groups *groups, const jx_report_list *reports)
{
    *groups = (jx_groups){.ctx = jx_ctx_new(0)};
    if (!groups->ctx)
        return;
    jx_intern_init(&groups->table, groups->ctx->arena);
    for (int i = 0; i < reports->count; i++) {
        const jx_findings *lists[] = {&reports->at[i].findings,
                                      &reports->at[i].undecided};
        for (int k = 0; k < 2; k++)
            for (size_t n = 0; n < lists[k]->count; n++)
                add(groups, &lists[k]->at[n], reports->at[i].path, i);
    }
}

void jx_groups_free(jx_groups *groups)
{
    jx_ctx_free(groups->ctx);
}

jx_group *jx_group_of(const jx_groups *groups, const jx_finding *finding)
{
    const void *kept = groups->ctx
                           ? jx_intern_find(&groups->table, hash_of(finding),
                                            finding, same_finding)
                           : NULL;
    jx_group *group = (jx_group *)(uintptr_t)kept; /* ours, not const */

    return group && group->files > 1 ? group : NULL;
}
