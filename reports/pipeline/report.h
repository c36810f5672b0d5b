/* report.h - what is left to say about programs, ready to be rendered.
 *
 * Claims point into a program; a report has copies of what it shows, so that
 * programs can be freed one by one while their reports are kept.  Renderers
 * (text, JSON, SARIF, GitHub) read reports and nothing else; the same claims
 * give the same bytes. */
#ifndef JX_REPORT_H
#define JX_REPORT_H

#include "analyzer/typing.h"

/* A place in a source file.  Lines and columns count from 1, columns in
 * characters; 0: not known. */
typedef struct jx_spot {
    const char *file; /* NULL: no place is known */
    const char *function;
    int line, column, end_line, end_column; /* the end is exclusive */
    jx_file_kind kind;
    const char *source; /* the line as the input embeds it, or NULL */
} jx_spot;

/* It is part of the expression of a frame; where no columns are known, in its
 * line. */
bool jx_spot_is_within(const jx_spot *spot, const jx_frame *frame);

typedef struct jx_size {
    const char *name;
    int64_t value;
} jx_size;

/* What comes of a finding elsewhere. */
typedef struct jx_then {
    const char *what;
    jx_spot where;
} jx_then;

/* A finding, or an obligation that stayed undecided. */
typedef struct jx_finding {
    jx_code code;
    jx_level level;
    jx_verdict verdict;
    const char *evidence; /* "proof", "counterexample", "execution" */
    const char *by;       /* what settled it, or NULL */
    const char *message;  /* one line */
    const char *why;      /* of an undecided one */
    jx_spot where;
    int ncalls;
    const jx_spot *calls; /* who called, innermost first */
    const char *equation; /* "gt i32[512,1] i32[512] -> bool[512,512]" */
    int nsizes;
    const jx_size *sizes;                 /* the counterexample */
    const char *note, *help, *suggestion; /* or NULL; help has lines */
    const char *safe;    /* of IDX004: sizes for which nothing wraps, or NULL */
    int width;           /* of IDX004: bits of the integers */
    const char *witness; /* of what a run shows: JSON, or NULL */
    const jx_fix *fix;   /* or NULL */
    const char *shown;   /* values at the place, or NULL */
    int nthen;           /* consequences, in the order of the program */
    const jx_then *then;
    char fingerprint[65]; /* stable while lines move; see report.c */
    int order;            /* of the claim in its program */
    int count;            /* identical ones at this place */
} jx_finding;

typedef JX_VEC(jx_finding) jx_findings;

typedef struct jx_counts {
    int64_t proved, refuted, witnessed, undecided;
} jx_counts;

/* A line that a program embeds, and that has a comment for
 * jaxvet (suppress.h). */
typedef struct jx_remark {
    const char *file;
    int line; /* from 1 */
    const char *text;
} jx_remark;

/* What became of one input. */
typedef struct jx_report {
    const char *path;
    const char *beside;  /* the file of its large constants, or NULL */
    jx_error unreadable; /* kind JX_E_NONE: it was read */
    jx_counts claims;
    jx_findings findings, undecided; /* sorted by place */
    JX_VEC(const char *) assumptions;
    JX_VEC(const char *) conditions; /* sizes for which its own arithmetic does
                                        not wrap; none: all */
    JX_VEC(jx_remark) remarks;
    /* what is proved of values, and in which semantics */
    JX_VEC(const char *) proofs;
    int64_t equations;
    int64_t suppressed;  /* by comments in the source */
    int64_t hidden;      /* below error, in files of libraries */
    double milliseconds; /* that it took, if anybody wants to know; else 0 */
} jx_report;

/* Which codes are spoken of. */
typedef struct jx_selection {
    const char *const *select; /* beginnings of codes or names; none: all */
    int nselect;
    const char *const *ignore;
    int nignore;
} jx_selection;

bool jx_selects(const jx_selection *selection, jx_code code);

/* Appends the settled and undecided claims of a program to `to`, whose arena is
 * `keep`'s.  Claims of codes that are not selected are left out, counts too.
 * False without memory. */
bool jx_report_claims(jx_ctx *keep, jx_report *to, const jx_program *program,
                      const jx_claim_list *claims,
                      const jx_selection *selection);
/* Puts findings in the order of places, joins those that say the same at one
 * place, and numbers their fingerprints apart.  Last of all. */
bool jx_report_finish(jx_ctx *keep, jx_report *report);

/* "unreadable", "findings" (a warning or an error), "undecided" or "ok". */
const char *jx_report_status(const jx_report *report);
const char *jx_level_text(jx_level level);

/* An equation with types alone: "gt i32[512,1] i32[512] -> bool[512,512]". */
void jx_eqn_summary(const jx_eqn *eqn, jx_buffer *to);

/* All reports of a run, as they are rendered (reports/formats/formats.h). */
typedef struct jx_report_list {
    int count;
    const jx_report *at;
    int64_t skipped;          /* files of folders that are no programs */
    const char *const *names; /* of those, or NULL: nobody asked */
} jx_report_list;

#endif
