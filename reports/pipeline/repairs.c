/* repairs.c - see repairs.h. */
#include "reports/pipeline/repairs.h"

#include "analyzer/transform/inline.h"
#include "analyzer/transform/refine.h"
#include "analyzer/transform/vjp.h"
#include "analyzer/transform/xla.h"
#include "analyzer/typing.h"
#include "analyzer/values/values.h"
#include "frontend/ir/params.h"
#include "reports/pipeline/repair_ways.h"
#include "runtime/fits.h"

#include <limits.h>
#include <string.h>

/* Limits of what is tried for one program. */
enum {
    MOST_REPAIRS = 16,
    MOST_TRIED = 96,
    MOST_ROUNDS = 5,
    MOST_SHOWN = 4,
    MOST_BEHIND = 4,
    MOST_AROUND = 8
};

/* What a search has shown, in the program or in its derivative backwards. */
typedef struct shown {
    const jx_witness *witness;
    const jx_witness_options *options;
    jx_repair_of of;
} shown;

/* A repair, and what it has to make go away. */
typedef struct made {
    jx_repair repair;
    int nshown;
    shown shown[MOST_SHOWN];
    int owner;       /* the witness that it is told with, ... */
    jx_repair_of of; /* ... of that search */
} made;

/* What became of the witnesses of a search. */
typedef struct told {
    int count;
    int *by;    /* per witness: 1 + the repair that made it go away; 0: none */
    bool quiet; /* with all repairs nothing was found */
} told;

struct jx_repairs {
    jx_program *program; /* without calls */
    jx_origins origins;
    jx_repair_site site;
    jx_repair_jaxprs walk;
    int count;
    made made[MOST_REPAIRS];
    told told[JX_REPAIR_OF]; /* per search */
    jx_repair_of of;         /* this search, and the options of all */
    const jx_witness_options *options[JX_REPAIR_OF];
    int tried;
};

static jx_arena *arena_of(const jx_repairs *r)
{
    return r->program->ctx->arena;
}

/* Of all quotients, those whose divisors are known not to be below 0; of all
 * choices those that a user wrote. */
static bool look(jx_repairs *r)
{
    const jx_extents *extents = jx_program_extents(r->program, JX_XLA);
    JX_VEC(const jx_eqn *) positive = {0};

    if (!extents)
        return false;
    for (size_t i = 0; i < extents->questions.count; i++)
        if (extents->questions.at[i].what == JX_ASKED_NOT_BELOW &&
            extents->questions.at[i].holds)
            JX_PUSH(arena_of(r), &positive, extents->questions.at[i].eqn);
    r->site.positive = positive.at;
    r->site.npositive = (int)positive.count;
    return jx_ok(r->program->ctx);
}

static bool find_choices(jx_repairs *r)
{
    JX_VEC(const jx_eqn *) choices = {0};

    for (int n = 0; n < r->walk.count; n++)
        for (int i = 0; i < r->walk.at[n]->neqns; i++)
            if (r->walk.at[n]->eqns[i].prim->id == JX_PRIM_select_n &&
                r->walk.at[n]->eqns[i].nins == 3)
                JX_PUSH(arena_of(r), &choices, &r->walk.at[n]->eqns[i]);
    r->site.chosen = choices.at;
    r->site.nchosen = (int)choices.count;
    return jx_ok(r->program->ctx);
}

/* Each jaxpr that the program runs, once, in the order in
 * which they are met. */
static bool find_jaxprs(jx_repairs *r)
{
    bool *met = JX_NEW_ARRAY(arena_of(r), r->program->njaxprs + 1, bool);
    const jx_jaxpr **at =
        JX_NEW_ARRAY(arena_of(r), r->program->njaxprs + 1, const jx_jaxpr *);

    if (!met || !at)
        return false;
    at[r->walk.count++] = r->program->entry.jaxpr;
    met[r->program->entry.jaxpr->id] = true;
    for (int n = 0; n < r->walk.count; n++)
        for (int i = 0; i < at[n]->neqns; i++)
            for (int k = 0; k < jx_bodies_of(&at[n]->eqns[i]); k++) {
                const jx_jaxpr *body = jx_body_of(&at[n]->eqns[i], k)->jaxpr;
                if (body && !met[body->id]) {
                    met[body->id] = true;
                    at[r->walk.count++] = body;
                }
            }
    r->walk.at = at;
    return true;
}

jx_repairs *jx_repairs_new(jx_program *program)
{
    jx_repairs *r = JX_NEW(program->ctx->arena, jx_repairs);

    if (!r)
        return NULL;
    r->program = program;
    r->site = (jx_repair_site){
        .program = program, .origins = &r->origins, .walk = &r->walk};
    return jx_origins_make(&r->origins, program) && find_jaxprs(r) &&
                   find_choices(r) && look(r)
               ? r
               : NULL;
}

/* -- the program with all repairs ------------------------------------------ */

static jx_program *edited(jx_repairs *r)
{
    JX_VEC(jx_edit) edits = {0};

    for (int i = 0; i < r->count; i++)
        for (size_t k = 0; k < r->made[i].repair.edits.count; k++)
            JX_PUSH(arena_of(r), &edits, r->made[i].repair.edits.at[k]);
    return jx_program_edit(r->program, (int)edits.count, edits.at);
}

static const jx_typed *changed(jx_repairs *r, jx_repair_of of)
{
    const jx_typed *typed;
    jx_program *program = edited(r);

    if (program && of == JX_REPAIR_COMPILED) {
        bool matters;
        program = jx_program_as_xla(program, &matters);
    }
    if (program && of == JX_REPAIR_BACKWARD) {
        typed = jx_typed_of(program);
        program = typed ? jx_program_vjp(typed) : NULL;
        program = program ? jx_program_inline(program) : NULL;
    }
    program = program ? jx_program_refine(program, NULL, 0, NULL) : NULL;
    return program ? jx_program_fits(program, false, 0, NULL) : NULL;
}

/* Whether what the repair has to make go away is gone, with all others made. */
static bool is_gone(jx_repairs *r, const made *of)
{
    const jx_typed *typed[JX_REPAIR_OF] = {NULL};
    jx_standing is = JX_GONE;

    r->tried++;
    for (int i = 0; i < of->nshown && is == JX_GONE; i++) {
        const shown *s = &of->shown[i];
        if (!typed[s->of])
            typed[s->of] = changed(r, s->of);
        is = typed[s->of]
                 ? jx_witness_stands(typed[s->of], s->options, s->witness)
                 : JX_NOT_RUN;
    }
    jx_error_clear(r->program->ctx);
    return is == JX_GONE;
}

static shown shown_by(const jx_repairs *r, const jx_witness *w)
{
    return (shown){w, r->options[r->of], r->of};
}

/* -- ways ------------------------------------------------------------------ */

/* The repair that was made for that expression. */
static made *made_at(jx_repairs *r, const jx_frame *frame)
{
    for (int i = 0; i < r->count; i++)
        if (jx_frame_same(r->made[i].repair.in->frame, frame))
            return &r->made[i];
    return NULL;
}

static made *made_on_line(jx_repairs *r, const jx_frame *frame)
{
    for (int i = 0; i < r->count; i++) {
        const jx_frame *at = r->made[i].repair.in->frame;
        if (at->line == frame->line &&
            strcmp(at->file->path, frame->file->path) == 0)
            return &r->made[i];
    }
    return NULL;
}

/* The repair from where it stands on, until one helps. */
static bool settle(jx_repairs *r, made *of, bool any)
{
    for (; any && r->tried < MOST_TRIED && jx_ctx_lasts(r->program->ctx);
         any = jx_repair_next(&r->site, &of->repair))
        if (is_gone(r, of))
            return true;
    return false;
}

static bool repair_expression(jx_repairs *r, const jx_frame *frame,
                              bool same_alone, const jx_witness *w, int owner)
{
    jx_passage *in = JX_NEW(arena_of(r), jx_passage);
    made *of = &r->made[r->count];

    if (!in || r->count == MOST_REPAIRS || frame->file->kind != JX_FILE_USER ||
        !jx_passage_of(arena_of(r), frame, in))
        return false;
    *of = (made){.repair = {.in = in,
                            .masked = w->code == JX_CODE_NUM002,
                            .same_alone = same_alone},
                 .of = r->of,
                 .nshown = 1,
                 .shown = {shown_by(r, w)},
                 .owner = owner};
    r->count++;
    if (settle(r, of, jx_repair_first(&r->site, &of->repair)))
        return true;
    r->count--;
    return false;
}

/* The whole of which it is a part, if that can be computed
 * otherwise; else itself. */
static bool repair_around(jx_repairs *r, const jx_frame *frame,
                          const jx_witness *w, int owner)
{
    const jx_frame *around[MOST_AROUND];
    int count = jx_enclosing_frames(&r->site, frame, MOST_AROUND, around);

    for (int i = 0; i < count; i++)
        if (!made_at(r, around[i]) &&
            repair_expression(r, around[i], true, w, owner))
            return true;
    return repair_expression(r, frame, false, w, owner);
}

/* What overflows may do so for an exponential that it is made of. */
static bool repair_behind(jx_repairs *r, const jx_origins *of,
                          const jx_witness *w, int owner)
{
    jx_origin_walk walk;
    const jx_origin *at;
    const jx_frame *last = NULL;
    int left = MOST_BEHIND;

    jx_origin_walk_from(&walk, of, w->made.eqn->nins, w->made.eqn->ins);
    while (left && (at = jx_origin_walk_on(&walk))) {
        const jx_frame *frame =
            at->eqn ? jx_user_frame(jx_origin_stack(of, at->eqn)) : NULL;
        if (!frame || frame == last ||
            (at->eqn->prim->id != JX_PRIM_exp &&
             at->eqn->prim->id != JX_PRIM_exp2))
            continue;
        last = frame;
        left--;
        if (repair_around(r, frame, w, owner))
            return true;
    }
    return false;
}

static bool is_of_numbers(const jx_witness *w)
{
    return w->made.eqn && !w->misuse.eqn && w->code != JX_CODE_NUM005;
}

/* Infinities that meet may be numbers: those that a choice behind takes. */
static bool repair_infinity(jx_repairs *r, const jx_origins *of,
                            const jx_witness *w, int owner)
{
    jx_origin_walk walk;
    const jx_origin *at;
    int left = MOST_BEHIND;

    jx_origin_walk_from(&walk, of, w->made.eqn->nins, w->made.eqn->ins);
    while (left && r->count < MOST_REPAIRS && (at = jx_origin_walk_on(&walk))) {
        const jx_frame *frame =
            at->eqn ? jx_user_frame(jx_origin_stack(of, at->eqn)) : NULL;
        jx_passage *in = JX_NEW(arena_of(r), jx_passage);
        made *to = &r->made[r->count];
        if (!in || !frame || at->eqn->prim->id != JX_PRIM_select_n ||
            frame->file->kind != JX_FILE_USER ||
            !jx_passage_of(arena_of(r), frame, in))
            continue;
        left--;
        *to = (made){.repair = {.in = in, .way = INT_MAX},
                     .of = r->of,
                     .nshown = 1,
                     .shown = {shown_by(r, w)},
                     .owner = owner};
        r->count++;
        if (jx_repair_infinity(&r->site, &to->repair, at->eqn) &&
            is_gone(r, to))
            return true;
        r->count--;
    }
    return false;
}

/* One that was not enough is made more of; else what the witness points
 * to is repaired. */
static bool repair_witness(jx_repairs *r, const jx_typed *typed,
                           const jx_witness *w, int owner)
{
    const jx_frame *frame = jx_user_frame(w->stack);
    jx_origins of;
    made *before = frame ? made_at(r, frame) : NULL;

    if (!frame || !jx_origins_make(&of, typed->program))
        return false;
    if (w->code == JX_CODE_NUM009 && typed->program == r->program)
        return repair_infinity(r, &of, w, owner);
    if (before && before->nshown < MOST_SHOWN) {
        before->shown[before->nshown++] = shown_by(r, w);
        if (is_gone(r, before) ||
            settle(r, before, jx_repair_next(&r->site, &before->repair)))
            return true;
    }
    return (!before && repair_around(r, frame, w, owner)) ||
           repair_behind(r, &of, w, owner);
}

/* -- rounds ---------------------------------------------------------------- */

/* Searches the program with all repairs, and repairs what is found then;
 * whether nothing was in the end. */
static bool search_again(jx_repairs *r)
{
    for (int round = 0; round < MOST_ROUNDS && r->count; round++) {
        const jx_typed *typed = changed(r, r->of);
        jx_witnesses found = {0};
        bool quiet = true;
        if (!typed || !jx_witness_search(typed, r->options[r->of], &found))
            return false;
        for (size_t i = 0; i < found.found.count; i++) {
            const jx_witness *w = &found.found.at[i];
            const jx_frame *frame = jx_user_frame(w->stack);
            const made *near = frame ? made_on_line(r, frame) : NULL;
            if (!is_of_numbers(w))
                continue;
            quiet = false;
            if (!repair_witness(r, typed, w,
                                near ? near->owner : r->made[0].owner))
                return false;
        }
        if (quiet)
            return true;
    }
    return false;
}

/* XLA may make another program of what is repaired, though it did not before:
 * it takes (1 - x) + 1e-12 for (1 + 1e-12) - x. */
static bool search_compiled(jx_repairs *r)
{
    jx_program *program = edited(r);
    jx_witness_options *options =
        jx_arena_copy(arena_of(r), r->options[r->of], sizeof *options);
    jx_repair_of before = r->of;
    bool matters = false, quiet;

    if (!program || !options || !jx_program_as_xla(program, &matters) ||
        !matters)
        return program && options;
    options->compiled = true;
    r->options[JX_REPAIR_COMPILED] = options;
    r->of = JX_REPAIR_COMPILED;
    quiet = search_again(r);
    r->of = before;
    return quiet;
}

bool jx_repairs_find(jx_repairs *r, const jx_typed *typed,
                     const jx_witness_options *options, jx_repair_of of,
                     const jx_witnesses *hunt)
{
    int n = (int)hunt->found.count, before = r->count;
    told *to = &r->told[of];

    r->options[of] = jx_arena_copy(arena_of(r), options, sizeof *options);
    r->of = of;
    r->tried = 0;
    *to = (told){.count = n, .by = JX_NEW_ARRAY(arena_of(r), n + 1, int)};
    if (!to->by || !r->options[of])
        return false;
    for (int i = 0; i < n; i++) {
        const jx_witness *w = &hunt->found.at[i];
        const jx_frame *frame = jx_user_frame(w->stack);
        made gone = {.nshown = 1, .shown = {shown_by(r, w)}};
        const made *by = frame ? made_on_line(r, frame) : NULL;
        if (!is_of_numbers(w) || !frame)
            continue;
        if (r->count && is_gone(r, &gone))
            to->by[i] = by ? 1 + (int)(by - r->made) : r->count;
        else if (repair_witness(r, typed, w, i))
            to->by[i] = by ? 1 + (int)(by - r->made) : r->count;
    }
    to->quiet = search_again(r);
    if (of == JX_REPAIR_WRITTEN && to->quiet && r->count)
        to->quiet = search_compiled(r) && search_again(r);
    /* What was quiet before has changed. */
    for (r->of = 0; r->count > before && r->of < of; r->of++)
        if (r->told[r->of].quiet)
            r->told[r->of].quiet = search_again(r);
    jx_error_clear(r->program->ctx);
    return jx_ok(r->program->ctx);
}

/* -- fixes ----------------------------------------------------------------- */

static bool same_line(const made *a, const made *b)
{
    const jx_frame *x = a->repair.in->frame, *y = b->repair.in->frame;

    return x->line == y->line && strcmp(x->file->path, y->file->path) == 0;
}

/* Belongs to the fix of that witness: made for it, or on a line
 * of one that is. */
static void mark_own(const jx_repairs *r, jx_repair_of of, int owner, bool *own)
{
    bool more = true;

    for (int i = 0; i < r->count; i++)
        own[i] = (r->made[i].owner == owner && r->made[i].of == of) ||
                 r->told[of].by[owner] == i + 1;
    while (more) {
        more = false;
        for (int i = 0; i < r->count; i++)
            for (int k = 0; k < r->count && !own[i]; k++)
                more |= own[i] = own[k] && same_line(&r->made[i], &r->made[k]);
    }
}

const jx_fix *jx_repairs_fix(const jx_repairs *r, jx_repair_of of, int witness)
{
    bool own[MOST_REPAIRS] = {false};
    jx_change changes[MOST_REPAIRS];
    jx_fix *fix;
    int count = 0;

    if (witness >= r->told[of].count || !r->told[of].by[witness])
        return NULL;
    fix = JX_NEW(arena_of(r), jx_fix);
    mark_own(r, of, witness, own);
    for (int i = 0; i < r->count; i++) {
        if (!own[i])
            continue;
        changes[count++] = r->made[i].repair.change;
        if (fix && (!fix->says || i + 1 == r->told[of].by[witness]))
            fix->says = r->made[i].repair.says;
    }
    if (!fix || !count)
        return NULL;
    fix->quiet = r->told[of].quiet;
    fix->lines = jx_fixed_lines(arena_of(r), count, changes, &fix->nlines);
    return fix->lines ? fix : NULL;
}
