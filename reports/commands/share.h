/* share.h - shares pieces of work out to processes.
 *
 * Pieces are taken largest first, by whoever is free.  A process that dies is
 * named, and its piece tried once more, alone; nothing else is lost.  With a
 * journal each result is kept as it comes, what is there already is not made
 * again, and what another rank is making is left to it. */
#ifndef JX_SHARE_H
#define JX_SHARE_H

#include "reports/commands/journal.h"

typedef struct jx_piece {
    const char *name; /* for people */
    const char *key;  /* in the journal, if there is one */
    int64_t size;
} jx_piece;

typedef struct jx_share {
    size_t count;
    const jx_piece *pieces;
    int jobs;                  /* processes, at least 1 */
    const jx_journal *journal; /* NULL: none is kept */
    const char *doing;         /* for progress on a terminal: "checked" */
    /* Called in a process that was forked for it.  False, with an
     * error in `ctx`. */
    bool (*make)(void *user, jx_ctx *ctx, size_t piece, jx_outcome *to);
    void *user;
} jx_share;

/* Of each piece: its bytes, in the arena of the context; NULL where its
 * process died twice, or gave up for a reason that it said, and how; or where
 * another rank has it. */
typedef struct jx_shared {
    const char *bytes;
    size_t size;
    const char *died;
    bool gave_up;
} jx_shared;

/* Does all pieces and fills `results`, one for each.  Of several ranks the
 * first waits for what the others do, which do what is left to them.  False
 * with an error. */
bool jx_share_out(jx_ctx *ctx, const jx_share *what, jx_shared *results);

#endif
