/* event.c - events of PJRT: most have happened when they are made. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>

typedef struct waiter {
    void (*callback)(PJRT_Error *error, void *user_arg);
    void *user_arg;
    struct waiter *next;
} waiter;

struct PJRT_Event {
    atomic_int holders;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool happened;
    PJRT_Error *error;
    waiter *waiters; /* the last first */
};

static PJRT_Event ready = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .happened = true,
};

PJRT_Event *jx_pjrt_event_ready(void)
{
    return &ready;
}

PJRT_Event *jx_pjrt_event_new(void)
{
    PJRT_Event *event = calloc(1, sizeof *event);

    if (!event)
        return NULL;
    atomic_init(&event->holders, 1);
    pthread_mutex_init(&event->lock, NULL);
    pthread_cond_init(&event->changed, NULL);
    return event;
}

PJRT_Event *jx_pjrt_event_share(PJRT_Event *event)
{
    if (event != &ready)
        atomic_fetch_add(&event->holders, 1);
    return event;
}

void jx_pjrt_event_drop(PJRT_Event *event)
{
    if (!event || event == &ready || atomic_fetch_sub(&event->holders, 1) != 1)
        return;
    /* Who waits for what nobody can set any more is told so. */
    if (!event->happened) {
        atomic_store(&event->holders, 1);
        jx_pjrt_event_set(event,
                          jx_pjrt_error(PJRT_Error_Code_CANCELLED,
                                        "the event was given up before it "
                                        "happened"));
    }
    jx_pjrt_error_free(event->error);
    pthread_mutex_destroy(&event->lock);
    pthread_cond_destroy(&event->changed);
    free(event);
}

bool jx_pjrt_event_set(PJRT_Event *event, PJRT_Error *error)
{
    waiter *left, *turned = NULL;

    pthread_mutex_lock(&event->lock);
    if (event->happened) {
        pthread_mutex_unlock(&event->lock);
        jx_pjrt_error_free(error);
        return false;
    }
    jx_pjrt_event_share(event); /* who is told may end it */
    event->error = error;
    event->happened = true;
    left = event->waiters;
    event->waiters = NULL;
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
    while (left) {
        waiter *next = left->next;
        left->next = turned;
        turned = left;
        left = next;
    }
    while (turned) {
        waiter *next = turned->next;
        turned->callback(jx_pjrt_error_copy(error), turned->user_arg);
        free(turned);
        turned = next;
    }
    jx_pjrt_event_drop(event);
    return true;
}

PJRT_Error *jx_pjrt_event_await(PJRT_Event *event)
{
    if (event == &ready)
        return NULL;
    pthread_mutex_lock(&event->lock);
    while (!event->happened)
        pthread_cond_wait(&event->changed, &event->lock);
    pthread_mutex_unlock(&event->lock);
    return jx_pjrt_error_copy(event->error);
}

PJRT_Error *jx_pjrt_Event_Destroy(PJRT_Event_Destroy_Args *args)
{
    jx_pjrt_event_drop(args->event);
    return NULL;
}

static bool has_happened(PJRT_Event *event)
{
    bool happened;

    if (event == &ready)
        return true;
    pthread_mutex_lock(&event->lock);
    happened = event->happened;
    pthread_mutex_unlock(&event->lock);
    return happened;
}

PJRT_Error *jx_pjrt_Event_IsReady(PJRT_Event_IsReady_Args *args)
{
    args->is_ready = has_happened(args->event);
    return NULL;
}

PJRT_Error *jx_pjrt_Event_Error(PJRT_Event_Error_Args *args)
{
    if (!has_happened(args->event))
        return jx_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                             "expected an event that has happened: it is not "
                             "known yet whether it fails");
    return jx_pjrt_error_copy(args->event->error);
}

PJRT_Error *jx_pjrt_Event_Await(PJRT_Event_Await_Args *args)
{
    return jx_pjrt_event_await(args->event);
}

PJRT_Error *jx_pjrt_Event_OnReady(PJRT_Event_OnReady_Args *args)
{
    PJRT_Event *event = args->event;
    waiter *w = NULL;

    if (!has_happened(event)) {
        w = malloc(sizeof *w);
        if (!w)
            return jx_pjrt_starved();
        *w = (waiter){args->callback, args->user_arg, NULL};
        pthread_mutex_lock(&event->lock);
        if (!event->happened) {
            w->next = event->waiters;
            event->waiters = w;
            pthread_mutex_unlock(&event->lock);
            return NULL;
        }
        pthread_mutex_unlock(&event->lock);
        free(w);
    }
    args->callback(jx_pjrt_error_copy(event->error), args->user_arg);
    return NULL;
}

PJRT_Error *jx_pjrt_Event_Create(PJRT_Event_Create_Args *args)
{
    args->event = jx_pjrt_event_new();
    return args->event ? NULL : jx_pjrt_starved();
}

PJRT_Error *jx_pjrt_Event_Set(PJRT_Event_Set_Args *args)
{
    PJRT_Error *error = NULL;

    if (args->error_code != PJRT_Error_Code_OK)
        jx_pjrt_error_said(args->error_code, args->error_message,
                           args->error_message_size, &error);
    if (jx_pjrt_event_set(args->event, error))
        return NULL;
    return jx_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                         "expected an event that nobody has set yet");
}
