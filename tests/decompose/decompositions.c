/* decompositions.c - checks decompositions, as the build does.
 *
 *     decompositions FILE.jaxpr ...
 *
 * The examples of each file (frontend/decompose/decompose.h) are read, verified
 * and typed, and so is what their equation is made of: nothing may be wrong
 * with it, or open, and it must take and give what the equation does.  What is
 * wrong is said with file and line. */
#include "analyzer/typing.h"
#include "frontend/base/file.h"
#include "frontend/decompose/decompose.h"
#include "frontend/ir/params.h"
#include "frontend/read/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool complain(const char *path, int line, const char *what,
                     const char *more)
{
    fprintf(stderr, "%s:%d: %s%s%s\n", path, line, what, more ? ": " : "",
            more ? more : "");
    return false;
}

static int line_of(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    int line = 1;

    for (; at && at > text; at--)
        line += at[-1] == '\n';
    return line;
}

/* What the context failed at; its place begins with the line. */
static bool told(const char *path, const jx_ctx *ctx, int otherwise)
{
    int line = otherwise;

    if (ctx->error.place)
        sscanf(ctx->error.place, "line %d", &line);
    return complain(path, line, "unreadable", ctx->error.message);
}

static const jx_eqn *subject(const jx_program *program)
{
    const jx_jaxpr *j = program->entry.jaxpr;

    return j->neqns == 1 ? &j->eqns[0] : NULL;
}

static const char *shown(jx_program *p, const jx_aval *aval)
{
    jx_buffer text = jx_ctx_text(p->ctx);
    const char *kept;

    jx_aval_print(aval, &text);
    kept = jx_arena_string(p->ctx->arena, jx_buffer_text(&text), text.length);
    jx_buffer_free(&text);
    return kept;
}

/* It takes and gives what the equation does. */
static bool same_types(jx_program *p, const jx_decomposition *row,
                       const jx_eqn *eqn, const jx_jaxpr *made)
{
    int line = line_of(row->text, "\n{ lambda") + 1;
    bool ok =
        made->nins == eqn->nins && made->nouts == eqn->nouts && !made->nconsts;

    if (!ok)
        return complain(row->path, line,
                        "takes or gives another number of "
                        "arrays than its primitive",
                        NULL);
    for (int i = 0; i < eqn->nins; i++)
        if (made->vars[i]->aval != jx_atom_aval(eqn->ins[i]))
            ok = complain(row->path, line,
                          "takes another type than its primitive",
                          shown(p, made->vars[i]->aval));
    for (int i = 0; i < eqn->nouts; i++)
        if (jx_atom_aval(made->outs[i]) != eqn->outs[i]->aval)
            ok = complain(row->path, line,
                          "gives another type than its primitive",
                          shown(p, jx_atom_aval(made->outs[i])));
    return ok;
}

/* Verified and typed by itself. */
static bool well_typed(const jx_decomposition *row, const char *text)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_text_lines lines = {0};
    jx_program *p =
        jx_read_text_lines(ctx, row->path, text, strlen(text), &lines);
    const jx_analysis *to =
        p && jx_program_verify(p) ? jx_typed_analysis(p) : NULL;
    bool ok = to || told(row->path, ctx, 1);

    for (size_t i = 0; to && i < to->claims.count; i++) {
        const jx_claim *claim = to->claims.at[i];
        int line =
            claim->jaxpr && claim->eqn
                ? lines.at[claim->jaxpr->id][claim->eqn - claim->jaxpr->eqns]
                : 1;
        ok = complain(row->path, line,
                      claim->verdict == JX_REFUTED ? "wrong" : "not settled",
                      claim->what);
    }
    for (size_t i = 0; to && i < to->unknowns.count; i++) {
        const jx_unknown *u = &to->unknowns.at[i];
        ok =
            complain(row->path, lines.at[u->jaxpr->id][u->eqn - u->jaxpr->eqns],
                     "no primitive", u->name);
    }
    jx_ctx_free(ctx);
    return ok;
}

static void count_threefry(const jx_eqn *eqn, bool partitionable)
{
    static const jx_eqn_ctx ways[2] = {{.threefry_partitionable = false},
                                       {.threefry_partitionable = true}};

    ((jx_eqn *)(uintptr_t)eqn)->ctx = &ways[partitionable];
}

/* Example `index`; false at the first thing that is wrong, *ended behind
 * the last example. */
static bool check_example(const jx_decomposition *row, int index, bool *ended)
{
    jx_decomposition table[2] = {*row};
    jx_ctx *ctx = jx_ctx_new(0);
    bool partitionable, ok = true;
    const char *text =
        jx_decomposition_example(ctx, row, index, &partitionable);
    int line = line_of(row->text, "#: example");
    jx_program *p =
        text ? jx_read_text(ctx, row->path, text, strlen(text)) : NULL;
    const jx_analysis *to =
        p && jx_program_verify(p) ? jx_typed_analysis(p) : NULL;
    const jx_eqn *eqn = to ? subject(p) : NULL;
    jx_decompositions all = {.program = p, .table = table};
    const jx_decomposed *made = NULL;

    *ended = !text && jx_ok(ctx);
    if (*ended && !index)
        ok = complain(row->path, 1, "has no example", NULL);
    else if (!*ended && (!eqn || to->claims.count || to->unknowns.count))
        ok = jx_ok(ctx)
                 ? complain(row->path, line,
                            "the example is no program of "
                            "one equation",
                            text)
                 : complain(row->path, line, "the example", ctx->error.message);
    if (ok && eqn) {
        count_threefry(eqn, partitionable);
        made = jx_decomposed_of(&all, eqn);
        if (!made)
            ok = jx_ok(ctx) ? complain(row->path, line,
                                       "is not about its example", text)
                            : told(row->path, ctx, line);
    }
    ok = ok && (!made || (well_typed(row, made->text) &&
                          same_types(p, row, eqn, made->closed.jaxpr)));
    jx_ctx_free(ctx);
    return ok;
}

static bool check_file(const char *path)
{
    jx_ctx *ctx = jx_ctx_new(0);
    size_t size;
    jx_decomposition row = {path, jx_file_read(ctx, path, &size)};
    bool ok = row.text || complain(path, 1, "unreadable", ctx->error.message);
    bool ended = false;

    for (int i = 0; ok && !ended; i++)
        ok = check_example(&row, i, &ended);
    jx_ctx_free(ctx);
    return ok;
}

int main(int argc, char **argv)
{
    int bad = 0;

    for (int i = 1; i < argc; i++)
        bad += !check_file(argv[i]);
    return bad != 0;
}
