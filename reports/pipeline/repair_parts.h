/* repair_parts.h - what the files of the ways of repairing share. */
#ifndef JX_REPAIR_PARTS_H
#define JX_REPAIR_PARTS_H

#include "reports/pipeline/repair_ways.h"

/* repair_look.c: what jax.numpy is called there. */
const char *jx_passage_numpy(jx_arena *arena, const jx_passage *in);
/* Some line of the file that the program embeds has that text. */
bool jx_file_has(const jx_file *file, const char *text);
bool jx_word_among(const char *words, const char *text, jx_py_span span);
/* Whether the expression is a call of one of these, or has that operator, and
 * its argument of that number; the same bare, if it has but one. */
bool jx_passage_operand(const jx_passage *in, const char *written, int number,
                        jx_py_span *to);
bool jx_passage_argument(const jx_passage *in, const char *names,
                         jx_py_span *to);
bool jx_frame_encloses(const jx_frame *outer, const jx_frame *inner);

/* Edits of that operand, like one, in all equations of that primitive that the
 * expression became, and in what a derivative that stands in the program takes
 * of the same value. */
void jx_repair_guard(const jx_repair_site *site, jx_repair *repair,
                     jx_prim_id prim, int operand, const jx_edit *like);
/* An edit without a maker for each equation of that primitive that the
 * expression became. */
void jx_repair_equations(const jx_repair_site *site, jx_repair *repair,
                         jx_prim_id prim);
/* Whether a derivative that stands in the program takes what these take. */
bool jx_repair_is_differentiated(const jx_repair_site *site, jx_repair *repair);

/* repair_guards.c: the rows of repairs.def, how many numbers one tries,
 * and one of them. */
int jx_repair_guards(void);
int jx_repair_numbers(int row);
bool jx_repair_guarded(const jx_repair_site *site, jx_repair *repair, int row,
                       int which);
/* `where(c, f(x), y)`: f(where(c, x, 1)), of a row's f. */
bool jx_repair_mask(const jx_repair_site *site, jx_repair *repair, int row);

/* repair_rewrites.c: the same function computed otherwise; how many such ways
 * there are, and whether one is one. */
int jx_repair_rewrites(void);
bool jx_repair_rewrite(const jx_repair_site *site, jx_repair *repair,
                       int number);

#endif
