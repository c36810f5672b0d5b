/* decompose.c - headers, variables, instances (decompose.h). */
#include "frontend/decompose/decompose.h"

#include "frontend/base/plain.h"
#include "frontend/ir/prng.h"
#include "frontend/read/text.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH = 8 }; /* of variables in what `let` says */

/* ---- headers */

typedef enum line_kind { LIST, LET, SIZE, EXAMPLE } line_kind;

/* One line of a header: `NAME = words`, `NAME[KEY] = words`, `let NAME = text`,
 * `size NAME = dim`, `example text`. */
typedef struct line {
    line_kind kind;
    const char *name, *key, *text; /* the key is NULL without */
} line;

typedef struct given {
    const char *name, *value;
    bool list; /* of any length */
} given;

/* A text that is being given its values. */
typedef struct instance {
    jx_ctx *ctx;
    jx_dims *dims; /* of the program that it is for; NULL: an example */
    int scope;     /* of its sizes */
    const jx_decomposition *row;
    JX_VEC(line) lines;
    JX_VEC(given) known;
} instance;

static bool is_name(char c)
{
    return jx_is_alnum(c) || c == '_';
}

static size_t name_length(const char *at)
{
    size_t n = 0;

    while (is_name(at[n]))
        n++;
    return n;
}

/* The line of the header at `at`, behind its `#: `. */
static line read_line(jx_ctx *ctx, const char *at)
{
    const char *end = at + strcspn(at, "\n");
    static const char *const kinds[] = {
        [LET] = "let ", [SIZE] = "size ", [EXAMPLE] = "example "};
    line l = {.kind = LIST};
    size_t n = 0;

    for (int i = LET; i <= EXAMPLE; i++)
        if (!strncmp(at, kinds[i], strlen(kinds[i]))) {
            l.kind = (line_kind)i;
            at += strlen(kinds[i]);
        }
    if (l.kind != EXAMPLE)
        n = name_length(at);
    l.name = jx_arena_string(ctx->arena, at, n);
    at += n;
    if (*at == '[') {
        n = name_length(++at);
        l.key = jx_arena_string(ctx->arena, at, n);
        at += n + 1;
    }
    at += strspn(at, " =");
    l.text =
        at < end ? jx_arena_string(ctx->arena, at, (size_t)(end - at)) : "";
    return l;
}

static bool read_header(instance *in)
{
    const char *at = in->row->text;

    while (at && *at == '#') {
        if (!strncmp(at, "#: ", 3)) {
            line l = read_line(in->ctx, at + 3);
            if (l.name && l.text)
                JX_PUSH(in->ctx->arena, &in->lines, l);
        }
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return !jx_arena_failed(in->ctx->arena);
}

/* Word `index` of a list; its length, 0 behind the last one. */
static size_t word_at(const char *text, int index, const char **word)
{
    for (;; index--) {
        text += strspn(text, " ");
        size_t n = strcspn(text, " ");
        *word = text;
        if (!index || !n)
            return n;
        text += n;
    }
}

static int place_of(const char *list, const char *word)
{
    const char *at;
    size_t n;

    for (int i = 0; (n = word_at(list, i, &at)); i++)
        if (n == strlen(word) && !memcmp(at, word, n))
            return i;
    return -1;
}

/* ---- what an equation gives */

static void give(instance *in, const char *name, const char *value)
{
    if (value)
        JX_PUSH(in->ctx->arena, &in->known, (given){name, value, false});
}

static const given *given_as(const instance *in, const char *name,
                             size_t length)
{
    for (size_t i = 0; i < in->known.count; i++)
        if (strlen(in->known.at[i].name) == length &&
            !memcmp(in->known.at[i].name, name, length))
            return &in->known.at[i];
    return NULL;
}

static const char *value_of(const instance *in, const char *name)
{
    const given *found = given_as(in, name, strlen(name));

    return found ? found->value : NULL;
}

static void give_list(instance *in, const char *name, const jx_buffer *text)
{
    const char *value =
        jx_arena_string(in->ctx->arena, jx_buffer_text(text), text->length);

    if (value)
        JX_PUSH(in->ctx->arena, &in->known, (given){name, value, true});
}

static void give_number(instance *in, const char *name, int64_t value)
{
    give(in, name, jx_arena_printf(in->ctx->arena, "%lld", (long long)value));
}

/* A factor is never a word of programs: sizes may be called `nan` or `None`. */
static void put_size(const jx_dim *size, jx_buffer *to)
{
    jx_buffer text = {.budget = to->budget};

    jx_dim_print(size, &text);
    const char *c = jx_buffer_text(&text);
    jx_buffer_puts(to, jx_is_digit(*c) || *c == '-' ? "" : "1*");
    jx_buffer_puts(to, c);
    jx_buffer_free(&text);
}

/* Sizes as they stand between brackets. */
static void give_sizes(instance *in, const char *name, int count,
                       const jx_dim *const *sizes)
{
    jx_buffer text = jx_ctx_text(in->ctx);

    for (int i = 0; i < count; i++) {
        int nvars = 0;
        const jx_dim_atom *const *vars =
            jx_dim_vars(in->dims, sizes[i], &nvars);
        in->scope = nvars ? vars[0]->scope : in->scope;
        jx_buffer_puts(&text, i ? "," : "");
        put_size(sizes[i], &text);
    }
    give_list(in, name, &text);
    jx_buffer_free(&text);
}

static void give_product(instance *in, const char *name, jx_dims *dims,
                         int count, const jx_dim *const *sizes)
{
    const jx_dim *product = jx_dim_int(dims, 1);

    for (int i = 0; i < count && product; i++)
        product = jx_dim_mul(dims, product, sizes[i]);
    if (product) {
        jx_buffer text = jx_ctx_text(in->ctx);
        put_size(product, &text);
        give(in, name,
             jx_arena_string(in->ctx->arena, jx_buffer_text(&text),
                             text.length));
        jx_buffer_free(&text);
    }
}

/* The last `count` of that many axes. */
static void give_axes(instance *in, const char *name, int rank, int count)
{
    jx_buffer text = jx_ctx_text(in->ctx);

    for (int i = count < rank ? rank - count : 0; i < rank; i++)
        jx_buffer_printf(&text, "%s%d", text.length ? "," : "", i);
    give_list(in, name, &text);
    jx_buffer_free(&text);
}

static void give_params(instance *in, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nparams; i++) {
        const jx_value *v = eqn->params[i].value;
        const char *name = eqn->params[i].name;
        if (v->tag == JX_V_INT)
            give_number(in, name, v->integer);
        else if (v->tag == JX_V_BOOL)
            give(in, name, v->boolean ? "True" : "False");
        else if (v->tag == JX_V_IMPL || v->tag == JX_V_TEXT)
            give(in, name,
                 v->tag == JX_V_IMPL && jx_prng_named(v->text)
                     ? jx_prng_tag(jx_prng_named(v->text))
                     : v->text);
    }
}

static bool partitionable(const jx_eqn *eqn)
{
    return !eqn->ctx || eqn->ctx->threefry_partitionable;
}

static void give_eqn(instance *in, jx_program *program, const jx_eqn *eqn)
{
    const jx_aval *out = eqn->nouts ? eqn->outs[0]->aval : NULL;
    const jx_aval *first = eqn->nins ? jx_atom_aval(eqn->ins[0]) : NULL;
    const jx_aval *last =
        eqn->nins ? jx_atom_aval(eqn->ins[eqn->nins - 1]) : NULL;
    int keys = first ? first->rank : 0;

    give(in, "P", eqn->prim->name);
    give(in, "partitionable", partitionable(eqn) ? "1" : "0");
    give_params(in, eqn);
    if (out) {
        give(in, "R", jx_dtype_of(out->dtype)->short_name);
        give_sizes(in, "S", out->rank, out->shape);
        give_number(in, "rank", out->rank);
        give_axes(in, "axes", out->rank, out->rank);
        give_product(in, "n", program->dims, out->rank, out->shape);
        if (out->rank) {
            give_product(in, "rows", program->dims, out->rank - 1, out->shape);
            give_product(in, "p", program->dims, 1, out->shape + out->rank - 1);
        }
    }
    if (!first)
        return;
    if (out && keys <= out->rank) {
        give_sizes(in, "M", out->rank - keys, out->shape + keys);
        give_product(in, "m", program->dims, out->rank - keys,
                     out->shape + keys);
        give_axes(in, "axes_K", out->rank, keys);
        give_axes(in, "axes_D", out->rank, last->rank);
    }
    give(in, "dtype", jx_dtype_of(last->dtype)->name);
    give(in, "impl", first->impl ? first->impl : "");
    give(in, "T", jx_dtype_of(last->dtype)->short_name);
    give_sizes(in, "K", keys, first->shape);
    give_product(in, "k", program->dims, keys, first->shape);
    give_sizes(in, "D", last->rank, last->shape);
    give_product(in, "d", program->dims, last->rank, last->shape);
    if (last->rank)
        give_product(in, "last", program->dims, 1,
                     last->shape + last->rank - 1);
}

/* ---- putting values in */

static bool put(const instance *in, const char *text, int depth, jx_buffer *to);

/* `$NAME` at `at`; what stands behind it, or NULL: nothing is known by it. */
static const char *put_variable(const instance *in, const char *at, int depth,
                                jx_buffer *to)
{
    bool tuple = to->length && jx_buffer_text(to)[to->length - 1] == '(';
    size_t n = name_length(at + 1), before = to->length;
    const given *found = given_as(in, at + 1, n);

    if (!found || depth >= DEPTH || !put(in, found->value, depth + 1, to))
        return NULL;
    at += n + 1;
    if (to->length == before && *at == ',')
        return at + 1 + strspn(at + 1, " ");
    if (tuple && found->list && *at == ')' && to->length > before)
        jx_buffer_putc(to, ',');
    return at;
}

static bool unknown(const instance *in, const char *at)
{
    int count = 1, n = (int)name_length(at + 1) + 1;
    const char *place = strstr(in->row->text, at);
    char where[32];

    for (const char *c = in->row->text; place && c < place; c++)
        count += *c == '\n';
    snprintf(where, sizeof where, "line %d", count);
    return jx_fail(in->ctx, JX_E_INPUT, in->row->path, place ? where : NULL,
                   "nothing is known by `%.*s`", n, at);
}

/* Lines stay where they are, so that errors name the right ones. */
static bool put(const instance *in, const char *text, int depth, jx_buffer *to)
{
    while (*text) {
        if (*text == '#')
            text += strcspn(text, "\n");
        else if (*text == '$') {
            const char *behind = put_variable(in, text, depth, to);
            if (!behind)
                return unknown(in, text);
            text = behind;
        } else
            jx_buffer_putc(to, *text++);
    }
    return true;
}

static const char *text_of(const instance *in, const char *from)
{
    jx_buffer text = jx_ctx_text(in->ctx);
    const char *kept = NULL;

    if (put(in, from, 0, &text))
        kept =
            jx_arena_string(in->ctx->arena, jx_buffer_text(&text), text.length);
    jx_buffer_free(&text);
    return kept;
}

/* What the dim comes to here; nothing is given where it is none. */
static void give_size(instance *in, const line *l)
{
    const char *text = in->dims ? text_of(in, l->text) : NULL, *expected;
    jx_assignment none = {0};
    int64_t value;
    size_t end;
    const jx_dim *dim = text ? jx_dim_parse(in->dims, text, strlen(text),
                                            in->scope, &end, &expected)
                             : NULL;

    if (dim && jx_dim_eval(dim, jx_assigned, &none, &value))
        give_number(in, l->name, value);
    else if (dim)
        give_product(in, l->name, in->dims, 1, &dim);
}

/* Whether the values are among those of the header; then the others, too. */
static bool fits(instance *in)
{
    for (size_t i = 0; i < in->lines.count; i++) {
        const line *l = &in->lines.at[i];
        const char *name = l->key ? l->key : l->name, *word;
        const char *value = value_of(in, name);
        if (l->kind == LET)
            give(in, l->name, l->text);
        else if (l->kind == SIZE)
            give_size(in, l);
        if (l->kind != LIST)
            continue;
        for (size_t k = 0; l->key && k < i; k++)
            if (!in->lines.at[k].key && !strcmp(in->lines.at[k].name, name)) {
                int at = value ? place_of(in->lines.at[k].text, value) : -1;
                size_t n = at < 0 ? 0 : word_at(l->text, at, &word);
                if (n)
                    give(in, l->name, jx_arena_string(in->ctx->arena, word, n));
            }
        if (!l->key && (!value || place_of(l->text, value) < 0))
            return false;
    }
    return true;
}

/* ---- equations */

/* Whether the first line of the row's header names the primitive: most rows are
 * left out by that, and not read. */
static bool defines(const jx_decomposition *row, const char *prim)
{
    static const char first[] = "#: P =";
    const char *at = strstr(row->text, first);
    size_t n = strlen(prim);

    for (at = at ? at + strlen(first) : ""; *at == ' ';
         at += strcspn(at, " \n")) {
        at++;
        if (!strncmp(at, prim, n) && (at[n] == ' ' || at[n] == '\n'))
            return true;
    }
    return false;
}

/* The row for the equation, ready for its values. */
static bool find(const jx_decompositions *among, const jx_eqn *eqn,
                 instance *found)
{
    const jx_decomposition *row =
        among->table ? among->table : jx_decomposition_table;

    for (; row->path; row++) {
        instance in = {.ctx = among->program->ctx,
                       .dims = among->program->dims,
                       .row = row};
        if (!defines(row, eqn->prim->name) || !read_header(&in))
            continue;
        give_eqn(&in, among->program, eqn);
        if (fits(&in)) {
            *found = in;
            return true;
        }
    }
    return false;
}

const jx_decomposed *jx_decomposed_of(jx_decompositions *in, const jx_eqn *eqn)
{
    jx_program *program = in->program;
    instance found;
    const char *text =
        find(in, eqn, &found) ? text_of(&found, found.row->text) : NULL;
    jx_decomposed *made =
        text ? JX_NEW(program->ctx->arena, jx_decomposed) : NULL;

    if (!made)
        return NULL;
    for (size_t i = 0; i < in->made.count; i++)
        if (in->made.at[i]->partitionable == partitionable(eqn) &&
            in->made.at[i]->scope == found.scope &&
            !strcmp(in->made.at[i]->text, text))
            return in->made.at[i];
    made->row = found.row;
    made->text = text;
    made->scope = found.scope;
    made->partitionable = partitionable(eqn);
    made->within = value_of(&found, "within");
    made->off = value_of(&found, "off");
    made->closed.jaxpr =
        jx_read_text_for(program, found.row->path, text, found.scope, eqn->ctx);
    if (!made->closed.jaxpr)
        return NULL;
    JX_PUSH(program->ctx->arena, &in->made, made);
    return made;
}

const jx_closed *jx_decomposition_of(jx_decompositions *in, const jx_eqn *eqn)
{
    const jx_decomposed *made = jx_decomposed_of(in, eqn);

    return made ? &made->closed : NULL;
}

/* ---- examples */

/* Gives each variable with a list the value that number `*index` has for it;
 * what is left over of the number, *index. */
static void give_values(instance *in, int *index)
{
    for (size_t i = 0; i < in->lines.count; i++) {
        const line *l = &in->lines.at[i];
        const char *word;
        int count = 0;
        if (l->kind != LIST || l->key)
            continue;
        while (word_at(l->text, count, &word))
            count++;
        size_t n = count ? word_at(l->text, *index % count, &word) : 0;
        *index /= count ? count : 1;
        give(in, l->name, jx_arena_string(in->ctx->arena, word, n));
    }
}

const char *jx_decomposition_example(jx_ctx *ctx, const jx_decomposition *row,
                                     int index, bool *partitionable)
{
    instance in = {.ctx = ctx, .row = row};
    const char *value;

    if (!read_header(&in))
        return NULL;
    give_values(&in, &index);
    value = value_of(&in, "partitionable");
    *partitionable = !value || strcmp(value, "0") != 0;
    fits(&in);
    for (size_t i = 0; i < in.lines.count; i++)
        if (in.lines.at[i].kind == EXAMPLE && !index--)
            return text_of(&in, in.lines.at[i].text);
    return NULL;
}
