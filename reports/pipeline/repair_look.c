/* repair_look.c - see repair_parts.h: what is written, and
 * what became of it. */
#include "reports/pipeline/repair_parts.h"

#include "frontend/base/map.h"

#include <string.h>

/* -- what is written ------------------------------------------------------- */

bool jx_word_among(const char *words, const char *text, jx_py_span span)
{
    size_t length = span.end - span.begin;

    for (const char *at = words; *at;) {
        size_t n = strcspn(at, " ");
        if (n == length && strncmp(at, text + span.begin, n) == 0)
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

bool jx_passage_operand(const jx_passage *in, const char *written, int number,
                        jx_py_span *to)
{
    jx_py_span left, right;
    jx_py_call call;

    if (jx_py_sides_of(in->text, in->span, "/", &left, &right)) {
        *to = number ? right : left;
        return jx_word_among(written, "/", (jx_py_span){0, 1});
    }
    if (jx_py_sides_of(in->text, in->span, "**", &left, &right)) {
        *to = number ? right : left;
        return jx_word_among(written, "**", (jx_py_span){0, 2});
    }
    if (!jx_py_call_of(in->text, in->span, &call) || number >= call.nargs ||
        !jx_word_among(written, in->text, call.name))
        return false;
    for (int i = 0; i <= number; i++)
        if (call.args[i].name.end)
            return false;
    *to = call.args[number].value;
    return true;
}

bool jx_passage_argument(const jx_passage *in, const char *names,
                         jx_py_span *to)
{
    jx_py_call call;

    if (!jx_py_call_of(in->text, in->span, &call) || call.nargs != 1 ||
        call.args[0].name.end || !jx_word_among(names, in->text, call.name))
        return false;
    *to = jx_py_bare(in->text, call.args[0].value);
    return true;
}

bool jx_file_has(const jx_file *file, const char *text)
{
    for (int i = 0; i < file->nlines; i++)
        if (strstr(file->lines[i].text, text))
            return true;
    return false;
}

const char *jx_passage_numpy(jx_arena *arena, const jx_passage *in)
{
    jx_py_call call;

    if (jx_py_call_of(in->text, in->span, &call) &&
        (jx_py_is(in->text, call.of, "jnp") ||
         jx_py_is(in->text, call.of, "np") ||
         jx_py_is(in->text, call.of, "jax.numpy")))
        return jx_arena_string(arena, in->text + call.of.begin,
                               call.of.end - call.of.begin);
    if (jx_file_has(in->frame->file, "jnp."))
        return "jnp";
    return jx_file_has(in->frame->file, "jax.numpy.") ? "jax.numpy" : "jnp";
}

/* -- what became of it ----------------------------------------------------- */

bool jx_eqn_is_written(const jx_repair_site *site, const jx_eqn *eqn,
                       const jx_frame *frame)
{
    return jx_frame_same(jx_user_frame(jx_origin_stack(site->origins, eqn)),
                         frame);
}

typedef struct collecting {
    jx_map guarded; /* values that edits guard */
    const jx_repair_site *site;
    jx_repair *repair;
    const jx_frame *frame;
    jx_prim_id prim;
    int operand;
    jx_edit like;
} collecting;

static void visit(collecting *c, void (*at)(collecting *, const jx_eqn *))
{
    for (int n = 0; n < c->site->walk->count; n++)
        for (int i = 0; i < c->site->walk->at[n]->neqns; i++)
            if (jx_eqn_is_written(c->site, &c->site->walk->at[n]->eqns[i],
                                  c->frame))
                at(c, &c->site->walk->at[n]->eqns[i]);
}

static void add_edit(collecting *c, const jx_eqn *eqn, int operand)
{
    jx_edit edit = c->like;

    edit.eqn = eqn;
    edit.operand = operand;
    edit.atoms[0] = eqn->ins[operand];
    if (!edit.natoms)
        edit.natoms = 1;
    JX_PUSH(c->site->program->ctx->arena, &c->repair->edits, edit);
}

static bool is_guardable(const jx_eqn *eqn, int operand)
{
    return operand < eqn->nins && eqn->ins[operand].var &&
           jx_dtype_is_float(jx_atom_aval(eqn->ins[operand])->dtype);
}

static void guard_here(collecting *c, const jx_eqn *eqn)
{
    if (eqn->prim->id == c->prim && is_guardable(eqn, c->operand))
        add_edit(c, eqn, c->operand);
}

/* What a derivative in the program takes of the same value: it would take
 * the guarded one. */
static void guard_derivative(collecting *c, const jx_eqn *eqn)
{
    if (eqn->prim->id == c->prim || jx_eqn_moves(eqn) || jx_bodies_of(eqn))
        return;
    for (int k = 0; k < eqn->nins; k++)
        if (jx_map_has(&c->guarded, eqn->ins[k].var))
            add_edit(c, eqn, k);
}

static void guard_derivatives(collecting *c)
{
    const jx_repair *repair = c->repair;

    jx_map_init(&c->guarded, c->site->program->ctx->arena);
    for (size_t i = 0; i < repair->edits.count; i++)
        if (repair->edits.at[i].atoms[0].var)
            jx_map_add(&c->guarded, repair->edits.at[i].atoms[0].var);
    visit(c, guard_derivative);
}

/* Where nobody takes the value, but its derivative is there, the quotients of
 * that are meant. */
void jx_repair_guard(const jx_repair_site *site, jx_repair *repair,
                     jx_prim_id prim, int operand, const jx_edit *like)
{
    collecting c = {.site = site,
                    .repair = repair,
                    .frame = repair->in->frame,
                    .prim = prim,
                    .operand = operand,
                    .like = *like};

    repair->edits.count = 0;
    visit(&c, guard_here);
    if (!repair->edits.count && prim == JX_PRIM_log) {
        c.prim = JX_PRIM_div;
        c.operand = 1;
        visit(&c, guard_here);
    } else if (repair->edits.count) {
        guard_derivatives(&c);
    }
}

void jx_repair_equations(const jx_repair_site *site, jx_repair *repair,
                         jx_prim_id prim)
{
    collecting c = {.site = site,
                    .repair = repair,
                    .frame = repair->in->frame,
                    .prim = prim};

    repair->edits.count = 0;
    visit(&c, guard_here);
}

bool jx_repair_is_differentiated(const jx_repair_site *site, jx_repair *repair)
{
    collecting c = {.site = site, .repair = repair, .frame = repair->in->frame};
    size_t count = repair->edits.count;
    bool more;

    c.prim = count ? repair->edits.at[0].eqn->prim->id : JX_PRIM_unknown;
    guard_derivatives(&c);
    more = repair->edits.count > count;
    repair->edits.count = count;
    return more;
}

/* -- expressions in expressions -------------------------------------------- */

bool jx_frame_encloses(const jx_frame *outer, const jx_frame *inner)
{
    bool before = outer->line < inner->line || (outer->line == inner->line &&
                                                outer->column <= inner->column);
    bool after = outer->end_line > inner->end_line ||
                 (outer->end_line == inner->end_line &&
                  outer->end_column >= inner->end_column);

    return before && after && !jx_frame_same(outer, inner) &&
           strcmp(outer->file->path, inner->file->path) == 0;
}

typedef struct enclosing {
    const jx_repair_site *site;
    const jx_frame *frame;
    int most, count;
    const jx_frame **to;
} enclosing;

static void find_enclosing(enclosing *e, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns && e->count < e->most; i++) {
        const jx_frame *frame =
            jx_user_frame(jx_origin_stack(e->site->origins, &jaxpr->eqns[i]));
        bool known = !frame || !jx_frame_encloses(frame, e->frame);
        for (int k = 0; k < e->count && !known; k++)
            known = jx_frame_same(e->to[k], frame);
        if (!known)
            e->to[e->count++] = frame;
    }
}

int jx_enclosing_frames(const jx_repair_site *site, const jx_frame *frame,
                        int most, const jx_frame **to)
{
    enclosing e = {site, frame, most, 0, to};

    for (int n = 0; n < site->walk->count; n++)
        find_enclosing(&e, site->walk->at[n]);
    return e.count;
}
