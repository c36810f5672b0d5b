/* journal.h - a folder of results that outlive the run.
 *
 * Each is a file, named by a key that differs wherever the result may.  Who
 * makes one locks a byte of a file beside them; the system releases the lock
 * when its holder dies, so that nothing stale is left behind.  Processes that
 * know nothing of each other but the journal (ranks of mpirun, on one file
 * system) share their work by it. */
#ifndef JX_JOURNAL_H
#define JX_JOURNAL_H

#include "reports/commands/ranks.h"

/* What a piece of work came to. */
typedef struct jx_outcome {
    jx_buffer bytes;
    bool fleeting;      /* another run has to make it anew */
    const char *beside; /* a file that it depends on, or NULL */
} jx_outcome;

typedef struct jx_journal {
    const char *folder;
    const char *run; /* marks what is good for this run alone */
    jx_rank rank;
} jx_journal;

/* Makes the folder if there is none.  False with an error. */
bool jx_journal_open(jx_ctx *ctx, const char *folder, const jx_rank *rank,
                     jx_journal *to);

/* Appends what tells a file from what it was: its size, and when
 * it last changed. */
void jx_journal_state(const char *path, jx_buffer *to);

/* Whether there is a result that still holds, and its bytes, in the arena; a
 * damaged one is none. */
bool jx_journal_find(jx_ctx *ctx, const jx_journal *j, const char *key,
                     const char **bytes, size_t *size);
/* Keeps one, whole or not at all.  False with an error. */
bool jx_journal_keep(jx_ctx *ctx, const jx_journal *j, const char *key,
                     const jx_outcome *made);

/* The lock of a result that is to be made (`key` is hexadecimal): a descriptor;
 * -1 where another process has it (`wait`: not for that), or with an error. */
int jx_journal_lock(jx_ctx *ctx, const jx_journal *j, const char *key,
                    bool wait);
void jx_journal_unlock(int lock);

/* At the end of a run: the first rank waits until the others have
 * ended, which say so. */
bool jx_journal_end(jx_ctx *ctx, const jx_journal *j);

#endif
