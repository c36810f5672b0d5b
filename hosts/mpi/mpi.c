/* mpi.c - ranks of mpirun as the devices of a program (runtime/comm.h).
 *
 * The one file over MPI, a library of its own: the command loads it when it is
 * asked for ranks, so that nobody else needs MPI.
 *
 * A communicator is made for each list of members when it is first needed.  In
 * checked mode the members first tell each other what they are at, point to
 * point: a collective that not all of them come to would never return.  Ranks
 * of one machine also write on a board in shared memory where they are, so that
 * who waits can say what the others do. */
#include "hosts/mpi/patience.h"
#include "runtime/comm.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* A rank's place on the board. */
enum {
    COMPUTING = 0,
    WAITING,  /* for others to come, ... */
    TOGETHER, /* ... who all are there: for their arrays */
    ENDED,
    GONE /* MPI has ended, too */
};
typedef struct entry {
    atomic_int state;
    atomic_ullong steps; /* collectives that it has come to */
    atomic_ullong looks; /* how often it has looked whether others are there */
    pid_t process;
    char text[240]; /* of the last one: written before `steps` */
} entry;

/* Of the board, which has one behind the other: of whole words, so that
 * each is aligned. */
typedef struct part {
    entry entry;
    atomic_int flag; /* the first rank's: something is wrong */
} part;

typedef struct group {
    struct group *next;
    MPI_Comm comm;
    int count;
    int members[];
} group;

/* What a rank is at, and since when. */
typedef struct sight {
    int state;
    uint64_t steps;
    uint64_t looks; /* when one of all ranks moved last */
    double since;
} sight;

typedef struct ranks {
    jx_comm comm;
    double patience;
    group *groups;
    MPI_Comm machine;
    part *board;
    int *number;  /* of each rank on the board; -1: it is elsewhere */
    sight *seen;  /* of each rank, ... */
    double since; /* ... and when one of them moved */
    /* of each rank whose process can be seen from here; else 0 */
    pid_t *process;
    int64_t swapped; /* the collective whose parts were swapped last; or 0 */
    int *layout; /* of parts: sizes and places, of what goes and what comes */
    bool speaks; /* it was the first to raise the flag, ... */
    bool bereft; /* ... as another one has died */
    char why[2048];
} ranks;

/* One that differs says that its rank is at something else. */
typedef struct greeting {
    uint64_t print;
    char text[240];
} greeting;

enum { TAG_GREETING = 1, TAG_PERMUTE = 2 };
/* Ranks of which each waits and is still at it after this, and has looked so
 * often for what it waits for, wait for each other. */
static const double settled = 0.25;
enum { LOOKS = 32 };
/* Seconds from one look at the others to the next, for each of them: a look
 * takes some microseconds for each. */
static const double glance = 0.001;
/* Seconds that mpirun has to end all. */
static const double ending = 5;
static const char APART[] = "the ranks go separate ways around a collective:",
                  LATE[] =
                      "not all ranks came to a collective in time (--timeout):";

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* More ranks than processors: others shall have this one. */
static void pause_a_moment(int round)
{
    const struct timespec moment = {.tv_nsec = round < 100 ? 0 : 50000};

    nanosleep(&moment, NULL);
}

/* ---- the board */

static entry *entry_of(const ranks *r, int rank)
{
    return r->number[rank] < 0 ? NULL : &r->board[r->number[rank]].entry;
}

/* Ranks in containers of their own share a machine and do not
 * see each other. */
static void see_processes(ranks *r)
{
    for (int i = 0; i < r->comm.count; i++) {
        const entry *e = entry_of(r, i);

        if (e && i != r->comm.rank && !kill(e->process, 0))
            r->process[i] = e->process;
    }
}

/* A file of that many bytes, which are there: who writes where the system has
 * none is killed.  Else -1. */
static int new_memory(const char *name, size_t bytes)
{
    int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);

    if (file < 0 || !posix_fallocate(file, 0, (off_t)bytes))
        return file;
    close(file);
    shm_unlink(name);
    return -1;
}

/* The board is there for as long as the process is: MPI's own memory that ranks
 * share goes with MPI.  The first rank of a machine makes it, and its name is
 * gone when all have it. */
static bool map_board(ranks *r, int here, int count)
{
    size_t bytes = (size_t)count * sizeof *r->board;
    char name[40] = "";
    void *at = MAP_FAILED;
    int ok, file = -1;

    if (here == 0) {
        /* containers may share such memory, and not the numbers of processes */
        snprintf(name, sizeof name, "/jaxvet-%ld-%llx", (long)getpid(),
                 (unsigned long long)(1e9 * now()));
        file = new_memory(name, bytes);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, r->machine);
    if (here > 0)
        file = shm_open(name, O_RDWR, 0);
    if (file >= 0)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    r->board = at == MAP_FAILED ? NULL : at;
    if (r->board)
        entry_of(r, r->comm.rank)->process = getpid();
    ok = r->board != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, r->machine);
    if (here == 0 && file >= 0)
        shm_unlink(name);
    return ok;
}

static bool open_board(ranks *r)
{
    MPI_Group all, machine;
    int here, count, *from, *to;

    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                            MPI_INFO_NULL, &r->machine))
        return false;
    MPI_Comm_rank(r->machine, &here);
    MPI_Comm_size(r->machine, &count);
    r->number = malloc((size_t)r->comm.count * sizeof *r->number);
    r->seen = calloc((size_t)r->comm.count, sizeof *r->seen);
    r->process = calloc((size_t)r->comm.count, sizeof *r->process);
    r->layout = calloc((size_t)r->comm.count * 4, sizeof *r->layout);
    from = malloc((size_t)count * 2 * sizeof *from);
    if (!r->number || !r->seen || !r->process || !r->layout || !from)
        return false;
    to = from + count;
    for (int i = 0; i < r->comm.count; i++)
        r->number[i] = -1;
    for (int i = 0; i < count; i++)
        from[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(r->machine, &machine);
    MPI_Group_translate_ranks(machine, count, from, all, to);
    for (int i = 0; i < count; i++)
        r->number[to[i]] = i;
    MPI_Group_free(&all);
    MPI_Group_free(&machine);
    free(from);
    if (!map_board(r, here, count))
        return false;
    see_processes(r);
    return true;
}

static atomic_int *flag_of(const ranks *r)
{
    return &r->board[0].flag;
}

static void write_on_board(const ranks *r, int state, const char *text)
{
    entry *mine = entry_of(r, r->comm.rank);

    if (text) {
        snprintf(mine->text, sizeof mine->text, "%s", text);
        atomic_fetch_add(&mine->steps, 1);
    }
    atomic_store(&mine->state, state);
}

/* ---- what is wrong */

static void put(ranks *r, size_t *used, const char *text)
{
    size_t room = sizeof r->why - *used;
    int n = snprintf(r->why + *used, room, "%s", text);

    *used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

/* The letter of /proc: R, S, T, ...; 0: it is not known. */
static char state_of(pid_t process)
{
    char path[64], text[512];
    const char *name;
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    file = fopen(path, "r");
    if (!file)
        return 0;
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    name = strrchr(text, ')'); /* "number (name) state ..." */
    return name && name[1] == ' ' ? name[2] : 0;
}

/* Its process is there no more, or only until its parent has asked for it. */
static bool is_no_more(const ranks *r, int rank)
{
    char state;

    if (!r->process[rank])
        return false;
    if (kill(r->process[rank], 0))
        return errno == ESRCH;
    state = state_of(r->process[rank]);
    return state == 'Z' || state == 'X';
}

/* ... and it had not ended, which it may have while that was found out. */
static bool has_died(const ranks *r, int rank)
{
    return r->process[rank] && atomic_load(&entry_of(r, rank)->state) < ENDED &&
           is_no_more(r, rank) &&
           atomic_load(&entry_of(r, rank)->state) < ENDED;
}

static bool is_stopped(const ranks *r, int rank)
{
    char state = r->process[rank] ? state_of(r->process[rank]) : 0;

    return state == 'T' || state == 't';
}

/* Who has died is mpirun's affair, which ends all. */
static bool one_is_stopped(void *data, char why[100])
{
    const ranks *r = data;

    for (int i = 0; i < r->comm.count; i++) {
        if (is_stopped(r, i)) {
            snprintf(why, 100, "rank %d is stopped (process %ld)", i,
                     (long)r->process[i]);
            return true;
        }
    }
    return false;
}

/* For calls that return when all have come, and are not asked after. */
static jx_patience *wait_for(ranks *r, const char *what)
{
    const jx_awaited all = {r->patience, r->comm.rank, what, one_is_stopped, r};

    return r->patience > 0 ? jx_patience_begin(&all) : NULL;
}

/* Whether it is time to look at the others again, as of `looked`.  What this
 * process was stopped itself is no time that it has waited: all may have been,
 * and go on. */
static bool is_due(const ranks *r, double *looked, double *since)
{
    double t = now(), due = glance * r->comm.count;

    if (t - *looked < due)
        return false;
    if (t - *looked > due + settled)
        *since += t - *looked;
    *looked = t;
    return true;
}

/* Ends this process where others are waited for of which one is stopped, since
 * all were running last for longer than a rank has patience. */
static void end_if_stopped(ranks *r, double looked, double *running)
{
    const jx_awaited all = {r->patience, r->comm.rank, "all ranks to end", NULL,
                            NULL};
    char why[100];

    if (r->patience <= 0 || !one_is_stopped(r, why))
        *running = looked;
    else if (looked - *running > jx_patience_of(&all))
        jx_patience_lost(&all, looked - *running, why);
}

static const char *doing(const ranks *r, int rank, char text[300])
{
    const entry *e = entry_of(r, rank);
    int state = e ? atomic_load(&e->state) : COMPUTING;

    if (!e)
        return "is on another machine";
    if (state >= ENDED)
        return "has ended";
    snprintf(text, 300, "%s %s",
             has_died(r, rank)     ? "has died, after"
             : is_stopped(r, rank) ? "is stopped, after"
             : state == COMPUTING  ? "computes, after"
                                   : "waits in",
             atomic_load(&e->steps) ? e->text : "nothing");
    return text;
}

static void say_where(ranks *r, size_t *used, int rank)
{
    char text[300], line[400];

    snprintf(line, sizeof line, "\nrank %d %s", rank, doing(r, rank, text));
    put(r, used, line);
}

/* What is wrong is told by the first that notices; the others wait here until
 * that ends them all. */
static void mpi_speaks(jx_comm *comm)
{
    ranks *r = comm->data;
    double running = now(), looked = running;

    if (!r->speaks && atomic_exchange(flag_of(r), 1))
        for (;;) {
            if (is_due(r, &looked, &running))
                end_if_stopped(r, looked, &running);
            pause_a_moment(1000);
        }
    r->speaks = true;
}

static bool diverged(ranks *r, const jx_meeting *at, const char *why)
{
    size_t used = 0;

    r->why[0] = '\0';
    mpi_speaks(&r->comm);
    /* which is why the others are where they are */
    for (int i = 0; i < at->count; i++)
        if (has_died(r, at->members[i])) {
            why = "a rank has died:";
            r->bereft = true;
        }
    put(r, &used, why);
    for (int i = 0; i < at->count; i++)
        say_where(r, &used, at->members[i]);
    return false;
}

/* ---- checked mode */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static uint64_t mix_number(uint64_t hash, int64_t number)
{
    return (hash ^ (uint64_t)number) * 0x100000001b3u;
}

static greeting greeting_of(const ranks *r, const jx_meeting *at)
{
    const entry *mine = entry_of(r, r->comm.rank);
    greeting g = {.print = mix(mix(0xcbf29ce484222325u, at->what), at->place)};

    g.print = mix_number(g.print, at->number);
    for (const jx_turn *t = at->turn; t; t = t->around)
        g.print = mix_number(g.print, t->number);
    for (int i = 0; i < at->count; i++)
        g.print = mix_number(g.print, at->members[i]);
    snprintf(g.text, sizeof g.text, "%s", mine->text);
    return g;
}

/* Sees what the ranks of this machine are at. */
static void look_around(ranks *r)
{
    bool moved = false;

    for (int i = 0; i < r->comm.count; i++) {
        const entry *e = entry_of(r, i);
        sight *seen = &r->seen[i];
        uint64_t steps = e ? atomic_load(&e->steps) : 0;
        int state = e ? atomic_load(&e->state) : COMPUTING;

        if (e && state == seen->state && steps == seen->steps)
            continue;
        *seen = (sight){.state = state, .steps = steps, .since = now()};
        moved = true;
    }
    if (!moved)
        return;
    r->since = now();
    for (int i = 0; i < r->comm.count; i++) {
        const entry *e = entry_of(r, i);

        r->seen[i].looks = e ? atomic_load(&e->looks) : 0;
    }
}

/* Whether a rank has ended; what it had sent has come by now. */
static bool has_left(const ranks *r, int rank)
{
    return r->seen[rank].state >= ENDED &&
           now() - r->seen[rank].since > settled;
}

/* Whether all ranks wait, each for others.  As long as one computes, or has
 * no processor, those that wait for it may go on, and so may those that wait
 * for them. */
static bool nobody_moves(const ranks *r)
{
    for (int i = 0; i < r->comm.count; i++) {
        const entry *e = entry_of(r, i);
        const sight *seen = &r->seen[i];

        if (seen->state < ENDED &&
            (!e || seen->state != WAITING ||
             atomic_load(&e->looks) - seen->looks < LOOKS))
            return false;
    }
    return now() - r->since > settled;
}

/* What is asked for by a rank while it waits for others. */
typedef struct waiting {
    ranks *r;
    const jx_meeting *at;
    /* two for each other member: what is sent, what comes */
    MPI_Request *requests;
    greeting *theirs;
} waiting;

/* Results go to a rank that may be at what is made of others, alone; unless it
 * is stopped. */
static bool may_be_long(const ranks *r, const jx_meeting *at)
{
    return !at->number && at->members[0] != r->comm.rank &&
           r->process[at->members[0]] && !is_stopped(r, at->members[0]);
}

/* Why who has been waited for so long is waited for no more, or NULL. */
static const char *given_up(const ranks *r, const jx_meeting *at, double waited)
{
    for (int i = 0; i < at->count; i++)
        if (has_died(r, at->members[i]))
            return APART; /* diverged() says how */
    return waited <= r->patience || may_be_long(r, at) ? NULL : LATE;
}

/* Why those who are not there will not come, or NULL. */
static const char *stay_away(const waiting *w, double waited)
{
    look_around(w->r);
    for (int i = 0; i < w->at->count; i++) {
        int rank = w->at->members[i];

        if (w->requests[w->at->count + i] != MPI_REQUEST_NULL &&
            has_left(w->r, rank))
            return APART;
    }
    return nobody_moves(w->r) ? APART : given_up(w->r, w->at, waited);
}

static bool still_to_come(waiting *w)
{
    entry *mine = entry_of(w->r, w->r->comm.rank);
    double since = now(), looked = since;
    int all = 0, n = 2 * w->at->count;

    for (int round = 0;; round++) {
        const char *why = NULL;

        MPI_Testall(n, w->requests, &all, MPI_STATUSES_IGNORE);
        if (all)
            return true;
        atomic_fetch_add(&mine->looks, 1);
        if (atomic_load(flag_of(w->r)))
            return diverged(w->r, w->at, "");
        if (is_due(w->r, &looked, &since))
            why = stay_away(w, looked - since);
        if (why)
            return diverged(w->r, w->at, why);
        pause_a_moment(round);
    }
}

/* Tells the others what this rank is at, and waits for what they say. */
static bool meet(ranks *r, const jx_meeting *at)
{
    size_t n = (size_t)at->count;
    waiting w = {r, at, malloc(2 * n * sizeof *w.requests),
                 malloc(n * sizeof *w.theirs)};
    greeting mine = greeting_of(r, at);
    bool ok = w.requests && w.theirs;

    for (int i = 0; ok && i < at->count; i++) {
        int other = at->members[i];

        w.requests[i] = w.requests[at->count + i] = MPI_REQUEST_NULL;
        w.theirs[i] = mine;
        if (other == r->comm.rank)
            continue;
        MPI_Irecv(&w.theirs[i], (int)sizeof mine, MPI_BYTE, other, TAG_GREETING,
                  MPI_COMM_WORLD, &w.requests[at->count + i]);
        MPI_Isend(&mine, (int)sizeof mine, MPI_BYTE, other, TAG_GREETING,
                  MPI_COMM_WORLD, &w.requests[i]);
    }
    if (!ok)
        snprintf(r->why, sizeof r->why, "the system has no memory");
    ok = ok && still_to_come(&w);
    for (int i = 0; ok && i < at->count; i++)
        if (w.theirs[i].print != mine.print)
            ok = diverged(r, at, "the ranks are at different collectives:");
    free(w.requests);
    free(w.theirs);
    return ok;
}

/* ---- what a plan asks for */

static bool comes_to(ranks *r, const jx_meeting *at)
{
    char text[240], turn[40] = "";

    r->swapped = 0;
    if (at->turn)
        snprintf(turn, sizeof turn, ", turn %lld", (long long)at->turn->number);
    snprintf(text, sizeof text, "%s (number %lld%s)%s%s", at->what,
             (long long)at->number, turn, *at->place ? " at " : "", at->place);
    write_on_board(r, WAITING, text);
    if (r->patience > 0 && !meet(r, at))
        return false;
    write_on_board(r, TOGETHER, NULL);
    return true;
}

/* The second half of a collective, which all members come to that were there
 * for the first. */
static bool goes_on(ranks *r, const jx_meeting *at)
{
    bool second = at->number && r->swapped == at->number;

    r->swapped = 0;
    if (second)
        write_on_board(r, TOGETHER, NULL);
    return second;
}

static MPI_Comm comm_of(ranks *r, const jx_meeting *at)
{
    size_t bytes = (size_t)at->count * sizeof *at->members;
    jx_patience *patience;
    MPI_Group all, some;
    group *g;

    for (g = r->groups; g; g = g->next)
        if (g->count == at->count && !memcmp(g->members, at->members, bytes))
            return g->comm;
    g = malloc(sizeof *g + bytes);
    if (!g)
        return MPI_COMM_NULL;
    memcpy(g->members, at->members, bytes);
    g->count = at->count;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, at->count, at->members, &some);
    patience = wait_for(r, "the members of a group to know each other");
    MPI_Comm_create_group(MPI_COMM_WORLD, some, TAG_PERMUTE, &g->comm);
    jx_patience_end(patience);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    g->next = r->groups;
    r->groups = g;
    return g->comm;
}

/* MPI counts in int; an array of more is told of in pieces of its own type. */
static bool fits(ranks *r, size_t bytes)
{
    if (bytes <= INT32_MAX)
        return true;
    snprintf(r->why, sizeof r->why,
             "an array of %zu bytes: MPI takes 2 GiB at once", bytes);
    return false;
}

static size_t bytes_of_parts(const jx_meeting *at)
{
    size_t bytes = 0;

    for (int k = 0; k < at->count; k++)
        bytes += at->parts[k];
    return bytes;
}

/* Waits without taking the processor from ranks that share it; all members have
 * come, but one may be stopped, or die. */
static bool complete(ranks *r, const jx_meeting *at, int count,
                     MPI_Request *requests)
{
    double since = now(), looked = since;
    int all = 0;

    for (int round = 0;; round++) {
        const char *why = NULL;

        if (MPI_Testall(count, requests, &all, MPI_STATUSES_IGNORE)) {
            snprintf(r->why, sizeof r->why, "MPI refuses %s", at->what);
            return false;
        }
        if (all)
            return true;
        if (r->patience > 0 && is_due(r, &looked, &since))
            why =
                atomic_load(flag_of(r)) ? "" : given_up(r, at, looked - since);
        if (why)
            return diverged(r, at, why);
        pause_a_moment(round);
    }
}

/* What the members of a group do together with arrays of their
 * own and of all. */
typedef int together_fn(const ranks *r, const jx_meeting *at, const void *mine,
                        void *theirs, size_t bytes, MPI_Comm comm,
                        MPI_Request *request);

static bool together(ranks *r, const jx_meeting *at, together_fn *what,
                     const void *mine, void *theirs, size_t bytes,
                     const char **why)
{
    MPI_Request request;
    MPI_Comm comm;
    bool ok = fits(r, at->parts ? bytes_of_parts(at) : bytes) &&
              (goes_on(r, at) || comes_to(r, at));

    *why = r->why;
    if (!ok)
        return false;
    comm = comm_of(r, at);
    if (comm == MPI_COMM_NULL ||
        what(r, at, mine, theirs, bytes, comm, &request)) {
        snprintf(r->why, sizeof r->why, "MPI refuses %s", at->what);
        return false;
    }
    if (!complete(r, at, 1, &request))
        return false;
    write_on_board(r, COMPUTING, NULL);
    return true;
}

/* Parts as MPI wants to know them: how large they are, and where.  Both are
 * read until all is done. */
static void lay_out(const jx_meeting *at, int *sizes, int *places)
{
    for (int k = 0, place = 0; k < at->count; k++) {
        sizes[k] = (int)at->parts[k];
        places[k] = place;
        place += sizes[k];
    }
}

static int number_in(MPI_Comm comm)
{
    int number;

    MPI_Comm_rank(comm, &number);
    return number;
}

static int all_gather(const ranks *r, const jx_meeting *at, const void *mine,
                      void *all, size_t bytes, MPI_Comm comm,
                      MPI_Request *request)
{
    int *sizes = r->layout, *places = sizes + r->comm.count;

    if (!at->parts)
        return MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes,
                              MPI_BYTE, comm, request);
    lay_out(at, sizes, places);
    return MPI_Iallgatherv(mine, sizes[number_in(comm)], MPI_BYTE, all, sizes,
                           places, MPI_BYTE, comm, request);
}

static int all_to_all(const ranks *r, const jx_meeting *at, const void *mine,
                      void *theirs, size_t bytes, MPI_Comm comm,
                      MPI_Request *request)
{
    int n = r->comm.count, *sizes = r->layout, *places = sizes + n,
        *come = places + n, *to = come + n, own;

    if (!at->parts)
        return MPI_Ialltoall(mine, (int)bytes, MPI_BYTE, theirs, (int)bytes,
                             MPI_BYTE, comm, request);
    lay_out(at, sizes, places);
    own = sizes[number_in(comm)];
    for (int k = 0; k < at->count; k++) {
        come[k] = own;
        to[k] = k * own;
    }
    /* Open MPI takes one address for both as MPI_IN_PLACE, and where nothing
     * comes that may be any. */
    return MPI_Ialltoallv(mine, sizes, places, MPI_BYTE, own ? theirs : NULL,
                          come, to, MPI_BYTE, comm, request);
}

static int gather_first(const ranks *r, const jx_meeting *at, const void *mine,
                        void *all, size_t bytes, MPI_Comm comm,
                        MPI_Request *request)
{
    (void)r, (void)at;
    return MPI_Igather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0,
                       comm, request);
}

static bool gather(void *data, const jx_meeting *at, const void *mine,
                   void *all, size_t bytes, const char **why)
{
    return together(data, at, all_gather, mine, all, bytes, why);
}

static bool collect(void *data, const jx_meeting *at, const void *mine,
                    void *all, size_t bytes, const char **why)
{
    const ranks *r = data;

    if (r->comm.rank != at->members[0])
        memset(all, 0, bytes * (size_t)at->count);
    return together(data, at, gather_first, mine, all, bytes, why);
}

static bool swap(void *data, const jx_meeting *at, const void *mine,
                 void *theirs, size_t bytes, const char **why)
{
    ranks *r = data;
    bool ok = together(r, at, all_to_all, mine, theirs, bytes, why);

    r->swapped = at->number;
    return ok;
}

static bool permute(void *data, const jx_meeting *at, int source, int target,
                    const void *mine, void *theirs, size_t bytes,
                    const char **why)
{
    ranks *r = data;
    MPI_Request requests[2];
    bool ok = fits(r, bytes) && comes_to(r, at);

    *why = r->why;
    if (!ok)
        return false;
    if (source < 0)
        memset(theirs, 0, bytes);
    if (source == r->comm.rank) { /* what it sends to itself goes nowhere */
        memcpy(theirs, mine, bytes);
        source = target = -1;
    }
    if (MPI_Irecv(theirs, (int)bytes, MPI_BYTE,
                  source < 0 ? MPI_PROC_NULL : source, TAG_PERMUTE,
                  MPI_COMM_WORLD, &requests[0]) ||
        MPI_Isend(mine, (int)bytes, MPI_BYTE,
                  target < 0 ? MPI_PROC_NULL : target, TAG_PERMUTE,
                  MPI_COMM_WORLD, &requests[1])) {
        snprintf(r->why, sizeof r->why, "MPI refuses to send");
        return false;
    }
    if (!complete(r, at, 2, requests))
        return false;
    write_on_board(r, COMPUTING, NULL);
    return true;
}

/* ---- beginning and end */

/* Before MPI has ended. */
static void free_groups(ranks *r)
{
    while (r->groups) {
        group *next = r->groups->next;

        MPI_Comm_free(&r->groups->comm);
        free(r->groups);
        r->groups = next;
    }
}

static void free_ranks(ranks *r)
{
    free(r->number);
    free(r->seen);
    free(r->process);
    free(r->layout);
    free(r);
}

/* All that are on one machine meet on its board before MPI ends and after it.
 * There MPI needs no barrier of its own; and mpirun (Open MPI 4.1) may crash when
 * a rank leaves while others wait in one. */
static void spare_the_last_barrier(void)
{
    const char *all = getenv("OMPI_COMM_WORLD_SIZE");
    const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");

    if (all && here && !strcmp(all, here))
        setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
}

static bool begin(ranks *r)
{
    spare_the_last_barrier();
    if (MPI_Init(NULL, NULL))
        return false;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->comm.count);
    return true;
}

static jx_comm *mpi_open(int rank, double seconds, const char **why)
{
    const jx_awaited all = {
        .seconds = 10 * seconds,
        .rank = rank,
        .what = "all processes of mpirun to begin, ten times --timeout, and "
                "one never called MPI_Init, or was stopped"};
    ranks *r = calloc(1, sizeof *r);
    jx_patience *patience;
    bool begun, open;

    *why = "the system has no memory";
    if (!r)
        return NULL;
    r->patience = seconds;
    r->comm = (jx_comm){.data = r,
                        .gather = gather,
                        .collect = collect,
                        .swap = swap,
                        .permute = permute};
    patience = seconds > 0 ? jx_patience_begin(&all) : NULL;
    begun = begin(r);
    open = begun && open_board(r);
    jx_patience_end(patience);
    if (open)
        return &r->comm;
    *why = begun ? "the system has no memory (/dev/shm) that ranks of one "
                   "machine share"
                 : "MPI does not start";
    free_ranks(r);
    if (begun)
        MPI_Finalize();
    return NULL;
}

static bool mpi_agree(jx_comm *comm, bool ok, uint64_t print, int *first)
{
    uint64_t theirs = print;
    int bad, least;
    jx_patience *patience =
        wait_for(comm->data, "all ranks to have read what they run");

    MPI_Bcast(&theirs, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bad = ok && theirs == print ? comm->count : comm->rank;
    MPI_Allreduce(&bad, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    jx_patience_end(patience);
    *first = least;
    return least == comm->count;
}

/* Whether all ranks of this machine are in a state, or behind it, or gone. */
static bool all_are(const ranks *r, int state)
{
    for (int i = 0; i < r->comm.count; i++) {
        const entry *e = entry_of(r, i);

        if (e && atomic_load(&e->state) < state && !is_no_more(r, i))
            return false;
    }
    return true;
}

/* Waits until all are as far, without taking the processor from one that still
 * computes, for as long as that takes; but not for one that is stopped all the
 * time that another is waited for. */
static void come_to_an_end(ranks *r, int state)
{
    double running = now(), looked = running;

    write_on_board(r, state, NULL);
    for (int round = 0; !all_are(r, state); round++) {
        if (is_due(r, &looked, &running))
            end_if_stopped(r, looked, &running);
        pause_a_moment(round);
    }
}

/* MPI itself ends, and after it the process, in between: who is stopped then is
 * waited for by others as well, as mpirun would wait for it for ever. */
static void mpi_close(jx_comm *comm)
{
    ranks *r = comm->data;
    jx_patience *patience;

    come_to_an_end(r, ENDED);
    patience = wait_for(r, "all ranks to end");
    MPI_Comm_free(&r->machine);
    free_groups(r);
    MPI_Finalize();
    jx_patience_end(patience);
    come_to_an_end(r, GONE);
    free_ranks(r);
}

/* Who has died is mpirun's affair, which ends all with the status that it makes
 * of that, unless it takes too long. */
static void mpi_abort(jx_comm *comm, int code)
{
    const ranks *r = comm->data;

    for (double since = now(); r->bereft && now() - since < ending;)
        pause_a_moment(1000);
    MPI_Abort(MPI_COMM_WORLD, code);
}

extern __attribute__((visibility("default"))) const jx_comm_library jx_mpi;
const jx_comm_library jx_mpi = {mpi_open, mpi_agree, mpi_close, mpi_speaks,
                                mpi_abort};
