/* report_groups.h - findings that are the same in many files.
 *
 * What is said of a place in the source is the same finding where code, place
 * and message are; what has no place, as what is said of a file as a whole,
 * where the code is. */
#ifndef JX_REPORT_GROUPS_H
#define JX_REPORT_GROUPS_H

#include "reports/pipeline/report.h"

typedef struct jx_group {
    const jx_finding *first;
    const char *path; /* of the first file */
    int files;
    bool same_message; /* in all of them */
    bool told;         /* for who prints: already said */
    int last;          /* the report that was counted last */
} jx_group;

typedef struct jx_groups {
    jx_ctx *ctx;
    jx_intern table;
    JX_VEC(jx_group *) list; /* in order of the first files */
} jx_groups;

/* The groups of a list of reports; without memory there are none. */
void jx_groups_init(jx_groups *groups, const jx_report_list *reports);
void jx_groups_free(jx_groups *groups);
/* The group of a finding if it is in more than one file, else NULL. */
jx_group *jx_group_of(const jx_groups *groups, const jx_finding *finding);

#endif
