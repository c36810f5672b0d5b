/* report.c - from claims to findings. */
#include "reports/pipeline/report.h"
#include "frontend/base/assert.h"
#include "frontend/base/sha256.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/params.h"
#include "frontend/ir/passage.h"

#include <stdlib.h>
#include <string.h>

typedef struct maker {
    jx_ctx *keep; /* of the report */
    jx_report *to;
    const jx_program *program;
} maker;

const char *jx_level_text(jx_level level)
{
    return level == JX_ERROR     ? "error"
           : level == JX_WARNING ? "warning"
                                 : "note";
}

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool names(const char *const *list, int count, jx_code code)
{
    const jx_code_info *info = jx_code_of(code);

    for (int i = 0; i < count; i++)
        if (begins(info->id, list[i]) || strcmp(info->name, list[i]) == 0)
            return true;
    return false;
}

/* By its whole id or name. */
static bool is_named(const jx_selection *selection, jx_code code)
{
    const jx_code_info *info = jx_code_of(code);

    for (int i = 0; i < selection->nselect; i++)
        if (!strcmp(info->id, selection->select[i]) ||
            !strcmp(info->name, selection->select[i]))
            return true;
    return false;
}

bool jx_selects(const jx_selection *selection, jx_code code)
{
    if (jx_code_is_asked_for(code) && !(selection && is_named(selection, code)))
        return false;
    if (!selection)
        return true;
    return (!selection->nselect ||
            names(selection->select, selection->nselect, code)) &&
           !names(selection->ignore, selection->nignore, code);
}

/* Text of the report's own. */

static const char *copy(maker *m, const char *text)
{
    return text ? jx_arena_string(m->keep->arena, text, strlen(text)) : NULL;
}

/* Places. */

/* No source has as many lines, or bytes in a line: what an input says beyond
 * is not known, so that nobody who counts from it overflows. */
enum { MOST = 1 << 30 };

static bool is_known(int number, int least)
{
    return number >= least && number <= MOST;
}

/* Python counts columns in bytes of UTF-8 from 0; we in characters from 1. */
static int column_of(const char *line, int bytes)
{
    int count = 1;

    if (!line)
        return bytes + 1;
    for (int i = 0; i < bytes && line[i]; i++)
        count += ((unsigned char)line[i] & 0xc0) != 0x80;
    return count;
}

/* Where it lies, with texts of the program's own. */
static jx_spot spot_in(const jx_frame *frame)
{
    jx_spot spot = {
        .file = frame->file->path,
        .function = frame->function,
        .line = is_known(frame->line, 1) ? frame->line : 0,
        .kind = frame->file->kind,
        .source = jx_file_line(frame->file, frame->line),
    };

    if (is_known(frame->column, 0))
        spot.column = column_of(spot.source, frame->column);
    if (spot.line && is_known(frame->end_line, frame->line) &&
        is_known(frame->end_column, 0)) {
        spot.end_line = frame->end_line;
        spot.end_column = column_of(jx_file_line(frame->file, frame->end_line),
                                    frame->end_column);
    }
    return spot;
}

static jx_spot spot_of(maker *m, const jx_frame *frame)
{
    jx_spot spot = spot_in(frame);

    spot.file = copy(m, spot.file);
    spot.function = copy(m, spot.function);
    spot.source = copy(m, spot.source);
    return spot;
}

static bool is_after(int line, int column, int of_line, int of_column)
{
    return line != of_line ? line > of_line : column > of_column;
}

bool jx_spot_is_within(const jx_spot *spot, const jx_frame *frame)
{
    jx_spot of = spot_in(frame);

    if (!spot->file || strcmp(spot->file, of.file) != 0)
        return false;
    if (!spot->column || !spot->end_line || !of.column || !of.end_line)
        return spot->line == of.line;
    return !is_after(of.line, of.column, spot->line, spot->column) &&
           !is_after(spot->end_line, spot->end_column, of.end_line,
                     of.end_column);
}

typedef JX_VEC(const jx_frame *) frame_list;

static void add_frames(maker *m, frame_list *to, const jx_stack *stack)
{
    for (int i = 0; stack && i < stack->count; i++)
        if (stack->frames[i]->file->kind != JX_FILE_JAX)
            JX_PUSH(m->keep->arena, to, stack->frames[i]);
}

/* The frames outside JAX that lead to a claim, innermost first.  Stacks inside
 * a call begin at its body, so they follow one another.  An equation within
 * one of JAX's own functions has none, and the line that called it is shown. */
static frame_list frames_of(maker *m, const jx_claim *claim)
{
    frame_list frames = {0};

    if (claim->stack) {
        add_frames(m, &frames, claim->stack);
        return frames;
    }
    if (claim->eqn)
        add_frames(m, &frames, claim->eqn->stack);
    for (const jx_calls *call = claim->calls; call; call = call->outer)
        add_frames(m, &frames, call->eqn->stack);
    return frames;
}

/* A function of JAX's that runs for itself, or what it makes of an operation
 * that is not in a jit and not alone on its device: a shard_map. */
static bool is_of_jax(const jx_program *program, const jx_claim *claim)
{
    const jx_jaxpr *jaxpr = claim->jaxpr ? claim->jaxpr : program->entry.jaxpr;
    const jx_eqn *eqn = jaxpr && jaxpr->neqns == 1 ? &jaxpr->eqns[0] : NULL;

    return jx_is_of_jax(jaxpr) ||
           (eqn && eqn->prim->id == JX_PRIM_shard_map && eqn->typed &&
            jx_is_of_jax(((const jx_p_shard_map *)eqn->typed)->jaxpr.jaxpr));
}

/* Without a line outside of JAX there is no place, but perhaps
 * somebody else's. */
static void place(maker *m, const jx_claim *claim, jx_finding *finding)
{
    frame_list frames = frames_of(m, claim);
    jx_spot *calls;

    if (!frames.count) {
        finding->where.kind =
            is_of_jax(m->program, claim) ? JX_FILE_JAX : JX_FILE_USER;
        return;
    }
    finding->where = spot_of(m, frames.at[0]);
    calls = JX_NEW_ARRAY(m->keep->arena, frames.count, jx_spot);
    for (size_t i = 1; calls && i < frames.count; i++)
        calls[i - 1] = spot_of(m, frames.at[i]);
    finding->ncalls = calls ? (int)frames.count - 1 : 0;
    finding->calls = calls;
}

/* Equations: types alone, since names of variables are the printer's. */

void jx_eqn_summary(const jx_eqn *eqn, jx_buffer *to)
{
    jx_utf8_show(jx_eqn_name(eqn), to);
    for (int i = 0; i < eqn->nins; i++) {
        jx_buffer_putc(to, ' ');
        jx_aval_print(jx_atom_aval(eqn->ins[i]), to);
    }
    jx_buffer_puts(to, " ->");
    for (int i = 0; i < eqn->nouts; i++) {
        jx_buffer_putc(to, ' ');
        jx_aval_print(eqn->outs[i]->aval, to);
    }
}

/* Messages. */

static void put_dim(jx_buffer *to, const jx_dim *dim)
{
    jx_buffer_putc(to, '`');
    if (dim)
        jx_dim_print(dim, to);
    jx_buffer_putc(to, '`');
}

static void put_sizes(jx_buffer *to, const jx_evidence *evidence)
{
    for (int i = 0; i < evidence->nbindings; i++)
        jx_buffer_printf(to, "%s%s = %lld", i ? ", " : "",
                         evidence->bindings[i].var->name,
                         (long long)evidence->bindings[i].value);
}

/* " when b = 1 (2 and 3)", if there is a counterexample. */
static void put_when(jx_buffer *to, const jx_evidence *evidence, bool sides)
{
    if (!evidence->nbindings)
        return;
    jx_buffer_puts(to, " when ");
    put_sizes(to, evidence);
    if (sides)
        jx_buffer_printf(to, " (%lld and %lld)", (long long)evidence->lhs,
                         (long long)evidence->rhs);
}

static void put_decided(jx_buffer *to, const jx_claim *claim)
{
    const jx_comparison *c = claim->goal.comparison;
    bool yes = c->decision == JX_DECIDED_TRUE;

    jx_buffer_puts(to, "while tracing, `");
    jx_dim_print(c->lhs, to);
    jx_buffer_printf(to, " %s ", c->op);
    jx_dim_print(c->rhs, to);
    jx_buffer_printf(to, "` was taken to be %s", yes ? "true" : "false");
    if (claim->verdict != JX_REFUTED)
        return;
    jx_buffer_printf(to, ", but it is %s", yes ? "false" : "true");
    put_when(to, &claim->evidence, false);
}

static void put_unanswered(jx_buffer *to, const jx_claim *claim)
{
    const jx_comparison *c = claim->goal.comparison;

    jx_buffer_puts(to, "while tracing, JAX could not decide `");
    jx_dim_print(c->lhs, to);
    jx_buffer_printf(to, " %s ", c->op);
    jx_dim_print(c->rhs, to);
    jx_buffer_puts(to, "`, and the program went on without the answer");
}

/* A number that is a limit: `b*n` passes 2147483647 when ... */
static bool put_passed(jx_buffer *to, const jx_claim *claim)
{
    int64_t limit, value;

    if (claim->goal.kind != JX_GOAL_GE || !claim->goal.lhs ||
        !jx_dim_is_int(claim->goal.lhs, &limit) || !claim->goal.rhs ||
        jx_dim_is_int(claim->goal.rhs, &value))
        return false;
    put_dim(to, claim->goal.rhs);
    jx_buffer_printf(to, " passes %lld", (long long)limit);
    put_when(to, &claim->evidence, false);
    if (claim->evidence.nbindings)
        jx_buffer_printf(to, " (%lld)", (long long)claim->evidence.rhs);
    return true;
}

/* What a refuted goal looks like: `a` and `b` differ. */
static void put_refuted(jx_buffer *to, const jx_claim *claim)
{
    const jx_goal *goal = &claim->goal;
    const jx_evidence *evidence = &claim->evidence;

    if (put_passed(to, claim))
        return;
    put_dim(to, goal->lhs);
    switch (goal->kind) {
    case JX_GOAL_EQ:
        jx_buffer_puts(to, " and ");
        put_dim(to, goal->rhs);
        jx_buffer_puts(to, " differ");
        break;
    case JX_GOAL_DIVIDES:
        jx_buffer_puts(to, " does not divide ");
        put_dim(to, goal->rhs);
        break;
    case JX_GOAL_NE:
        jx_buffer_puts(to, " is ");
        put_dim(to, goal->rhs);
        break;
    default:
        jx_buffer_puts(to, goal->kind == JX_GOAL_GE ? " is less than "
                                                    : " is not greater than ");
        put_dim(to, goal->rhs);
    }
    put_when(to, evidence, goal->kind != JX_GOAL_NE);
}

static void put_wanted(jx_buffer *to, const jx_goal *goal)
{
    static const char *const signs[] = {
        [JX_GOAL_EQ] = "==", [JX_GOAL_NE] = "!=",           [JX_GOAL_GE] = ">=",
        [JX_GOAL_GT] = ">",  [JX_GOAL_DIVIDES] = "divides",
    };

    put_dim(to, goal->lhs);
    jx_buffer_printf(to, " %s ", signs[goal->kind]);
    put_dim(to, goal->rhs);
}

static const char *message_of(maker *m, const jx_claim *claim)
{
    const char *what = claim->what;
    jx_buffer text = jx_ctx_text(m->keep);

    switch (claim->goal.kind) {
    case JX_GOAL_DECIDED: put_decided(&text, claim); break;
    case JX_GOAL_ANSWER: put_unanswered(&text, claim); break;
    case JX_GOAL_EQ:
    case JX_GOAL_NE:
    case JX_GOAL_GE:
    case JX_GOAL_GT:
    case JX_GOAL_DIVIDES:
        if (what)
            jx_buffer_printf(&text, "%s: ", what);
        if (claim->verdict == JX_REFUTED)
            put_refuted(&text, claim);
        else
            put_wanted(&text, &claim->goal);
        break;
    default:
        jx_buffer_puts(&text, what ? what : jx_code_of(claim->code)->summary);
    }
    return jx_arena_take(m->keep->arena, &text);
}

/* How a verdict was reached, in the words of the JSON format. */
static const char *evidence_of(const jx_claim *claim)
{
    const char *by = claim->evidence.by;

    if (claim->verdict == JX_REFUTED)
        return claim->evidence.nbindings ? "counterexample" : "proof";
    if (claim->verdict == JX_POSSIBLE || (by && strcmp(by, "pattern") == 0))
        return "heuristic";
    return by && strcmp(by, "data flow") == 0 ? "proof" : "execution";
}

static void copy_sizes(maker *m, const jx_claim *claim, jx_finding *finding)
{
    const jx_evidence *evidence = &claim->evidence;
    jx_size *sizes = JX_NEW_ARRAY(m->keep->arena, evidence->nbindings, jx_size);

    for (int i = 0; sizes && i < evidence->nbindings; i++)
        sizes[i] = (jx_size){copy(m, evidence->bindings[i].var->name),
                             (int64_t)evidence->bindings[i].value};
    finding->nsizes = sizes ? evidence->nbindings : 0;
    finding->sizes = sizes;
}

/* Fingerprints: what stays when lines move.  SHA-256 over the rule, the line's
 * text without its spacing (only if the input embeds it: the disk may have
 * moved on), the function, the equation with dim variables numbered, and which
 * of the equals it is (jx_report_finish); of a file as a whole its path. */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

static bool is_operation(const char *name, size_t length)
{
    static const char *const known[] = {"floordiv", "mod", "max", "min"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == length && !strncmp(known[i], name, length))
            return true;
    return false;
}

/* Numbers variables in order of appearance; `seen` holds their names, each
 * followed by a space. */
static int variable_number(jx_buffer *seen, const char *name, size_t length)
{
    int number = 0;

    for (const char *at = jx_buffer_text(seen); *at; number++) {
        size_t n = strcspn(at, " ");
        if (n == length && strncmp(at, name, n) == 0)
            return number;
        at += n + 1;
    }
    jx_buffer_bytes(seen, name, length);
    jx_buffer_putc(seen, ' ');
    return number;
}

/* The equation with dim variables d0, d1, ...: renaming them
 * changes nothing. */
static void put_canonical(jx_buffer *to, const char *equation)
{
    jx_buffer seen = {.budget = to->budget};
    int depth = 0;

    for (const char *at = equation; *at;) {
        size_t n = 0;
        while (is_name(at[n]))
            n++;
        depth += *at == '[';
        depth -= *at == ']';
        if (n && depth > 0 && (*at < '0' || *at > '9') && !is_operation(at, n))
            jx_buffer_printf(to, "d%d", variable_number(&seen, at, n));
        else
            jx_buffer_bytes(to, at, n ? n : 1);
        at += n ? n : 1;
    }
    jx_buffer_free(&seen);
}

/* Runs of spaces become one, none at the ends. */
static void put_normalized(jx_buffer *to, const char *line)
{
    bool gap = false, any = false;

    for (; *line; line++) {
        if (*line == ' ' || *line == '\t') {
            gap = true;
            continue;
        }
        if (gap && any)
            jx_buffer_putc(to, ' ');
        jx_buffer_putc(to, *line);
        gap = false;
        any = true;
    }
}

static void fingerprint(jx_ctx *keep, jx_finding *finding, const char *path,
                        int ordinal)
{
    jx_buffer text = jx_ctx_text(keep);

    jx_buffer_printf(&text, "%s|", jx_code_of(finding->code)->id);
    if (finding->where.source)
        put_normalized(&text, finding->where.source);
    jx_buffer_printf(&text, "|%s|",
                     finding->where.function ? finding->where.function : "");
    put_canonical(&text, finding->equation ? finding->equation : "");
    jx_buffer_printf(&text, "|%d", ordinal);
    /* What is said of a file as a whole is another thing in each. */
    if (!finding->where.file && !finding->equation && path)
        jx_buffer_printf(&text, "|%s", path);
    jx_sha256(jx_buffer_text(&text), text.length, finding->fingerprint);
    jx_buffer_free(&text);
}

/* Claims. */

/* What to do, a line each. */
static const char *help_of(maker *m, const jx_claim *claim)
{
    const char *advice = claim->evidence.advice;

    if (!advice || !claim->help)
        return copy(m, advice ? advice : claim->help);
    return jx_arena_printf(m->keep->arena, "%s\n%s", advice, claim->help);
}

static const jx_fix *copy_fix(maker *m, const jx_fix *from)
{
    jx_fix *to = from ? JX_NEW(m->keep->arena, jx_fix) : NULL;
    jx_fixed_line *lines =
        to ? JX_NEW_ARRAY(m->keep->arena, from->nlines, jx_fixed_line) : NULL;

    for (int i = 0; lines && i < from->nlines; i++)
        lines[i] = (jx_fixed_line){
            copy(m, from->lines[i].file), from->lines[i].line,
            copy(m, from->lines[i].was), copy(m, from->lines[i].is)};
    if (!lines)
        return NULL;
    *to = (jx_fix){copy(m, from->says), from->quiet, from->nlines, lines};
    return to;
}

/* Those that have a line, which is another one. */
static void copy_consequences(maker *m, const jx_evidence *evidence,
                              jx_finding *to)
{
    jx_then *then = JX_NEW_ARRAY(m->keep->arena, evidence->nthen, jx_then);

    for (int i = 0; then && i < evidence->nthen; i++) {
        frame_list frames = {0};
        jx_then *at = &then[to->nthen];
        add_frames(m, &frames, evidence->then[i].stack);
        if (!frames.count)
            continue;
        *at = (jx_then){copy(m, evidence->then[i].what),
                        spot_of(m, frames.at[0])};
        to->nthen += at->where.line != to->where.line || !to->where.file ||
                     strcmp(at->where.file, to->where.file) != 0;
    }
    to->then = then;
}

static jx_finding finding_of(maker *m, const jx_claim *claim, int order)
{
    jx_finding finding = {
        .code = claim->code,
        .level = claim->level,
        .verdict = claim->verdict,
        .order = order,
        .count = 1,
        .evidence = evidence_of(claim),
        .by = copy(m, claim->evidence.by),
        .note = copy(m, claim->evidence.note),
        .help = help_of(m, claim),
        .suggestion = copy(m, claim->evidence.suggestion),
        .safe = copy(m, claim->evidence.safe),
        .width = claim->evidence.width,
        .witness = copy(m, claim->evidence.witness),
        .fix = copy_fix(m, claim->evidence.fix),
        .shown = copy(m, claim->evidence.shown),
    };
    jx_buffer equation = jx_ctx_text(m->keep);

    place(m, claim, &finding);
    copy_sizes(m, claim, &finding);
    copy_consequences(m, &claim->evidence, &finding);
    finding.message = message_of(m, claim);
    if (claim->eqn) {
        jx_eqn_summary(claim->eqn, &equation);
        finding.equation = jx_arena_take(m->keep->arena, &equation);
    }
    return finding;
}

static void add_undecided(maker *m, const jx_claim *claim, int order)
{
    jx_finding finding;

    if (claim->class != JX_OBLIGATION)
        return;
    m->to->claims.undecided++;
    finding = finding_of(m, claim, order);
    finding.why = copy(m, claim->evidence.why);
    if (!finding.why)
        finding.why = "nothing has decided it";
    JX_PUSH(m->keep->arena, &m->to->undecided, finding);
}

static void add_claim(maker *m, const jx_claim *claim, int order)
{
    jx_counts *counts = &m->to->claims;

    switch (claim->verdict) {
    case JX_PROVED: counts->proved++; return;
    case JX_UNDECIDED: add_undecided(m, claim, order); return;
    case JX_REFUTED: counts->refuted++; break;
    case JX_WITNESSED: counts->witnessed++; break;
    case JX_POSSIBLE: break;
    }
    JX_PUSH(m->keep->arena, &m->to->findings, finding_of(m, claim, order));
}

static int64_t counted(const jx_counts *counts)
{
    return counts->proved + counts->refuted + counts->witnessed +
           counts->undecided;
}

bool jx_report_claims(jx_ctx *keep, jx_report *to, const jx_program *program,
                      const jx_claim_list *claims,
                      const jx_selection *selection)
{
    maker m = {keep, to, program};
    int64_t before = counted(&to->claims), selected = 0;

    for (size_t i = 0; i < claims->count; i++)
        if (jx_selects(selection, claims->at[i]->code)) {
            add_claim(&m, claims->at[i], (int)i);
            selected++;
        }
    /* What is undecided and no obligation is not said. */
    JX_ASSERT(counted(&to->claims) <= before + selected);
    return jx_ok(keep);
}

/* Order and grouping. */

static int compare_text(const char *a, const char *b)
{
    return a == b ? 0 : !a ? 1 : !b ? -1 : strcmp(a, b);
}

static int compare_int(int a, int b)
{
    return (a > b) - (a < b);
}

/* By place, code and message: equal when the text of both would be. */
static int compare_shown(const jx_finding *a, const jx_finding *b)
{
    int c = compare_text(a->where.file, b->where.file);

    c = c ? c : compare_int(a->where.line, b->where.line);
    c = c ? c : compare_int(a->where.column, b->where.column);
    c = c ? c : strcmp(jx_code_of(a->code)->id, jx_code_of(b->code)->id);
    c = c ? c : compare_text(a->message, b->message);
    return c ? c : compare_text(a->why, b->why);
}

static int compare_findings(const void *a_, const void *b_)
{
    const jx_finding *a = a_, *b = b_;
    int c = compare_shown(a, b);

    return c ? c : compare_int(a->order, b->order);
}

static void join_equals(jx_findings *list)
{
    size_t kept = 0;

    if (!list->count)
        return;
    qsort(list->at, list->count, sizeof *list->at, compare_findings);
    for (size_t i = 1; i < list->count; i++) {
        if (compare_shown(&list->at[kept], &list->at[i]) == 0)
            list->at[kept].count += list->at[i].count;
        else
            list->at[++kept] = list->at[i];
    }
    list->count = kept + 1;
}

/* How many findings so far would share a fingerprint. */
typedef struct shared {
    char fingerprint[65];
    int count;
} shared;

static bool same_print(const void *kept, const void *key)
{
    return strcmp(((const shared *)kept)->fingerprint, key) == 0;
}

static shared *sharing(jx_ctx *keep, jx_intern *seen, const char *print)
{
    uint64_t hash = jx_hash_bytes(print, 64);
    const void *kept = jx_intern_find(seen, hash, print, same_print);
    shared *made;

    if (kept)
        return (shared *)(uintptr_t)kept; /* ours, not const */
    made = JX_NEW(keep->arena, shared);
    if (!made)
        return NULL;
    memcpy(made->fingerprint, print, sizeof made->fingerprint);
    return jx_intern_add(seen, hash, made) ? made : NULL;
}

/* Gives each finding a fingerprint of its own: the first of several that would
 * share one has ordinal 0, in the order of the report. */
static bool number_equals(jx_ctx *keep, jx_findings *list, const char *path)
{
    jx_intern seen;

    jx_intern_init(&seen, keep->arena);
    for (size_t i = 0; i < list->count; i++) {
        shared *equals;

        fingerprint(keep, &list->at[i], path, 0);
        equals = sharing(keep, &seen, list->at[i].fingerprint);
        if (!equals)
            return false;
        if (equals->count)
            fingerprint(keep, &list->at[i], path, equals->count);
        equals->count++;
    }
    return jx_ok(keep);
}

bool jx_report_finish(jx_ctx *keep, jx_report *report)
{
    join_equals(&report->findings);
    join_equals(&report->undecided);
    return number_equals(keep, &report->findings, report->path) && jx_ok(keep);
}

const char *jx_report_status(const jx_report *report)
{
    if (report->unreadable.kind != JX_E_NONE)
        return "unreadable";
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.at[i].level >= JX_WARNING)
            return "findings";
    return report->claims.undecided ? "undecided" : "ok";
}
