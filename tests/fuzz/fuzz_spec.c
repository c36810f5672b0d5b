/* fuzz_spec.c - specs, constraints, and shapes that are matched with them.
 *
 * The input has lines: a spec, the shape that its placeholders stand for (may
 * be empty), constraints parted by `;`, a shape.  What can be read must print
 * to a text that gives the same shape; what can't has a column within the text;
 * what is solved for a shape must make the spec that shape and keep every
 * constraint whose variables it gives. */
#include "frontend/ir/dim_spec.h"
#include "frontend/ir/scope.h"
#include "runtime/plan.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_TEXT = 300, PARTS = 4, BUDGET = 1 << 27 };

/* The input's lines, each a text of its own. */
static void cut(const uint8_t *data, size_t size, char parts[PARTS][MAX_TEXT])
{
    int part = 0;
    size_t n = 0;

    memset(parts, 0, PARTS * MAX_TEXT);
    for (size_t i = 0; i < size && part < PARTS; i++) {
        if (data[i] == '\n') {
            part++;
            n = 0;
        } else if (n + 1 < MAX_TEXT && data[i]) {
            parts[part][n++] = (char)data[i];
        }
    }
}

static bool read_spec(jx_dims *dims, const char *text, const jx_dim_shape *like,
                      jx_dim_shape *to)
{
    jx_dim_spec_error error = {0};

    if (jx_dim_spec_read(dims, text, 0, like, to, &error))
        return true;
    check(error.expected && error.column >= 1 &&
          error.column <= strlen(text) + 1);
    return false;
}

static void check_print(jx_dims *dims, const jx_dim_shape *shape)
{
    jx_dim_shape again;
    jx_buffer text = {0};

    jx_dim_shape_print(shape, &text);
    check(read_spec(dims, jx_buffer_text(&text), NULL, &again));
    check(again.rank == shape->rank);
    for (int i = 0; i < shape->rank; i++)
        check(again.dims[i] == shape->dims[i]);
    jx_buffer_free(&text);
}

static bool declare(jx_dims *dims, char *text, bool rewrites,
                    jx_scope_list *list)
{
    jx_scope_error error = {0};

    for (char *next; *text; text = next) {
        size_t n = strcspn(text, ";");
        next = text + n + (text[n] == ';');
        text[n] = '\0';
        if (!jx_scope_declare(dims, text, 0, rewrites, list, &error)) {
            check(error.expected && error.column <= n + 1);
            return false;
        }
    }
    return true;
}

static bool value_of(void *env, const jx_dim_atom *var, int64_t *value)
{
    const jx_binding *const *at = env;

    for (const jx_binding *b = *at; b->var; b++)
        if (b->var == var) {
            *value = (int64_t)b->value;
            return *value == b->value;
        }
    return false;
}

static void check_solution(const jx_program *program, const int64_t *sizes,
                           int count, const jx_binding *found)
{
    const jx_aval *aval = program->entry.jaxpr->vars[0]->aval;
    jx_binding *all = calloc((size_t)count + 1, sizeof *all);
    int64_t value, lhs, rhs;

    check(all != NULL);
    if (count)
        memcpy(all, found, (size_t)count * sizeof *all);
    for (int i = 0; i < count; i++)
        check(all[i].value >= 1);
    for (int k = 0; k < aval->rank; k++)
        check(jx_dim_eval(aval->shape[k], value_of, &all, &value) &&
              value == sizes[k]);
    for (int i = 0; i < program->scopes[0].nconstraints; i++) {
        const jx_scope_constraint *c = &program->scopes[0].constraints[i];
        if (jx_dim_eval(c->lhs, value_of, &all, &lhs) &&
            jx_dim_eval(c->rhs, value_of, &all, &rhs))
            check(jx_scope_holds(c, lhs, rhs));
    }
    free(all);
}

static void check_solving(jx_ctx *ctx, jx_dims *dims, const jx_dim_shape *shape,
                          const jx_scope_list *list, const char *text)
{
    jx_aval aval = {.dtype = JX_F32, .rank = shape->rank, .shape = shape->dims};
    jx_var var = {.aval = &aval};
    const jx_var *vars[] = {&var};
    jx_jaxpr entry = {.nins = 1, .nvars = 1, .vars = vars};
    jx_scope scope = {(int)list->count, list->at, NULL};
    jx_program program = {.ctx = ctx,
                          .dims = dims,
                          .base = 1,
                          .nscopes = 1,
                          .scopes = &scope,
                          .entry = {.jaxpr = &entry}};
    jx_dim_shape given;
    int64_t sizes[MAX_TEXT];
    const int64_t *shapes[] = {sizes};
    const jx_binding *found;
    int count;

    if (!read_spec(dims, text, NULL, &given))
        return;
    for (int i = 0; i < given.rank; i++)
        if (!jx_dim_is_int(given.dims[i], &sizes[i]))
            return;
    if (jx_plan_solve(&program, &given.rank, shapes, 0, NULL, &count, &found))
        check_solution(&program, sizes, count, found);
    else
        check(ctx->error.message != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char parts[PARTS][MAX_TEXT];
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    jx_dims *dims = ctx ? jx_dims_new(ctx) : NULL;
    jx_dim_shape like, shape;
    jx_scope_list list = {0};

    cut(data, size, parts);
    if (dims && (!*parts[1] || read_spec(dims, parts[1], NULL, &like)) &&
        read_spec(dims, parts[0], *parts[1] ? &like : NULL, &shape)) {
        check_print(dims, &shape);
        /* With rewriting in every second input: by its first byte. */
        if (declare(dims, parts[2], data[0] & 1, &list) && jx_ok(ctx))
            check_solving(ctx, dims, &shape, &list, parts[3]);
    }
    jx_ctx_free(ctx);
    return 0;
}
