/* writer_parts.h - what the files of the writer share.
 *
 * writer.c has the text, and takes out of it what nothing needs; writer_facts.c
 * the checker's form and the facts of a branch; writer_sums.c searches the
 * multipliers of sums; writer_ranges.c claims what ranges say; and
 * writer_impossible.c ends branches.  Others include writer.h. */
#ifndef JX_PROVER_WRITER_PARTS_H
#define JX_PROVER_WRITER_PARTS_H

#include "prover/writer.h"

/* What a mapping of a dim puts for an atom: the `env` of jx_dim_map. */
typedef struct jx_putting {
    jx_writer *w;
    const jx_dim_atom *atom; /* or NULL: only the form is wanted */
    const jx_dim *value;
} jx_putting;

/* Takes back all that was written since the text had `mark` characters; its
 * caller takes back the facts.  Always false. */
bool jx_write_take_back(jx_writer *w, size_t mark);

/* atom - low >= 0, high - atom >= 0 */
jx_hyp jx_low_fact(jx_writer *w, const jx_dim_atom *atom, jx_int low);
jx_hyp jx_high_fact(jx_writer *w, const jx_dim_atom *atom, jx_int high);

#endif
