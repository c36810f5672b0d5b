/* suppress.c - see suppress.h. */
#include "reports/pipeline/suppress.h"
#include "reports/pipeline/source.h"

#include <string.h>

/* One code in one comment. */
typedef struct accepted {
    const char *text; /* as written: a code, its beginning, or a name */
    bool used;
} accepted;

typedef struct comment {
    const char *file;
    int line;
    const char *source;
    int column;  /* of the comment, from 1 */
    int program; /* the first that embeds it */
    JX_VEC(accepted) codes;
} comment;

struct jx_suppressions {
    jx_ctx *keep;
    jx_sources *sources;
    const jx_selection *selection;
    jx_intern comments;
    JX_VEC(comment *) list;
    int programs; /* begun so far */
    bool trusts_embedded;
};

typedef struct line_key {
    const char *file;
    int line;
} line_key;

static bool same_line(const void *kept_, const void *key_)
{
    const comment *kept = kept_;
    const line_key *key = key_;

    return kept->line == key->line && strcmp(kept->file, key->file) == 0;
}

static uint64_t hash_line(const line_key *key)
{
    return jx_hash_mix(jx_hash_bytes(key->file, strlen(key->file)),
                       (uint64_t)(unsigned)key->line);
}

jx_suppressions *jx_suppressions_new(jx_ctx *keep, jx_sources *sources,
                                     const jx_selection *selection)
{
    jx_suppressions *made = JX_NEW(keep->arena, jx_suppressions);

    if (!made)
        return NULL;
    made->keep = keep;
    made->sources = sources;
    made->selection = selection;
    jx_intern_init(&made->comments, keep->arena);
    return made;
}

void jx_suppressions_trust_embedded(jx_suppressions *in)
{
    in->trusts_embedded = true;
}

void jx_suppressions_begin(jx_suppressions *in)
{
    in->programs++;
}

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t");
}

/* The codes of `# jaxvet: ignore[...]`, or NULL; *begin is the `#`. */
static const char *find_codes(const char *line, const char **begin)
{
    static const char word[] = "jaxvet:", verb[] = "ignore[";

    for (const char *at = strchr(line, '#'); at; at = strchr(at + 1, '#')) {
        const char *next = skip_spaces(at + 1);
        *begin = at;
        if (strncmp(next, word, sizeof word - 1) != 0)
            continue;
        next = skip_spaces(next + sizeof word - 1);
        if (strncmp(next, verb, sizeof verb - 1) == 0 && strchr(next, ']'))
            return next + sizeof verb - 1;
    }
    return NULL;
}

static void read_codes(jx_suppressions *in, comment *to, const char *at)
{
    while (*at != ']') {
        size_t n = strcspn(at, ",] \t");
        if (n) {
            accepted code = {jx_arena_string(in->keep->arena, at, n), false};
            JX_PUSH(in->keep->arena, &to->codes, code);
        }
        at += n;
        if (*at != ']')
            at++;
    }
}

/* Remembers the comment of a line, if it has one and is new. */
static comment *read_line(jx_suppressions *in, const char *file, int line,
                          const char *text)
{
    line_key key = {file, line};
    uint64_t hash = hash_line(&key);
    const char *begin, *codes = find_codes(text, &begin);
    jx_arena *arena = in->keep->arena;
    comment *made;

    if (!codes || jx_intern_find(&in->comments, hash, &key, same_line))
        return NULL;
    made = JX_NEW(arena, comment);
    if (!made)
        return NULL;
    made->file = jx_arena_string(arena, file, strlen(file));
    made->line = line;
    made->source = jx_arena_string(arena, text, strlen(text));
    made->program = in->programs - 1;
    made->column = 1;
    for (const char *at = text; at < begin; at++)
        made->column += ((unsigned char)*at & 0xc0) != 0x80;
    read_codes(in, made, codes);
    if (!made->file || !jx_intern_add(&in->comments, hash, made))
        return NULL;
    return made;
}

static void note(jx_arena *arena, jx_report *report, const jx_file *file,
                 const jx_source_line *line)
{
    const char *begin;
    jx_remark remark;

    if (!find_codes(line->text, &begin))
        return;
    remark = (jx_remark){
        jx_arena_string(arena, file->path, strlen(file->path)), line->number,
        jx_arena_string(arena, line->text, strlen(line->text))};
    JX_PUSH(arena, &report->remarks, remark);
}

bool jx_report_remarks(jx_ctx *keep, jx_report *report,
                       const jx_program *program)
{
    for (int i = 0; i < program->nfiles; i++)
        for (int k = 0; k < program->files[i]->nlines; k++)
            note(keep->arena, report, program->files[i],
                 &program->files[i]->lines[k]);
    return jx_ok(keep);
}

/* The text of an embedded line that counts, or NULL: the program's own if that
 * is trusted, else what the disk has there. */
static const char *counting(jx_suppressions *in, const jx_remark *remark)
{
    if (in->trusts_embedded)
        return remark->text;
    return in->sources
               ? jx_sources_line(in->sources, remark->file, remark->line)
               : NULL;
}

bool jx_suppressions_read(jx_suppressions *in, const jx_report *report)
{
    for (size_t i = 0; i < report->remarks.count; i++) {
        const jx_remark *remark = &report->remarks.at[i];
        const char *text = counting(in, remark);
        comment *made =
            text ? read_line(in, remark->file, remark->line, text) : NULL;

        if (made)
            JX_PUSH(in->keep->arena, &in->list, made);
    }
    return jx_ok(in->keep);
}

/* The comment of a line, from disk if no embedded one counts. */
static comment *comment_at(jx_suppressions *in, const char *file, int line)
{
    line_key key = {file, line};
    const void *kept =
        jx_intern_find(&in->comments, hash_line(&key), &key, same_line);
    const char *text;

    if (kept)
        return (comment *)(uintptr_t)kept; /* ours, not const */
    if (!in->sources)
        return NULL;
    text = jx_sources_line(in->sources, file, line);
    return text ? read_line(in, file, line, text) : NULL;
}

static bool accepts(const char *text, jx_code code)
{
    const jx_selection only = {&text, 1, NULL, 0};

    return jx_selects(&only, code);
}

/* Marks what accepts the finding. */
static bool accept(comment *at, const jx_finding *finding)
{
    bool found = false;

    for (size_t i = 0; at && i < at->codes.count; i++)
        if (accepts(at->codes.at[i].text, finding->code))
            at->codes.at[i].used = found = true;
    return found;
}

enum { MAX_LINES = 100 }; /* of one expression: more are not looked at */

static bool is_suppressed(jx_suppressions *in, const jx_finding *finding)
{
    const jx_spot *where = &finding->where;
    int last = where->end_line > where->line ? where->end_line : where->line;
    bool found = false;

    if (!where->file || !where->line)
        return false;
    if (last > where->line + MAX_LINES)
        last = where->line + MAX_LINES;
    for (int line = where->line; line <= last; line++)
        found |= accept(comment_at(in, where->file, line), finding);
    return found;
}

void jx_suppress(jx_suppressions *in, jx_report *report)
{
    size_t kept = 0;

    for (size_t i = 0; i < report->findings.count; i++) {
        if (is_suppressed(in, &report->findings.at[i]))
            report->suppressed++;
        else
            report->findings.at[kept++] = report->findings.at[i];
    }
    report->findings.count = kept;
}

/* Whether this run could have found something for it to suppress.  What is
 * found of rules depends on points tried, and exported files hold none. */
static bool was_looked_for(const jx_suppressions *in, const char *text)
{
    bool known = false;

    for (int code = 1; code < JX_NCODES; code++) {
        if (!accepts(text, (jx_code)code))
            continue;
        known = true;
        if (!jx_code_is_of_rules((jx_code)code) &&
            jx_selects(in->selection, (jx_code)code))
            return true;
    }
    return !known; /* a code that does not exist */
}

static bool add_unused(jx_suppressions *in, jx_report *to, const comment *at,
                       const char *text)
{
    jx_arena *arena = in->keep->arena;
    jx_finding finding = {
        .code = JX_CODE_SUP001,
        .level = jx_code_of(JX_CODE_SUP001)->level,
        .verdict = JX_WITNESSED,
        .evidence = "proof",
        .count = 1,
        .where = {.file = at->file,
                  .line = at->line,
                  .column = at->column,
                  .source = at->source},
        .help = "remove it from the comment",
    };
    bool known = false;

    for (int code = 1; code < JX_NCODES; code++)
        known |= accepts(text, (jx_code)code);
    finding.message = jx_arena_printf(
        arena,
        known ? "nothing here is %s: the comment suppresses nothing"
              : "there is no code %s for the comment to suppress",
        text);
    JX_PUSH(arena, &to->findings, finding);
    to->claims.witnessed++;
    return jx_report_finish(in->keep, to);
}

bool jx_suppressions_unused(jx_suppressions *in, jx_report *reports, int count)
{
    bool selected = jx_selects(in->selection, JX_CODE_SUP001);

    for (size_t i = 0; selected && i < in->list.count; i++) {
        const comment *at = in->list.at[i];
        for (size_t k = 0; k < at->codes.count; k++) {
            const accepted *code = &at->codes.at[k];
            if (!code->used && was_looked_for(in, code->text) &&
                at->program < count &&
                !add_unused(in, &reports[at->program], at, code->text))
                return false;
        }
    }
    return jx_ok(in->keep);
}
