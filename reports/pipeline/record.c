/* record.c - see record.h.  What a record holds is said once, by functions that
 * take a field and either append or read it. */
#include "reports/pipeline/record.h"

#include "frontend/base/assert.h"

#include <stddef.h>

typedef struct record {
    jx_buffer *to; /* appended to; NULL: it is read */
    jx_arena *arena;
    const char *at, *end;
    bool broken;
} record;

static void bytes(record *r, void *data, size_t size)
{
    if (r->to) {
        jx_buffer_bytes(r->to, data, size);
    } else if (r->broken || (size_t)(r->end - r->at) < size) {
        r->broken = true;
        memset(data, 0, size);
    } else {
        memcpy(data, r->at, size);
        r->at += size;
    }
}

static void wide(record *r, int64_t *number)
{
    bytes(r, number, sizeof *number);
}

static void whole(record *r, int *number)
{
    bytes(r, number, sizeof *number);
}

/* One of an enumeration's values, `least` to `most`. */
static int choice(record *r, int value, int least, int most)
{
    whole(r, &value);
    if (value >= least && value <= most)
        return value;
    r->broken = true;
    return least;
}

/* How many of something follow, each of which has a byte at least. */
static size_t count(record *r, size_t known)
{
    uint64_t n = known;

    bytes(r, &n, sizeof n);
    if (!r->to && n > (size_t)(r->end - r->at)) {
        r->broken = true;
        return 0;
    }
    return (size_t)n;
}

/* A text, or NULL. */
static void text(record *r, const char **field)
{
    char given = *field != NULL;
    size_t length;

    bytes(r, &given, 1);
    if (r->to ? !*field : !given) {
        *field = NULL;
        return;
    }
    length = count(r, r->to ? strlen(*field) : 0);
    if (r->to)
        jx_buffer_bytes(r->to, *field, length);
    else if (!r->broken)
        *field = jx_arena_string(r->arena, r->at, length);
    if (!r->to && !r->broken)
        r->at += length;
}

/* A text that every such report has. */
static void said(record *r, const char **field)
{
    text(r, field);
    if (!r->to && !*field)
        r->broken = true;
}

typedef void item(record *r, void *one);

/* An array behind a pointer to what is const: read into a new one, written from
 * a copy of each element. */
static const void *items(record *r, const void *from, int *n, size_t size,
                         item *of)
{
    _Alignas(max_align_t) char copy[128];
    int number = (int)count(r, (size_t)*n);
    char *made = r->to ? NULL : jx_arena_array(r->arena, (size_t)number, size);

    JX_ASSERT(size <= sizeof copy);
    for (int i = 0; i < number && (r->to || made); i++) {
        if (r->to)
            memcpy(copy, (const char *)from + (size_t)i * size, size);
        of(r, r->to ? copy : made + (size_t)i * size);
    }
    *n = r->to || made ? number : 0;
    return r->to ? from : made;
}

static void spot(record *r, void *one)
{
    jx_spot *to = one;

    text(r, &to->file);
    text(r, &to->function);
    whole(r, &to->line);
    whole(r, &to->column);
    whole(r, &to->end_line);
    whole(r, &to->end_column);
    to->kind =
        (jx_file_kind)choice(r, (int)to->kind, JX_FILE_USER, JX_FILE_JAX);
    text(r, &to->source);
}

static void size(record *r, void *one)
{
    jx_size *to = one;

    said(r, &to->name);
    wide(r, &to->value);
}

static void then(record *r, void *one)
{
    jx_then *to = one;

    said(r, &to->what);
    spot(r, &to->where);
}

static void fixed_line(record *r, void *one)
{
    jx_fixed_line *to = one;

    said(r, &to->file);
    whole(r, &to->line);
    said(r, &to->was);
    said(r, &to->is);
}

/* As an array of one or none. */
static void fix(record *r, void *one)
{
    jx_fix *to = one;
    int quiet = to->quiet;

    said(r, &to->says);
    to->quiet = choice(r, quiet, 0, 1);
    to->lines = items(r, to->lines, &to->nlines, sizeof *to->lines, fixed_line);
}

static void finding(record *r, jx_finding *f)
{
    int fixes = f->fix != NULL;

    f->code = (jx_code)choice(r, (int)f->code, 1, JX_NCODES - 1);
    f->level = (jx_level)choice(r, (int)f->level, JX_NOTE, JX_ERROR);
    f->verdict =
        (jx_verdict)choice(r, (int)f->verdict, JX_UNDECIDED, JX_POSSIBLE);
    said(r, &f->evidence);
    text(r, &f->by);
    said(r, &f->message);
    text(r, &f->why);
    spot(r, &f->where);
    f->calls = items(r, f->calls, &f->ncalls, sizeof *f->calls, spot);
    text(r, &f->equation);
    f->sizes = items(r, f->sizes, &f->nsizes, sizeof *f->sizes, size);
    text(r, &f->note);
    text(r, &f->help);
    text(r, &f->suggestion);
    text(r, &f->safe);
    whole(r, &f->width);
    text(r, &f->witness);
    text(r, &f->shown);
    f->then = items(r, f->then, &f->nthen, sizeof *f->then, then);
    f->fix = items(r, f->fix, &fixes, sizeof *f->fix, fix);
    if (!fixes)
        f->fix = NULL;
    bytes(r, f->fingerprint, sizeof f->fingerprint);
    if (f->fingerprint[sizeof f->fingerprint - 1])
        r->broken = true;
    whole(r, &f->order);
    whole(r, &f->count);
}

static void findings(record *r, jx_findings *list)
{
    size_t n = count(r, list->count);

    for (size_t i = 0; i < n && !r->broken; i++) {
        jx_finding one = r->to ? list->at[i] : (jx_finding){0};

        finding(r, &one);
        if (!r->to)
            JX_PUSH(r->arena, list, one);
    }
}

/* A list of texts. */
#define TEXTS(r, list)                                                         \
    for (size_t i_ = 0, n_ = count((r), (list)->count);                        \
         i_ < n_ && !(r)->broken; i_++) {                                      \
        const char *one_ = (r)->to ? (list)->at[i_] : NULL;                    \
                                                                               \
        said((r), &one_);                                                      \
        if (!(r)->to)                                                          \
            JX_PUSH((r)->arena, (list), one_);                                 \
    }

static void remarks(record *r, jx_report *report)
{
    size_t n = count(r, report->remarks.count);

    for (size_t i = 0; i < n && !r->broken; i++) {
        jx_remark one = r->to ? report->remarks.at[i] : (jx_remark){0};

        said(r, &one.file);
        whole(r, &one.line);
        said(r, &one.text);
        if (!r->to)
            JX_PUSH(r->arena, &report->remarks, one);
    }
}

static void error(record *r, jx_error *of)
{
    of->kind =
        (jx_error_kind)choice(r, (int)of->kind, JX_E_NONE, JX_E_INTERNAL);
    text(r, &of->file);
    text(r, &of->place);
    text(r, &of->message);
    if (!r->to && of->kind != JX_E_NONE && !of->message)
        r->broken = true;
}

#if __SIZEOF_POINTER__ == 8
/* Who adds a field adds it to the record. */
_Static_assert(sizeof(jx_finding) == 296 && sizeof(jx_report) == 256 &&
                   sizeof(jx_spot) == 48 && sizeof(jx_fix) == 24 &&
                   sizeof(jx_then) == 56,
               "a record holds every field");
#endif

static void report_fields(record *r, jx_report *report)
{
    error(r, &report->unreadable);
    wide(r, &report->claims.proved);
    wide(r, &report->claims.refuted);
    wide(r, &report->claims.witnessed);
    wide(r, &report->claims.undecided);
    findings(r, &report->findings);
    findings(r, &report->undecided);
    TEXTS(r, &report->assumptions)
    TEXTS(r, &report->conditions)
    remarks(r, report);
    TEXTS(r, &report->proofs)
    wide(r, &report->equations);
    wide(r, &report->suppressed);
    wide(r, &report->hidden);
    bytes(r, &report->milliseconds, sizeof report->milliseconds);
}

void jx_record_write(const jx_report *report, jx_buffer *to)
{
    record r = {.to = to};
    jx_report copy = *report;

    report_fields(&r, &copy);
}

bool jx_record_read(jx_ctx *keep, const char *bytes, size_t size,
                    jx_report *report)
{
    record r = {.arena = keep->arena, .at = bytes, .end = bytes + size};
    jx_report read = {.path = report->path};

    report_fields(&r, &read);
    if (r.broken || r.at != r.end || !jx_ok(keep))
        return false;
    *report = read;
    return true;
}
