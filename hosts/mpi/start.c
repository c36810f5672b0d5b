/* start.c - see start.h. */
#include "hosts/mpi/start.h"

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

struct jx_start {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
    int rank;
    double seconds;
    struct timespec until;
};

static void *watch(void *data)
{
    jx_start *s = data;
    int code = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->ended && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&s->changed, &s->lock, &s->until);
    if (!s->ended) {
        fprintf(stderr,
                "jaxvet: rank %d waited %g s for all processes of mpirun to "
                "begin, ten times --timeout, and one never called MPI_Init\n",
                s->rank, s->seconds + MORE * s->rank);
        _exit(CANT_RUN);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

jx_start *jx_start_begin(double seconds, int rank)
{
    jx_start *s = calloc(1, sizeof *s);
    pthread_condattr_t by_clock;
    double whole;

    if (!s)
        return NULL;
    s->rank = rank;
    s->seconds = seconds;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    clock_gettime(CLOCK_MONOTONIC, &s->until);
    whole = (double)s->until.tv_sec + seconds + MORE * rank;
    s->until.tv_sec = (time_t)whole;
    if (!pthread_create(&s->thread, NULL, watch, s))
        return s;
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

void jx_start_end(jx_start *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
