/* text_names.c - what `%x` means where.
 *
 * A name means its values from its definition to the end of the region, inner
 * regions included unless they are isolated.  In a region of several blocks a
 * value may be used in a block that stands before the one that defines it: it
 * is then made at its first use. */
#include "frontend/mlir/print.h"
#include "frontend/mlir/text_parts.h"

#include <ctype.h>
#include <string.h>

static bool same_name(const void *kept, const void *key)
{
    const jx_mname *a = kept;
    const jx_piece *b = key;

    return a->length == b->length && memcmp(a->text, b->at, b->length) == 0;
}

static jx_mname *name_of(jx_mtext *t, jx_piece piece)
{
    uint64_t hash = jx_hash_bytes(piece.at, piece.length);
    jx_mname *name = (jx_mname *)(uintptr_t)jx_intern_find(&t->values, hash,
                                                           &piece, same_name);

    if (name)
        return name;
    name = jx_arena_alloc(t->arena, sizeof *name + piece.length + 1);
    if (!name || !jx_intern_add(&t->values, hash, name)) {
        t->failed = true;
        return NULL;
    }
    memcpy(name->text, piece.at, piece.length);
    name->length = piece.length;
    return name;
}

bool jx_mtext_use(jx_mtext *t, jx_muse *use)
{
    if (jx_mtext_space(t) != '%')
        return false;
    *use = (jx_muse){.at = t->at++};
    jx_piece piece = jx_mtext_suffix(t);
    if (!piece.length)
        return jx_mtext_wants(t, "the name of a value after '%'");
    use->name = name_of(t, piece);
    if (t->at < t->end && *t->at == '#') {
        t->at++;
        const char *at = t->at;
        if (!jx_mtext_integer(t, &use->number) || use->number < 0)
            return jx_mtext_fail(t, at, "expected the number of a result");
    }
    return !t->failed;
}

bool jx_mtext_need(jx_mtext *t, jx_muse *use)
{
    return jx_mtext_use(t, use) || jx_mtext_wants(t, "a value, %name");
}

bool jx_mtext_operand(jx_mtext *t)
{
    jx_muse use;

    if (!jx_mtext_need(t, &use))
        return false;
    JX_PUSH(t->arena, &t->uses, use);
    return true;
}

bool jx_mtext_uses(jx_mtext *t)
{
    if (!jx_mtext_comes(t, "%"))
        return !t->failed;
    while (jx_mtext_operand(t))
        if (!jx_mtext_take(t, ","))
            return !t->failed;
    return false;
}

static jx_mlir_value *new_value(jx_mtext *t, const jx_mlir_type *type)
{
    jx_mlir_value *value = JX_NEW(t->arena, jx_mlir_value);

    if (value)
        value->type = type;
    else
        t->failed = true;
    return value;
}

static bool wrong_type(jx_mtext *t, const char *at, const jx_mname *name,
                       const jx_mlir_type *is, const jx_mlir_type *here)
{
    jx_buffer types = jx_ctx_text(t->ctx);
    size_t first;
    bool failed;

    jx_mlir_print_type(is, &types);
    first = types.length;
    jx_mlir_print_type(here, &types);
    failed = jx_mtext_fail(
        t, at, "%%%.64s is of type %.*s%s here it is of type %.80s", name->text,
        first < 80 ? (int)first : 80, jx_buffer_text(&types),
        first < 80 ? "," : "...,", jx_buffer_text(&types) + first);
    jx_buffer_free(&types);
    return failed;
}

static jx_mlir_value *use_forward(jx_mtext *t, const jx_muse *use,
                                  const jx_mlir_type *type)
{
    jx_mforward *forward = use->name->forward;

    if (forward && !forward->defined && forward->scope == t->scope) {
        if (forward->value->type != type)
            return wrong_type(t, use->at, use->name, forward->value->type,
                              type),
                   NULL;
        return forward->value;
    }
    forward = JX_NEW(t->arena, jx_mforward);
    if (use->number || !forward) {
        jx_mtext_fail(t, use->at, "%%%.64s is not defined", use->name->text);
        return NULL;
    }
    *forward = (jx_mforward){use->at,  use->name, new_value(t, type),
                             t->scope, t->level,  false};
    use->name->forward = forward;
    JX_PUSH(t->arena, &t->forwards, forward);
    return forward->value;
}

jx_mlir_value *jx_mtext_resolve(jx_mtext *t, const jx_muse *use,
                                const jx_mlir_type *type)
{
    const jx_mname *name = use->name;

    if (!name->values || name->scope != t->scope)
        return use_forward(t, use, type);
    if (use->number >= name->count) {
        jx_mtext_fail(
            t, use->at, "%%%.64s has %d results, there is no %%%.64s#%lld",
            name->text, name->count, name->text, (long long)use->number);
        return NULL;
    }
    jx_mlir_value *value = name->values[use->number];
    if (value->type != type) {
        wrong_type(t, use->at, name, value->type, type);
        return NULL;
    }
    return value;
}

jx_mlir_value *jx_mtext_value(jx_mtext *t, const jx_muse *name,
                              const jx_mlir_type *type)
{
    jx_mforward *forward = name && name->name ? name->name->forward : NULL;

    if (!forward || forward->defined || forward->scope != t->scope ||
        forward->level != t->level)
        return new_value(t, type);
    if (forward->at >= t->block) {
        jx_mtext_fail(t, forward->at, "%%%.64s is used before it is defined",
                      name->name->text);
        return NULL;
    }
    if (forward->value->type != type) {
        wrong_type(t, forward->at, name->name, type, forward->value->type);
        return NULL;
    }
    forward->defined = true;
    return forward->value;
}

bool jx_mtext_define(jx_mtext *t, const jx_muse *use,
                     jx_mlir_value *const *values, int count)
{
    jx_mname *name = use->name;

    if (name->values && name->scope == t->scope)
        return jx_mtext_fail(t, use->at, "%%%.64s is defined twice",
                             name->text);
    JX_PUSH(t->arena, &t->hidden,
            (jx_mhidden){name, name->values, name->count, name->scope});
    name->values = values;
    name->count = count;
    name->scope = t->scope;
    return true;
}

bool jx_mtext_open(jx_mtext *t, jx_mscope *was, bool isolated)
{
    *was = (jx_mscope){t->hidden.count, t->forwards.count, t->scope, isolated,
                       t->block,        t->dialect,        t->labels};
    if (t->level >= JX_MTEXT_DEPTH)
        return jx_mtext_fail(t, t->at, "regions nest more than %d deep",
                             JX_MTEXT_DEPTH);
    t->level++;
    if (isolated)
        t->scope = ++t->scopes;
    return !t->failed;
}

/* Values that were used but are not defined yet: an outer block may do so,
 * unless nothing of an outer region is seen here. */
static bool keep_forwards(jx_mtext *t, const jx_mscope *was)
{
    size_t kept = t->forwards.count;

    while (kept && (t->forwards.at[kept - 1]->defined ||
                    t->forwards.at[kept - 1]->level == t->level)) {
        jx_mforward *forward = t->forwards.at[kept - 1];
        if (!forward->defined && was->isolated)
            return jx_mtext_fail(t, forward->at, "%%%.64s is not defined",
                                 forward->name->text);
        forward->level--;
        kept--;
    }
    if (was->isolated)
        t->forwards.count = kept;
    return true;
}

bool jx_mtext_close(jx_mtext *t, const jx_mscope *was)
{
    bool ok = t->failed || keep_forwards(t, was);

    while (t->hidden.count > was->hidden) {
        const jx_mhidden *h = &t->hidden.at[--t->hidden.count];
        h->name->values = h->values;
        h->name->count = h->count;
        h->name->scope = h->scope;
    }
    t->level--;
    t->scope = was->scope;
    t->block = was->block;
    t->dialect = was->dialect;
    t->labels = was->labels;
    return ok && !t->failed;
}
