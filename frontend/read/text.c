/* text.c - jaxprs, equations and names.  See text.h.
 *
 * Where an operand list ends is not a matter of tokens: `in` may be a variable,
 * and an equation need not have outputs.  JAX breaks a jaxpr's lines all or
 * none, so a token on a new line that is not indented beyond its equation
 * begins the next one; without new lines, `;` separates equations. */
#include "frontend/read/text.h"

#include "frontend/base/plain.h"
#include "frontend/ir/mesh.h"
#include "frontend/read/text_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jx_text_scope {
    jx_body body;
    jx_map names; /* interned ones, to variables */
    /* of the equation being read: not numbered yet */
    JX_VEC(const jx_var *) outs;
    JX_VEC(jx_var *) blanks; /* called `_` */
    JX_VEC(int) lines;       /* where equations begin, if somebody asks */
    size_t column; /* where they begin; 0: not on lines of their own */
};

typedef struct jx_text_scope scope;

/* ---- tokens */

bool jx_text_fail(jx_text *t, const char *at, const char *format, ...)
{
    char place[64], why[512];
    size_t line = 1, column = 1;
    va_list args;

    if (t->failed)
        return false;
    t->failed = true;
    for (const char *c = t->begin; c < at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    snprintf(place, sizeof place, "line %zu, column %zu", line, column);
    va_start(args, format);
    jx_vsnprintf(why, sizeof why, format, args);
    va_end(args);
    t->at = t->end;
    return jx_fail(t->ctx, JX_E_INPUT, t->path, place, "%s", why);
}

void jx_text_space(jx_text *t)
{
    for (; t->at < t->end; t->at++) {
        if (*t->at == '#')
            while (t->at + 1 < t->end && t->at[1] != '\n')
                t->at++;
        else if (!strchr(" \t\r\n", *t->at) || !*t->at)
            return;
    }
}

static bool comes(const jx_text *t, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(t->end - t->at) >= n && !memcmp(t->at, word, n);
}

bool jx_text_take(jx_text *t, const char *word)
{
    jx_text_space(t);
    if (!comes(t, word))
        return false;
    t->at += strlen(word);
    return true;
}

bool jx_text_expect(jx_text *t, const char *word)
{
    return jx_text_take(t, word) ||
           jx_text_fail(t, t->at, "expected '%s'", word);
}

const char *jx_text_intern(jx_text *t, const char *begin, const char *end)
{
    const char *text =
        jx_strings_add(&t->ctx->strings, begin, (size_t)(end - begin));

    if (!text)
        t->failed = true;
    return text ? text : "";
}

static bool is_name(char c)
{
    return jx_is_alnum(c) || c == '_';
}

static const char *name_end(const jx_text *t, const char *more)
{
    const char *at = t->at;

    while (at < t->end && (is_name(*at) || (*at && strchr(more, *at))))
        at++;
    return at;
}

/* Columns count from 1. */
static size_t column_of(const jx_text *t)
{
    const char *line = t->at;

    while (line > t->begin && line[-1] != '\n')
        line--;
    return (size_t)(t->at - line) + 1;
}

/* Skips white space; was there a newline in it? */
static bool skip_lines(jx_text *t)
{
    const char *before = t->at;

    jx_text_space(t);
    return memchr(before, '\n', (size_t)(t->at - before)) != NULL;
}

/* ---- variables */

typedef jx_atom maker(jx_body *b, const jx_aval *aval);

/* A result of the equation being read. */
static jx_atom result_of(jx_body *b, const jx_aval *aval)
{
    scope *s = (scope *)b;
    jx_var *var = jx_body_var(b, aval);

    JX_PUSH(b->in->program->ctx->arena, &s->outs, var);
    return (jx_atom){var, NULL};
}

static bool define(jx_text *t, scope *s, maker *make, const char *name,
                   const jx_aval *aval, const char *at)
{
    jx_var *var = (jx_var *)(uintptr_t)make(&s->body, aval).var;

    if (!var)
        return false;
    var->dropped = !strcmp(name, "_");
    if (var->dropped) {
        JX_PUSH(t->ctx->arena, &s->blanks, var);
        return true;
    }
    if (jx_map_has(&s->names, name))
        return jx_text_fail(t, at, "'%s' is defined twice", name);
    return jx_map_put(&s->names, name, var);
}

/* `name:type`; false (and nothing read) if no binder comes next. */
static bool read_binder(jx_text *t, scope *s, maker *make)
{
    const char *at, *end;

    jx_text_space(t);
    at = t->at;
    end = name_end(t, "");
    if (end == at || end >= t->end || *end != ':')
        return false;
    const char *name = jx_text_intern(t, at, end);
    t->at = end + 1;
    const jx_aval *aval = jx_text_aval(t);
    return aval && define(t, s, make, name, aval, at);
}

static void read_binders(jx_text *t, scope *s, maker *make)
{
    while (!t->failed && read_binder(t, s, make))
        ;
}

/* An inner result that a dropped outer one lent its name: `_` is then a
 * variable, and the first that is still free is meant. */
static jx_var *free_blank(const scope *s)
{
    for (size_t i = 0; i < s->blanks.count; i++)
        if (s->blanks.at[i]->dropped && s->blanks.at[i]->id >= 0)
            return s->blanks.at[i];
    /* The only one may be meant again. */
    return s->blanks.count == 1 && s->blanks.at[0]->id >= 0 ? s->blanks.at[0]
                                                            : NULL;
}

static jx_atom read_operand(jx_text *t, scope *s)
{
    const char *at = t->at, *end = name_end(t, "");
    jx_atom atom = {NULL, NULL};

    if (end > at && (end >= t->end || *end != ':')) {
        const char *name = jx_text_intern(t, at, end);
        const jx_var *found = jx_map_get(&s->names, name);
        if (found && found->id < 0)
            found = NULL;
        jx_var *blank = strcmp(name, "_") ? NULL : free_blank(s);
        if (blank)
            blank->dropped = false;
        if (found || blank) {
            t->at = end;
            atom.var = found ? found : blank;
            return atom;
        }
    }
    atom.literal = jx_text_literal(t);
    return atom;
}

/* Nothing is an array, too: of no elements. */
static const void *array_of(jx_text *t, const void *at)
{
    return at ? at : jx_arena_alloc(t->ctx->arena, 0);
}

/* ---- equations */

static bool ends_operands(jx_text *t, const scope *s, bool newline)
{
    if (t->at >= t->end || *t->at == ';' || *t->at == '}')
        return true;
    if (newline && s->column)
        return column_of(t) <= s->column;
    if (!comes(t, "in ("))
        return false;
    /* `in` followed by a complex literal would be an operand. */
    int depth = 0;
    for (const char *c = t->at + 3; c < t->end; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth == 0)
            return c + 1 >= t->end || c[1] != ':';
    }
    return true;
}

static void read_operands(jx_text *t, scope *s, jx_eqn *eqn)
{
    JX_VEC(jx_atom) atoms = {0};

    for (;;) {
        bool newline = skip_lines(t);
        if (t->failed || ends_operands(t, s, newline))
            break;
        jx_atom atom = read_operand(t, s);
        if (t->failed)
            break;
        JX_PUSH(t->ctx->arena, &atoms, atom);
    }
    eqn->nins = (int)atoms.count;
    eqn->ins = array_of(t, atoms.at);
}

int jx_text_params(jx_text *t, const jx_prim *prim, jx_param *params)
{
    int count = 0;

    while (!jx_text_take(t, "]") && !t->failed) {
        const char *at = t->at, *end = name_end(t, "");
        if (end == at || end >= t->end || *end != '=' ||
            count == JX_TEXT_PARAMS)
            return -1;
        t->at = end + 1;
        params[count].name = jx_text_intern(t, at, end);
        params[count].value = jx_text_value(t, prim, params[count].name);
        count++;
    }
    return t->failed ? -1 : count;
}

static void read_params(jx_text *t, jx_eqn *eqn, jx_param *params)
{
    int count = 0;

    if (t->at < t->end && *t->at == '[') {
        t->at++;
        count = jx_text_params(t, eqn->prim, params);
    }
    if (count < 0)
        jx_text_fail(t, t->at, "expected a parameter, 'name=value'");
    if (t->failed)
        return;
    jx_text_complete(t, eqn, params, &count);
    if (t->failed)
        return;
    jx_params_sort(params, count);
    for (int i = 1; i < count; i++)
        if (!strcmp(params[i - 1].name, params[i].name))
            jx_text_fail(t, t->at, "parameter '%s' is given twice",
                         params[i].name);
    eqn->nparams = count;
}

static bool read_primitive(jx_text *t, jx_eqn *eqn)
{
    jx_text_space(t);
    const char *at = t->at, *end = name_end(t, "-.");
    if (end == at)
        return jx_text_fail(t, at, "expected the name of a primitive");
    eqn->prim = jx_prim_named(t->ctx, jx_text_intern(t, at, end));
    t->at = end;
    return eqn->prim != NULL;
}

static void add_eqn(jx_text *t, scope *s, const char *at, jx_eqn *eqn,
                    jx_param *params)
{
    const char *why;

    if (t->failed || jx_arena_failed(t->ctx->arena))
        return;
    why = jx_build_params(&t->build, eqn, eqn->nparams, params);
    if (!why && jx_ok(t->ctx))
        why = jx_build_given(&s->body, eqn);
    if (!why && eqn->prim->id == JX_PRIM_scan)
        why = jx_text_scan_misfit(t, eqn);
    if (why)
        jx_text_fail(t, at, "%s", why);
}

/* ---- reads and writes of references */

jx_atom jx_text_named(jx_text *t, const jx_text_scope *s, const char *begin,
                      const char *end)
{
    const jx_var *found = jx_map_get(&s->names, jx_text_intern(t, begin, end));

    return (jx_atom){found && found->id >= 0 ? found : NULL, NULL};
}

/* A reference, and which part of it. */
static bool read_part(jx_text *t, scope *s, jx_atom *ref, jx_text_part *part)
{
    jx_text_space(t);
    const char *at = t->at, *end = name_end(t, "");

    *ref = jx_text_named(t, s, at, end);
    if (!ref->var || ref->var->aval->kind != JX_AVAL_REF)
        return jx_text_fail(t, at, "expected a reference defined before");
    t->at = end;
    return jx_text_path(t, s, ref->var->aval, part);
}

/* `a[0,:] <- b`: a reference's name, and not that of a primitive. */
static bool begins_part(jx_text *t, const scope *s)
{
    const char *end = name_end(t, "");
    jx_atom atom = end > t->at && end < t->end && (*end == '[' || *end == '{')
                       ? jx_text_named(t, s, t->at, end)
                       : (jx_atom){NULL, NULL};

    return atom.var && atom.var->aval->kind == JX_AVAL_REF;
}

static bool put_access(jx_text *t, jx_eqn *eqn, jx_param *tree, jx_prim_id id,
                       jx_atom ref, const jx_atom *value,
                       const jx_text_part *part)
{
    jx_atom *ins = JX_NEW_ARRAY(t->ctx->arena, part->count + 2, jx_atom);

    if (!ins)
        return false;
    *tree = (jx_param){jx_intern_text(t->ctx, "tree"), part->tree};
    eqn->prim = jx_prim_of(id);
    eqn->nparams = 1;
    ins[eqn->nins++] = ref;
    if (value)
        ins[eqn->nins++] = *value;
    for (int i = 0; i < part->count; i++)
        ins[eqn->nins++] = part->operands[i];
    eqn->ins = ins;
    return true;
}

/* Behind the results, if there are any: whether the equation is one of these,
 * and has been read. */
static bool read_access(jx_text *t, scope *s, jx_eqn *eqn, jx_param *tree)
{
    jx_text_part part, again;
    jx_atom ref, value;

    jx_text_space(t);
    if (eqn->nouts == 1 && jx_text_take(t, "<-"))
        return read_part(t, s, &ref, &part) &&
               put_access(t, eqn, tree, JX_PRIM_get, ref, NULL, &part);
    if (eqn->nouts ? eqn->nouts > 1 || !jx_text_take(t, ",")
                   : !begins_part(t, s))
        return false;
    if (!read_part(t, s, &ref, &part))
        return false;
    bool adds = !eqn->nouts && jx_text_take(t, "+=");
    if (!adds && !jx_text_expect(t, "<-"))
        return false;
    if (eqn->nouts &&
        (!read_part(t, s, &ref, &again) || !jx_text_expect(t, ",")))
        return false;
    jx_text_space(t);
    value = read_operand(t, s);
    if (t->failed)
        return false;
    if (!adds && !eqn->nouts)
        define(t, s, result_of, "_", part.aval, t->at);
    return put_access(t, eqn, tree, adds ? JX_PRIM_addupdate : JX_PRIM_swap,
                      ref, &value, &part);
}

static void take_outs(jx_text *t, const scope *s, jx_eqn *eqn)
{
    eqn->nouts = (int)s->outs.count;
    eqn->outs = jx_arena_copy(t->ctx->arena, array_of(t, s->outs.at),
                              s->outs.count * sizeof *s->outs.at);
}

static void read_eqn(jx_text *t, scope *s)
{
    enum { HIDDEN = 16 };
    jx_param params[JX_TEXT_PARAMS + HIDDEN];
    jx_eqn eqn = {.ctx = t->eqn_ctx};

    jx_text_space(t);
    const char *at = t->at;
    s->outs.count = 0;
    read_binders(t, s, result_of);
    eqn.nouts = (int)s->outs.count;
    bool access = !t->failed && read_access(t, s, &eqn, params);
    if (!access && eqn.nouts)
        jx_text_expect(t, "=");
    take_outs(t, s, &eqn);
    if (t->failed || (!access && !read_primitive(t, &eqn)))
        return;
    if (!access)
        read_params(t, &eqn, params);
    if (!t->failed && !access)
        read_operands(t, s, &eqn);
    add_eqn(t, s, at, &eqn, params);
    if (!t->failed && t->lines) {
        int line = 1;
        for (const char *c = t->begin; c < at; c++)
            line += *c == '\n';
        JX_PUSH(t->ctx->arena, &s->lines, line);
    }
}

static void read_eqns(jx_text *t, scope *s)
{
    bool newline = skip_lines(t);

    s->column = newline ? column_of(t) : 0;
    while (!t->failed) {
        bool at_end = comes(t, "in ") && ends_operands(t, s, false);
        /* On a line of its own, `in` ends the equations if it stands less
         * deep; `in:f32[] = ...` is one of them. */
        if (at_end)
            break;
        if (t->at >= t->end) {
            jx_text_fail(t, t->at, "expected 'in' and the outputs");
            return;
        }
        read_eqn(t, s);
        jx_text_take(t, ";");
        jx_text_space(t);
    }
}

/* ---- jaxprs */

static void read_outs(jx_text *t, scope *s)
{
    if (!jx_text_expect(t, "in") || !jx_text_expect(t, "("))
        return;
    while (!t->failed && !jx_text_take(t, ")")) {
        jx_body_result(&s->body, read_operand(t, s));
        if (!jx_text_take(t, ",") && !comes(t, ")"))
            jx_text_fail(t, t->at, "expected ',' or ')'");
        jx_text_space(t);
    }
}

/* ` : { effects }`, as print_effects=True adds. */
static void skip_effects(jx_text *t)
{
    int depth = 0;

    if (!jx_text_take(t, ": {"))
        return;
    for (depth = 1; t->at < t->end && depth; t->at++)
        depth += (*t->at == '{') - (*t->at == '}');
}

/* The first variables are not dropped, blank as they may be:
 * only results are. */
static void keep_binders(const jx_jaxpr *jaxpr, int count)
{
    for (int i = 0; i < count && i < jaxpr->nvars; i++)
        ((jx_var *)(uintptr_t)jaxpr->vars[i])->dropped = false;
}

static void read_body(jx_text *t, scope *s)
{
    jx_text_expect(t, "{");
    jx_text_expect(t, "lambda");
    read_binders(t, s, jx_body_const);
    jx_text_expect(t, ";");
    read_binders(t, s, jx_body_input);
    jx_text_expect(t, ".");
    jx_text_expect(t, "let");
    read_eqns(t, s);
    read_outs(t, s);
    skip_effects(t);
    jx_text_expect(t, "}");
}

const jx_jaxpr *jx_text_jaxpr(jx_text *t)
{
    scope s = {.body.in = &t->build};
    jx_jaxpr *made;

    if (t->depth >= JX_TEXT_DEPTH) {
        jx_text_fail(t, t->at, "jaxprs nest more than %d deep", JX_TEXT_DEPTH);
        return NULL;
    }
    t->depth++;
    jx_map_init(&s.names, t->ctx->arena);
    read_body(t, &s);
    t->depth--;
    made = t->failed ? NULL : jx_body_finish(&s.body, jx_no_atoms, NULL);
    if (!made)
        return NULL;
    if (t->lines)
        JX_PUSH(t->ctx->arena, t->lines, s.lines.at);
    keep_binders(made, made->nconsts + made->nins);
    return made;
}

/* Reads it now, from where it stands. */
static const jx_jaxpr *read_hoisted(jx_text *t, size_t index)
{
    const char *back = t->at, *name = t->hoisted.at[index].name;

    if (t->hoisted.at[index].reading) {
        jx_text_fail(t, t->at, "'%s' calls itself", name);
        return NULL;
    }
    t->hoisted.at[index].reading = true;
    t->at = t->hoisted.at[index].at;
    const jx_jaxpr *jaxpr = jx_text_jaxpr(t);
    t->hoisted.at[index].jaxpr = jaxpr;
    t->hoisted.at[index].reading = false;
    if (!t->failed)
        t->at = back;
    return jaxpr;
}

const jx_jaxpr *jx_text_hoisted(jx_text *t, const char *name)
{
    for (size_t i = t->visible; i < t->hoisted.count; i++)
        if (t->hoisted.at[i].name == name)
            return t->hoisted.at[i].jaxpr ? t->hoisted.at[i].jaxpr
                                          : read_hoisted(t, i);
    return NULL;
}

/* Notes where `name = { ... } in` is, and goes on behind it. */
static void note_hoisted(jx_text *t)
{
    int depth = 0;

    jx_text_space(t);
    const char *at = t->at;
    while (t->at < t->end && *t->at != '\n' && !comes(t, " = "))
        t->at++;
    jx_hoisted entry = {.name = jx_text_intern(t, at, t->at)};
    if (!jx_text_expect(t, "="))
        return;
    jx_text_space(t);
    entry.at = t->at;
    do {
        if (t->at >= t->end) {
            jx_text_fail(t, entry.at, "expected '}' to this '{'");
            return;
        }
        depth += (*t->at == '{') - (*t->at == '}');
        t->at++;
    } while (depth > 0);
    jx_text_expect(t, "in");
    JX_PUSH(t->ctx->arena, &t->hoisted, entry);
}

/* A program of its own: names hoisted outside do not count inside. */
const jx_jaxpr *jx_text_program(jx_text *t)
{
    size_t outer = t->visible, count = t->hoisted.count;

    t->visible = count;
    while (!t->failed && jx_text_take(t, "let "))
        note_hoisted(t);
    const jx_jaxpr *jaxpr = t->failed ? NULL : jx_text_jaxpr(t);
    t->visible = outer;
    t->hoisted.count = count;
    return jaxpr;
}

const jx_jaxpr *jx_text_shown(jx_text *t)
{
    jx_shown shown = {.begin = t->at};

    for (size_t i = 0; i < t->shown.count; i++) {
        const jx_shown *s = &t->shown.at[i];
        size_t n = (size_t)(s->end - s->begin);
        if (n >= (size_t)(t->end - t->at) || memcmp(s->begin, t->at, n))
            continue;
        t->at += n;
        return s->jaxpr;
    }
    shown.jaxpr = jx_text_program(t);
    shown.end = t->at;
    if (!shown.jaxpr)
        return NULL;
    /* Outputs that nothing uses are blank in a program of its own, dropped or
     * not; elsewhere only the dropped ones are.  Most are not. */
    keep_binders(shown.jaxpr, shown.jaxpr->nvars);
    JX_PUSH(t->ctx->arena, &t->shown, shown);
    return shown.jaxpr;
}

/* ---- the program */

static const jx_array *unknown_array(jx_text *t, const jx_aval *aval)
{
    jx_array *array = JX_NEW(t->ctx->arena, jx_array);

    if (array)
        array->aval = aval;
    return array;
}

const jx_value *jx_text_closed(jx_text *t, const jx_jaxpr *jaxpr, bool open)
{
    jx_value v = {.tag = JX_V_JAXPR, .jaxpr = jaxpr, .open = open};

    if (!jaxpr)
        return NULL;
    const jx_value **items =
        JX_NEW_ARRAY(t->ctx->arena, jaxpr->nconsts, const jx_value *);
    for (int i = 0; items && i < jaxpr->nconsts; i++) {
        jx_value c = {.tag = JX_V_CONST,
                      .array = unknown_array(t, jaxpr->vars[i]->aval)};
        items[i] = jx_text_add(t, &c);
    }
    v.items = items;
    v.count = items ? jaxpr->nconsts : 0;
    return jx_text_add(t, &v);
}

static bool begins(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);

    return length >= n && !memcmp(text, word, n);
}

/* Where the text begins, after white space and comments. */
static size_t beginning(const char *text, size_t length)
{
    size_t i = 0;

    for (; i < length; i++) {
        if (text[i] == '#')
            while (i + 1 < length && text[i + 1] != '\n')
                i++;
        else if (!memchr(" \t\r\n", text[i], 4))
            break;
    }
    return i;
}

bool jx_is_text(const char *text, size_t length)
{
    size_t i = beginning(text, length);

    text += i;
    length -= i;
    if (begins(text, length, "{ lambda"))
        return true;
    if (!begins(text, length, "let "))
        return false;
    for (; length && *text != '\n'; text++, length--)
        if (begins(text, length, " = { lambda"))
            return true;
    return false;
}

bool jx_may_be_text(const char *text, size_t length)
{
    size_t i = beginning(text, length);

    return begins(text + i, length - i, "{ ") ||
           begins(text + i, length - i, "let ");
}

static void set_entry(jx_text *t, const jx_jaxpr *jaxpr)
{
    const jx_array **consts =
        JX_NEW_ARRAY(t->ctx->arena, jaxpr->nconsts, const jx_array *);

    for (int i = 0; consts && i < jaxpr->nconsts; i++)
        consts[i] = unknown_array(t, jaxpr->vars[i]->aval);
    t->program->entry = (jx_closed){jaxpr, jaxpr->nconsts, consts};
    t->program->jaxprs = t->build.jaxprs.at;
    t->program->njaxprs = (int)t->build.jaxprs.count;
    t->program->meshes = t->meshes.at;
    t->program->nmeshes = (int)t->meshes.count;
}

/* 64-bit numbers are only there if x64 was on. */
static bool has_wide(const jx_text *t)
{
    for (int i = 0; i < t->program->njaxprs; i++)
        for (int k = 0; k < t->program->jaxprs[i]->nvars; k++) {
            jx_dtype dtype = t->program->jaxprs[i]->vars[k]->aval->dtype;
            if (jx_dtype_narrowed(dtype) != dtype)
                return true;
        }
    return false;
}

/* The one jaxpr that the text is. */
static const jx_jaxpr *read_whole(jx_text *t)
{
    const char *nul = memchr(t->begin, '\0', (size_t)(t->end - t->begin));

    if (nul)
        jx_text_fail(t, nul, "expected text without NUL bytes");
    const jx_jaxpr *jaxpr = nul ? NULL : jx_text_program(t);
    jx_text_space(t);
    if (jaxpr && t->at < t->end)
        jx_text_fail(t, t->at, "expected the end of the input after the jaxpr");
    return jx_ok(t->ctx) ? jaxpr : NULL;
}

jx_program *jx_read_text(jx_ctx *ctx, const char *path, const char *text,
                         size_t length)
{
    return jx_read_text_lines(ctx, path, text, length, NULL);
}

jx_program *jx_read_text_lines(jx_ctx *ctx, const char *path, const char *text,
                               size_t length, jx_text_lines *lines)
{
    jx_program *p = jx_program_new(ctx, path);
    jx_text t = {.ctx = ctx,
                 .program = p,
                 .path = path,
                 .at = text,
                 .begin = text,
                 .end = text + length,
                 .lines = lines,
                 .build.program = p};

    if (!p)
        return jx_ok(ctx), NULL;
    p->from_text = true;
    const jx_jaxpr *jaxpr = read_whole(&t);
    if (!jaxpr)
        return NULL;
    set_entry(&t, jaxpr);
    p->x64 = has_wide(&t);
    return jx_program_bind_axes(p) && jx_ok(ctx) ? p : NULL;
}

const jx_jaxpr *jx_read_text_for(jx_program *program, const char *path,
                                 const char *text, int dim_scope,
                                 const jx_eqn_ctx *eqn_ctx)
{
    jx_text t = {.ctx = program->ctx,
                 .program = program,
                 .path = path,
                 .at = text,
                 .begin = text,
                 .end = text + strlen(text),
                 .eqn_ctx = eqn_ctx,
                 .build.program = program,
                 .scope = dim_scope};

    return read_whole(&t);
}
