/* compiles.c - see compiles.h. */
#include "hosts/pjrt/compiles.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REASONS = 4 };

/* All programs of one name. */
typedef struct function {
    char *name;
    int count;
    double seconds;
    /* Of the last one: the types of its arguments, a line each; the module
     * without places and with them. */
    char *types, *module, *located;
    int nreasons, unsaid;
    char *reasons[MOST_REASONS];
    struct function *next;
} function;

static struct {
    pthread_mutex_t lock;
    bool asked, reported;
    function *functions;
} compiles = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where words end: a difference is told in whole ones. */
static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '+' ||
           c == '-';
}

/* ---- places: the end of a line `... loc(#loc7)`, where the text says further
 * down `#loc7 = loc("f"(#loc3))`, `#loc3 = loc("file.py":12:4 to :8)` */

static const char *line_at(const char *text, int number)
{
    while (text && number-- > 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text;
}

static const char *end_of(const char *line)
{
    return line + strcspn(line, "\n");
}

/* Definitions stand on lines of their own, before the module and after it. */
static const char *module_line(const char *located, int number)
{
    const char *line = located;

    while (line && *line == '#')
        line = line_at(line, 1);
    return line_at(line, number);
}

static const char *definition(const char *located, const char *name,
                              size_t size)
{
    for (const char *line = located; line && *line; line = line_at(line, 1))
        if (!strncmp(line, name, size) && !strncmp(line + size, " = ", 3))
            return line + size + 3;
    return NULL;
}

/* "file.py":12 of the innermost place that a location names, or nothing. */
static void find_place(const char *located, const char *at, char *to,
                       size_t room)
{
    enum { DEEPEST = 16 };
    const char *end = end_of(at);

    *to = '\0';
    for (int depth = 0; at && depth < DEEPEST; depth++) {
        const char *quote = at, *alias, *last = NULL;
        while ((quote = memchr(quote, '"', (size_t)(end - quote)))) {
            const char *close =
                memchr(quote + 1, '"', (size_t)(end - quote - 1));
            if (close && close[1] == ':' && close[2] >= '0' &&
                close[2] <= '9') {
                snprintf(to, room, "%.*s:%d", (int)(close - quote - 1),
                         quote + 1, atoi(close + 2));
                return;
            }
            if (!close)
                break;
            quote = close + 1;
        }
        for (alias = at; alias < end; alias++)
            if (*alias == '#') {
                last = alias;
                break;
            }
        if (!last)
            return;
        at = definition(located, last,
                        strspn(last + 1, "abcdefghijklmnopqrstuvwxyz"
                                         "0123456789_") +
                            1);
        end = at ? end_of(at) : NULL;
    }
}

/* Whether a line has `%name` among its words. */
static bool mentions(const char *line, const char *name, size_t size)
{
    const char *end = end_of(line);

    for (const char *at = line; at + size < end; at++)
        if (!memcmp(at, name, size) && !is_word(at[size]))
            return true;
    return false;
}

/* The line that uses what a constant's line defines, for JAX has the call of
 * the function as the place of constants; of other lines, the line itself. */
static const char *line_of_use(const char *line)
{
    const char *name = line + strspn(line, " "), *use = line;
    size_t size = strcspn(name, " ");

    if (!memmem(line, (size_t)(end_of(line) - line), "stablehlo.constant", 18))
        return line;
    while ((use = line_at(use, 1)) && *use && *use != '#')
        if (mentions(use, name, size))
            return use;
    return line;
}

static void place_of_line(const char *located, int number, char *to,
                          size_t room)
{
    const char *line = module_line(located, number);
    const char *end, *last = NULL;

    line = line ? line_of_use(line) : NULL;
    end = line ? end_of(line) : NULL;

    *to = '\0';
    for (const char *at = line; line && at < end; at++)
        if (!strncmp(at, " loc(", 5))
            last = at;
    if (last)
        find_place(located, last, to, room);
}

/* ---- what differs */

/* How much of a text is shown. */
static int shown(const char *from, const char *to)
{
    enum { WIDEST = 48 };
    ptrdiff_t size = to - from;

    return size > WIDEST ? WIDEST : (int)size;
}

static void tell_lines(const char *before, const char *now, const char *place,
                       char *to, size_t room)
{
    const char *b = end_of(before), *n = end_of(now);
    size_t same = 0;

    while (before + same < b && now + same < n && before[same] == now[same])
        same++;
    while (same && is_word(now[same - 1]))
        same--;
    while (b > before + same && n > now + same && b[-1] == n[-1])
        b--, n--;
    while (is_word(*b) && is_word(*n) && b < end_of(before) && n < end_of(now))
        b++, n++;
    snprintf(to, room, "%s%s%.*s, before %.*s", place,
             memmem(now, (size_t)(end_of(now) - now), "stablehlo.constant", 18)
                 ? "a constant, "
                 : "",
             shown(now + same, n), now + same, shown(before + same, b),
             before + same);
}

/* The first argument of another type; false if there is none. */
static bool tell_types(const char *before, const char *now, char *to,
                       size_t room)
{
    int others = 0, argument = 0;

    for (; *before && *now; argument++) {
        size_t b = (size_t)(end_of(before) - before);
        size_t n = (size_t)(end_of(now) - now);
        if ((b != n || memcmp(before, now, b) != 0) && !others++)
            snprintf(to, room, "argument %d: %.*s, before %.*s", argument,
                     shown(now, now + n), now, shown(before, before + b),
                     before);
        before += b + 1;
        now += n + 1;
    }
    if (others > 1)
        snprintf(to + strlen(to), room - strlen(to), " (and %d more)",
                 others - 1);
    if (!others && (*before || *now)) {
        snprintf(to, room, "there are %s arguments", *now ? "more" : "fewer");
        return true;
    }
    return others > 0;
}

/* In *to, what is another in `now` than in f's last module. */
static void tell(const function *f, const char *types, const char *now,
                 const char *located, char *to, size_t room)
{
    const char *before = f->module;
    char place[300], at[320] = "";

    if (tell_types(f->types, types, to, room))
        return;
    for (int i = 0; *before && *now; i++) {
        size_t b = (size_t)(end_of(before) - before);
        size_t n = (size_t)(end_of(now) - now);
        if (b != n || memcmp(before, now, b) != 0) {
            place_of_line(located, i, place, sizeof place);
            if (*place)
                snprintf(at, sizeof at, "%s: ", place);
            tell_lines(before, now, at, to, room);
            return;
        }
        before += b + (before[b] == '\n');
        now += n + (now[n] == '\n');
    }
    if (*before || *now)
        snprintf(to, room, "there are %s operations", *now ? "more" : "fewer");
    else if (strcmp(located, f->located) != 0)
        snprintf(to, room, "nothing but places in the source");
    else
        snprintf(
            to, room,
            "nothing: the same module (another function object, a weak type, a "
            "static argument or a cleared cache had JAX compile it again)");
}

static void add_reason(function *f, const char *reason)
{
    for (int i = 0; i < f->nreasons; i++)
        if (!strcmp(f->reasons[i], reason))
            return;
    if (f->nreasons == MOST_REASONS)
        f->unsaid++;
    else if ((f->reasons[f->nreasons] = strdup(reason)))
        f->nreasons++;
}

/* ---- the report */

static int by_count(const void *a, const void *b)
{
    const function *x = *(function *const *)a, *y = *(function *const *)b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void print_function(const function *f)
{
    fprintf(stderr, "%7d  %7.1f ms  %s\n", f->count, 1e3 * f->seconds, f->name);
    for (int i = 0; i < f->nreasons; i++)
        fprintf(stderr, "%22s%s\n", "", f->reasons[i]);
    if (f->unsaid)
        fprintf(stderr, "%22sand %d more times, otherwise\n", "", f->unsaid);
}

static void report(void)
{
    int count = 0, total = 0, n = 0;
    function **all;

    pthread_mutex_lock(&compiles.lock);
    for (function *f = compiles.functions; f; f = f->next)
        count++;
    all = calloc((size_t)count + 1, sizeof *all);
    for (function *f = compiles.functions; all && f; f = f->next) {
        all[n++] = f;
        total += f->count;
    }
    if (all) {
        qsort(all, (size_t)n, sizeof *all, by_count);
        fprintf(stderr, "jaxvet: %d program%s compiled, of %d function%s\n",
                total, total == 1 ? "" : "s", count, count == 1 ? "" : "s");
        for (int i = 0; i < n; i++)
            print_function(all[i]);
    }
    free(all);
    pthread_mutex_unlock(&compiles.lock);
}

/* ---- taking note */

static function *function_named(const char *name)
{
    function *f = compiles.functions;

    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    if (f)
        return f;
    f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return NULL;
    }
    f->next = compiles.functions;
    compiles.functions = f;
    return f;
}

static char *module_of(jaxvet_program *program, int locations)
{
    const char *text;

    return jaxvet_module(program, locations, &text, NULL) == JAXVET_OK
               ? strdup(text)
               : NULL;
}

/* "f32[3]\n" for each argument. */
static char *types_of(const jaxvet_program *program)
{
    int count = jaxvet_input_count(program);
    size_t size = 1;
    char *types;

    for (int i = 0; i < count; i++)
        size += strlen(jaxvet_input_type(program, i)) + 1;
    types = malloc(size);
    if (types)
        *types = '\0';
    size = 0;
    for (int i = 0; types && i < count; i++)
        size += (size_t)sprintf(types + size, "%s\n",
                                jaxvet_input_type(program, i));
    return types;
}

static void note(jaxvet_program *program, double seconds)
{
    char *types = types_of(program);
    char *module = module_of(program, 0), *located = module_of(program, 1);
    function *f = types && module && located
                      ? function_named(jaxvet_name(program))
                      : NULL;
    char reason[800];

    if (!f) {
        free(types);
        free(module);
        free(located);
        return;
    }
    if (f->count++) {
        tell(f, types, module, located, reason, sizeof reason);
        add_reason(f, reason);
    }
    f->seconds += seconds;
    free(f->types);
    free(f->module);
    free(f->located);
    f->types = types;
    f->module = module;
    f->located = located;
}

void jx_pjrt_compiles_note(jaxvet_program *program, double seconds)
{
    const char *wanted;

    pthread_mutex_lock(&compiles.lock);
    if (!compiles.asked) {
        wanted = getenv("JAXVET_COMPILES");
        compiles.asked = true;
        compiles.reported = wanted && !strcmp(wanted, "report");
        if (compiles.reported)
            atexit(report);
        else if (wanted && *wanted)
            fprintf(stderr, "jaxvet: JAXVET_COMPILES=%s: expected 'report'\n",
                    wanted);
    }
    if (compiles.reported)
        note(program, seconds);
    pthread_mutex_unlock(&compiles.lock);
}
