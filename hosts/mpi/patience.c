/* patience.c - see patience.h. */
#include "hosts/mpi/patience.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    CANT_RUN = 3, /* the command's exit code for it */
    MORE = 3      /* seconds of each rank more than the one before: mpirun takes
                     one or two to end them */
};

static const double late = 0.5; /* seconds */

struct jx_patience {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
    jx_awaited awaited;
    double waited; /* seconds, when it asks next */
    struct timespec until;
};

static void wait_longer(jx_patience *p, double seconds)
{
    double whole = (double)p->until.tv_sec + seconds;

    p->waited += seconds;
    p->until.tv_sec = (time_t)whole;
    p->until.tv_nsec += (long)(1e9 * (whole - (double)p->until.tv_sec));
    if (p->until.tv_nsec >= 1000000000) {
        p->until.tv_nsec -= 1000000000;
        p->until.tv_sec++;
    }
}

double jx_patience_of(const jx_awaited *awaited)
{
    return awaited->seconds + MORE * awaited->rank;
}

void jx_patience_lost(const jx_awaited *awaited, double waited, const char *why)
{
    fprintf(stderr, "jaxvet: rank %d waited %.3g s for %s%s%s\n", awaited->rank,
            waited, awaited->what, *why ? ", and " : "", why);
    _exit(CANT_RUN);
}

/* So late that this process was stopped itself, as all may have been: they have
 * that time again. */
static bool was_stopped(const jx_patience *p)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)(t.tv_sec - p->until.tv_sec) +
               1e-9 * (double)(t.tv_nsec - p->until.tv_nsec) >
           late;
}

static void *watch(void *data)
{
    jx_patience *p = data;
    const jx_awaited *a = &p->awaited;

    pthread_mutex_lock(&p->lock);
    while (!p->ended) {
        char why[100] = "";
        if (pthread_cond_timedwait(&p->changed, &p->lock, &p->until) !=
                ETIMEDOUT ||
            p->ended)
            continue;
        if (!was_stopped(p) && (!a->is_lost || a->is_lost(a->data, why)))
            jx_patience_lost(a, p->waited, why);
        wait_longer(p, a->seconds);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void forget(jx_patience *p)
{
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

jx_patience *jx_patience_begin(const jx_awaited *awaited)
{
    jx_patience *p = calloc(1, sizeof *p);
    pthread_condattr_t by_clock;

    if (!p)
        return NULL;
    p->awaited = *awaited;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    clock_gettime(CLOCK_MONOTONIC, &p->until);
    wait_longer(p, jx_patience_of(awaited));
    if (!pthread_create(&p->thread, NULL, watch, p))
        return p;
    forget(p);
    return NULL;
}

void jx_patience_end(jx_patience *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    forget(p);
}
