/* sanitize.c - see sanitize.h. */
#include "hosts/pjrt/sanitize.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KINDS = JX_PJRT_SANITIZES - 1 };

/* Texts, one after the other. */
typedef struct texts {
    size_t count, room;
    char **at;
} texts;

static struct {
    pthread_mutex_t lock;
    bool asked; /* the environment */
    unsigned kinds;
    int mode;
    texts said;      /* lines that were printed or kept: "NUM001 train.py:12" */
    texts collected; /* reports */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void forget(texts *of)
{
    for (size_t i = 0; i < of->count; i++)
        free(of->at[i]);
    free(of->at);
    *of = (texts){0};
}

/* False without memory. */
static bool add(texts *to, const char *text)
{
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 8;
        char **more = realloc(to->at, room * sizeof *more);
        if (!more)
            return false;
        to->at = more;
        to->room = room;
    }
    to->at[to->count] = strdup(text);
    to->count += to->at[to->count] != NULL;
    return true;
}

static bool holds(const texts *in, const char *text)
{
    for (size_t i = 0; i < in->count; i++)
        if (!strcmp(in->at[i], text))
            return true;
    return false;
}

/* ---- what is asked for */

/* "nan,oob,log" */
static void read_environment(const char *text)
{
    char kinds[64];
    size_t n = strlen(text);
    bool logs = n > 4 && !strcmp(text + n - 4, ",log");

    n -= logs ? 4 : 0;
    snprintf(kinds, sizeof kinds, "%.*s", (int)(n < sizeof kinds ? n : 0),
             text);
    state.kinds = jaxvet_sanitize_kinds(kinds);
    state.mode = logs ? JX_PJRT_LOG : JX_PJRT_RAISE;
    if (!state.kinds)
        fprintf(stderr,
                "jaxvet: JAXVET_SANITIZE=%s: expected nan, oob, wrap, digits "
                "or several with "
                "commas between, and ,log at the end to print what is found\n",
                text);
}

unsigned jx_pjrt_sanitize_kinds(void)
{
    const char *text;
    unsigned kinds;

    pthread_mutex_lock(&state.lock);
    if (!state.asked) {
        state.asked = true;
        text = getenv("JAXVET_SANITIZE");
        if (text && *text)
            read_environment(text);
    }
    kinds = state.kinds;
    pthread_mutex_unlock(&state.lock);
    return kinds;
}

void jaxvet_pjrt_sanitize(unsigned kinds, int mode)
{
    pthread_mutex_lock(&state.lock);
    state.asked = true;
    state.kinds = kinds & MOST_KINDS;
    state.mode = mode;
    forget(&state.said);
    pthread_mutex_unlock(&state.lock);
}

char *jaxvet_pjrt_sanitize_take(void)
{
    size_t size = 3;
    char *text, *to;

    pthread_mutex_lock(&state.lock);
    for (size_t i = 0; i < state.collected.count; i++)
        size += strlen(state.collected.at[i]) + 1;
    to = text = malloc(size);
    if (text)
        *to++ = '[';
    for (size_t i = 0; text && i < state.collected.count; i++)
        to += sprintf(to, "%s%s", i ? "," : "", state.collected.at[i]);
    if (text) {
        strcpy(to, "]");
        forget(&state.collected);
    }
    pthread_mutex_unlock(&state.lock);
    return text;
}

void jaxvet_pjrt_sanitize_free(char *text)
{
    free(text);
}

/* ---- what is found */

/* Whether its line was not spoken of before. */
static bool is_new(const jaxvet_finding *finding)
{
    char line[512];

    snprintf(line, sizeof line, "%s %s:%d %s", finding->code, finding->file,
             finding->line, finding->line ? "" : finding->message);
    return !holds(&state.said, line) && add(&state.said, line);
}

static PJRT_Error *raise(const jaxvet_finding *findings, int count)
{
    char more[64] = "";

    if (count > 1)
        snprintf(more, sizeof more, "\n(and %d more in this run)", count - 1);
    return jx_pjrt_error(PJRT_Error_Code_FAILED_PRECONDITION,
                         "jaxvet sanitizer: %s%s", findings[0].text, more);
}

static PJRT_Error *tell(const jaxvet_call *call)
{
    const jaxvet_finding *findings;
    int count = jaxvet_call_findings(call, &findings), fresh = 0;
    PJRT_Error *error = NULL;

    pthread_mutex_lock(&state.lock);
    for (int i = 0; state.mode != JX_PJRT_RAISE && i < count; i++) {
        bool new = is_new(&findings[i]);
        fresh += new;
        if (new &&state.mode == JX_PJRT_LOG)
            fprintf(stderr, "jaxvet sanitizer: %s\n", findings[i].text);
    }
    if (state.mode == JX_PJRT_RAISE)
        forget(&state.collected); /* of each error its own */
    if ((state.mode == JX_PJRT_RAISE ||
         (state.mode == JX_PJRT_COLLECT && fresh)) &&
        !add(&state.collected, jaxvet_call_report(call)))
        error = jx_pjrt_starved();
    if (!error && state.mode == JX_PJRT_RAISE && count)
        error = raise(findings, count);
    pthread_mutex_unlock(&state.lock);
    return error;
}

/* ---- programs */

struct jx_pjrt_sanitized {
    jaxvet_program *program;
    jaxvet_call *call;
    bool busy; /* somebody runs it: others run copies */
};

static PJRT_Error *open(jx_pjrt_program *p, unsigned kinds, size_t budget,
                        struct jx_pjrt_sanitized *to)
{
    jaxvet_error error;

    to->program =
        jaxvet_open_memory(p->code, p->code_size, "module", budget, &error);
    if (to->program &&
        jaxvet_program_handlers(to->program, &jx_ffi_handlers, &error) ==
            JAXVET_OK &&
        jaxvet_program_summands(to->program, &error) == JAXVET_OK)
        to->call =
            jaxvet_prepare_sanitized(to->program, NULL, 0, kinds, &error);
    return to->call ? NULL
                    : jx_pjrt_error_of(&error, PJRT_Error_Code_UNIMPLEMENTED);
}

static void close_one(struct jx_pjrt_sanitized *one)
{
    if (!one)
        return;
    jaxvet_call_free(one->call);
    jaxvet_close(one->program);
    free(one);
}

void jx_pjrt_sanitized_free(jx_pjrt_program *program)
{
    for (int i = 0; i < JX_PJRT_SANITIZES; i++)
        close_one(program->sanitized[i]);
}

/* A call of it that nobody else runs; made when it is first asked for. */
static PJRT_Error *take(jx_pjrt_program *p, unsigned kinds, size_t budget,
                        jaxvet_call **to)
{
    struct jx_pjrt_sanitized *one;
    PJRT_Error *error = NULL;
    jaxvet_error said;

    *to = NULL;
    pthread_mutex_lock(&p->lock);
    one = p->sanitized[kinds];
    if (!one) {
        one = calloc(1, sizeof *one);
        error = one ? open(p, kinds, budget, one) : jx_pjrt_starved();
        if (error)
            close_one(one);
        else
            p->sanitized[kinds] = one;
    }
    if (!error && !one->busy) {
        *to = one->call;
        one->busy = true;
    } else if (!error) {
        *to = jaxvet_call_copy(one->call, &said);
        error = *to ? NULL : jx_pjrt_error_of(&said, PJRT_Error_Code_INTERNAL);
    }
    pthread_mutex_unlock(&p->lock);
    return error;
}

static void give(jx_pjrt_program *p, unsigned kinds, jaxvet_call *call)
{
    pthread_mutex_lock(&p->lock);
    if (call == p->sanitized[kinds]->call)
        p->sanitized[kinds]->busy = false;
    else
        jaxvet_call_free(call);
    pthread_mutex_unlock(&p->lock);
}

PJRT_Error *jx_pjrt_sanitized_run(jx_pjrt_program *program, unsigned kinds,
                                  const PJRT_Client *client,
                                  const void *const *ins, void *const *outs,
                                  jx_ffi_run *given)
{
    jaxvet_call *call;
    jaxvet_error said;
    jaxvet_status status;
    PJRT_Error *error = take(program, kinds, (size_t)client->limit, &call);

    if (error)
        return error;
    jaxvet_call_help(call, client->helper);
    status = jaxvet_run_with(call, ins, outs, given, &said);
    if (status == JAXVET_FINDINGS)
        error = tell(call);
    else if (status != JAXVET_OK)
        error = given->error.message
                    ? jx_pjrt_error((PJRT_Error_Code)given->error.code, "%s",
                                    given->error.message)
                    : jx_pjrt_error_of(&said, PJRT_Error_Code_INTERNAL);
    give(program, kinds, call);
    return error;
}
