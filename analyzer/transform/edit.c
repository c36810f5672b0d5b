/* edit.c - see edit.h. */
#include "analyzer/transform/edit.h"

#include "analyzer/transform/making.h"
#include "frontend/base/map.h"
#include "frontend/ir/params.h"

typedef struct editor {
    jx_making make; /* first: who fails finds the rest */
    const jx_edit *edits;
    /* of an equation the first, and behind each the next of the same */
    jx_map first;
    const jx_edit **next;
    /* by number: as they are now, once they are made */
    const jx_jaxpr **bodies;
    void *with; /* of who follows */
} editor;

static jx_arena *arena_of(const editor *e)
{
    return jx_making_arena(&e->make);
}

static const jx_jaxpr *edited(editor *e, const jx_jaxpr *from);

/* A parameter with the jaxprs in it as they are now. */
static const jx_value *new_value(editor *e, const jx_value *value)
{
    jx_value to = *value;
    bool changed = false;
    const jx_value **items;

    if (value->tag == JX_V_JAXPR && value->jaxpr) {
        to.jaxpr = edited(e, value->jaxpr);
        return to.jaxpr ? jx_value_add(&e->make.to->values, &to) : NULL;
    }
    if ((value->tag != JX_V_TUPLE && value->tag != JX_V_RECORD) ||
        !value->count)
        return value;
    items = JX_NEW_ARRAY(arena_of(e), value->count, const jx_value *);
    for (int i = 0; items && i < value->count; i++) {
        items[i] = new_value(e, value->items[i]);
        if (!items[i])
            return NULL;
        changed |= items[i] != value->items[i];
    }
    to.items = items;
    return !items    ? NULL
           : changed ? jx_value_add(&e->make.to->values, &to)
                     : value;
}

static jx_param *new_params(editor *e, const jx_eqn *eqn)
{
    jx_param *to = JX_NEW_ARRAY(arena_of(e), eqn->nparams + 1, jx_param);

    for (int i = 0; to && i < eqn->nparams; i++) {
        to[i] = eqn->params[i];
        to[i].value = new_value(e, eqn->params[i].value);
        if (!to[i].value)
            return NULL;
    }
    return to;
}

static jx_atom atom_now(const jx_atom *now, jx_atom atom)
{
    return atom.var ? now[atom.var->id] : atom;
}

/* What an edit makes; an operand that was made before is the edit's
 * first atom, too. */
static jx_atom made_by(jx_body *b, const jx_edit *edit, const jx_atom *now,
                       const jx_atom *operand)
{
    jx_atom of[JX_EDIT_ATOMS];
    jx_atom made = {0};

    for (int i = 0; i < edit->natoms; i++) {
        of[i] = atom_now(now, edit->atoms[i]);
        if (!jx_is_made(of[i]))
            return made; /* it is computed later */
    }
    if (operand && edit->natoms &&
        edit->atoms[0].var == edit->eqn->ins[edit->operand].var)
        of[0] = *operand;
    b->place =
        (jx_place){edit->eqn->stack, edit->eqn->name_stack, edit->eqn->ctx};
    made = edit->make(b, edit, of);
    b->place = (jx_place){0};
    return made;
}

static bool refuse(editor *e)
{
    return jx_ok(e->make.to->ctx) &&
           jx_making_fail(
               &e->make,
               "what is to stand in its place cannot be computed there");
}

static const jx_edit *next_of(const editor *e, const jx_edit *edit)
{
    return e->next[edit - e->edits];
}

/* Lists edits by their equations, each list in their order. */
static bool list_edits(editor *e, jx_arena *arena, int count)
{
    jx_map_init(&e->first, arena);
    e->next = JX_NEW_ARRAY(arena, count, const jx_edit *);
    for (int i = count; e->next && i-- > 0;) {
        const jx_eqn *eqn = e->edits[i].eqn;
        e->next[i] = jx_map_get(&e->first, eqn);
        if (!jx_map_put(&e->first, eqn, &e->edits[i]))
            return false;
    }
    return e->next != NULL;
}

static bool add_eqn(editor *e, jx_body *b, const jx_eqn *eqn, jx_atom *now)
{
    jx_atom *ins = JX_NEW_ARRAY(arena_of(e), eqn->nins + 1, jx_atom);
    const jx_edit *first = jx_map_get(&e->first, eqn);
    jx_param *params;
    const jx_atom *made;

    for (int i = 0; ins && i < eqn->nins; i++)
        ins[i] = atom_now(now, eqn->ins[i]);
    e->make.eqn = eqn;
    for (const jx_edit *edit = first; ins && edit; edit = next_of(e, edit)) {
        if (edit->operand < 0)
            continue;
        ins[edit->operand] = made_by(b, edit, now, &ins[edit->operand]);
        if (!jx_is_made(ins[edit->operand]))
            return refuse(e);
    }
    params = ins ? new_params(e, eqn) : NULL;
    b->place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    e->make.eqn = eqn;
    made = params ? jx_build_like(b, eqn, ins, params, NULL) : NULL;
    b->place = (jx_place){0};
    for (int i = 0; made && i < eqn->nouts; i++)
        now[eqn->outs[i]->id] = made[i];
    for (const jx_edit *edit = first; made && edit; edit = next_of(e, edit)) {
        if (edit->operand >= 0)
            continue;
        now[eqn->outs[0]->id] = made_by(b, edit, now, NULL);
        if (!jx_is_made(now[eqn->outs[0]->id]))
            return refuse(e);
    }
    return made != NULL;
}

static const jx_jaxpr *edit_body(editor *e, const jx_jaxpr *from)
{
    jx_body *b = jx_body_new(&e->make.build, NULL);
    jx_atom *now = JX_NEW_ARRAY(arena_of(e), from->nvars + 1, jx_atom);

    if (!b || !now)
        return NULL;
    jx_body_reserve(b, from->neqns);
    for (int i = 0; i < from->nconsts + from->nins; i++)
        now[i] = (i < from->nconsts ? jx_body_const
                                    : jx_body_input)(b, from->vars[i]->aval);
    for (int i = 0; i < from->neqns; i++)
        if (!add_eqn(e, b, &from->eqns[i], now))
            return NULL;
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, atom_now(now, from->outs[i]));
    return jx_body_finish_like(b, from);
}

static const jx_jaxpr *edited(editor *e, const jx_jaxpr *from)
{
    const jx_eqn *around = e->make.eqn;

    if (!e->bodies[from->id])
        e->bodies[from->id] = edit_body(e, from);
    e->make.eqn = around;
    return e->bodies[from->id];
}

static jx_program *made(editor *e, jx_program *program)
{
    e->bodies = JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1,
                             const jx_jaxpr *);
    return e->bodies ? jx_making_end(&e->make, edited(e, program->entry.jaxpr))
                     : NULL;
}

jx_program *jx_program_edit(jx_program *program, int count,
                            const jx_edit *edits)
{
    editor e = {.edits = edits};

    return jx_making_begin(&e.make, program) &&
                   list_edits(&e, program->ctx->arena, count)
               ? made(&e, program)
               : NULL;
}

void *jx_followed_with(const jx_body *b)
{
    return ((const editor *)(const void *)b->in)->with;
}

jx_program *jx_program_follow(jx_program *program,
                              bool (*follow)(jx_body *b, jx_eqn *eqn,
                                             jx_atom *atoms),
                              void *with)
{
    editor e = {.with = with};

    if (!jx_making_begin(&e.make, program))
        return NULL;
    e.make.build.follow = follow;
    return made(&e, program);
}
