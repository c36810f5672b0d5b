/* stablehlo_places.c - locations as stacks, the way JAX writes them:
 *
 *     loc("jit(f)/jit(main)/add"(callsite("f"("file.py":3:4 to :9) at ...)))
 *
 * The outermost name is the name stack; under it is the traceback: calls from
 * the innermost on, each a function's name around a place in a file. */
#include "frontend/read/stablehlo_parts.h"

#include "frontend/read/stablehlo.h"

/* Tracebacks are cut off here, as JAX's exporter and ours do. */
enum { MOST_FRAMES = 32, MOST_STEPS = 4096 };

/* ---- files */

static const char *after(const char *path, const char *folder)
{
    const char *found = strstr(path, folder);

    return found ? found + strlen(folder) : NULL;
}

/* What lies in site-packages is shown from there on. */
static jx_file_kind kind_of(const char *path, const char **shown)
{
    const char *inside = after(path, "/site-packages/");

    if (!inside)
        inside = after(path, "/dist-packages/");
    *shown = inside ? inside : path;
    if (inside &&
        (!strncmp(inside, "jax/", 4) || !strncmp(inside, "jaxlib/", 7)))
        return JX_FILE_JAX;
    if (inside || path[0] == '<')
        return inside ? JX_FILE_LIBRARY : JX_FILE_USER;
    const char *python = after(path, "/lib/python3");
    if (python && (inside = strchr(python, '/'))) {
        *shown = inside + 1;
        return JX_FILE_LIBRARY;
    }
    return JX_FILE_USER;
}

static const jx_file *file_of(jx_hlo_reader *s, const char *path)
{
    const jx_file *found = jx_map_get(&s->files, path);
    const char *shown;

    if (found)
        return found;
    jx_file *file = JX_NEW(s->ctx->arena, jx_file);
    if (!file)
        return NULL;
    file->kind = kind_of(path, &shown);
    file->path = jx_intern_text(s->ctx, shown);
    JX_PUSH(s->ctx->arena, &s->files_read, file);
    jx_map_put(&s->files, path, file);
    return file;
}

/* ---- frames */

static int number(int64_t value)
{
    return value >= 0 && value < INT32_MAX ? (int)value : -1;
}

/* Columns are from 0, as JAX writes them (MLIR's own files count from 1). */
static void set_range(const jx_mlir_attr *at, jx_frame *to)
{
    int64_t line = at->count > 0 ? at->integers[0] : 0;

    to->line = line > 0 ? number(line) : 0;
    to->column = at->count > 1 ? number(at->integers[1]) : -1;
    to->end_line = at->count > 3 ? number(at->integers[2]) : to->line;
    to->end_column = at->count > 3   ? number(at->integers[3])
                     : at->count > 2 ? number(at->integers[2])
                                     : -1;
}

static const jx_frame *frame_of(jx_hlo_reader *s, const jx_mlir_attr *file,
                                const char *function)
{
    const jx_frame *found = jx_map_get(&s->frames, file);
    jx_frame *frame;

    if (found && found->function == function)
        return found;
    frame = JX_NEW(s->ctx->arena, jx_frame);
    if (!frame || !file->text)
        return NULL;
    frame->file = file_of(s, file->text);
    frame->function = function;
    set_range(file, frame);
    if (!found)
        jx_map_put(&s->frames, file, frame);
    return frame->file ? frame : NULL;
}

/* ---- stacks */

/* Walks a location without recursion: calls nest as deep as the program's own
 * did.  `rest` holds the callers still to come. */
typedef struct walk {
    jx_hlo_reader *s;
    const jx_frame *frames[MOST_FRAMES];
    int count, steps;
    const char *function; /* the name around what comes */
    JX_VEC(const jx_mlir_attr *) rest;
} walk;

static const jx_mlir_attr *item(const jx_mlir_attr *at, int index)
{
    return index < at->count ? at->items[index] : NULL;
}

static void push(walk *w, const jx_mlir_attr *at)
{
    if (at)
        JX_PUSH(w->s->ctx->arena, &w->rest, at);
}

static void step(walk *w, const jx_mlir_attr *at)
{
    switch (at->kind) {
    case JX_A_LOC_CALL:
        push(w, item(at, 1));
        push(w, item(at, 0));
        break;
    case JX_A_LOC_FUSED: push(w, item(at, 0)); break;
    case JX_A_LOC_NAME:
        w->function = at->text;
        push(w, item(at, 0));
        break;
    case JX_A_LOC_FILE: {
        const jx_frame *frame = frame_of(w->s, at, w->function);
        if (frame && w->count < MOST_FRAMES)
            w->frames[w->count++] = frame;
        w->function = NULL;
        break;
    }
    default: w->function = NULL; break;
    }
}

static const jx_stack *make_stack(jx_hlo_reader *s, const jx_mlir_attr *loc)
{
    walk w = {.s = s};
    jx_stack *stack;

    push(&w, loc);
    while (w.rest.count && w.steps++ < MOST_STEPS && w.count < MOST_FRAMES) {
        const jx_mlir_attr *at = w.rest.at[--w.rest.count];
        step(&w, at);
    }
    if (!w.count)
        return NULL;
    stack = JX_NEW(s->ctx->arena, jx_stack);
    if (!stack)
        return NULL;
    stack->count = w.count;
    stack->frames = jx_arena_copy(s->ctx->arena, w.frames,
                                  (size_t)w.count * sizeof *w.frames);
    return stack->frames ? stack : NULL;
}

/* A fused location stands for the first that it is fused of. */
static const jx_mlir_attr *unfused(const jx_mlir_attr *loc)
{
    for (int i = 0; i < MOST_STEPS; i++) {
        if (!loc || loc->kind != JX_A_LOC_FUSED || !loc->count)
            return loc;
        loc = loc->items[0];
    }
    return NULL;
}

const jx_stack *jx_hlo_stack(jx_hlo_reader *s, const jx_mlir_attr *loc)
{
    const jx_stack *stack = jx_map_get(&s->stacks, loc);
    const jx_mlir_attr *at = s->placeless ? NULL : unfused(loc);

    /* A location without frames has none for good. */
    if (stack || !at || jx_map_has(&s->stacks, loc))
        return stack;
    /* The outermost name is a name stack, not a function. */
    if (at->kind == JX_A_LOC_NAME && at->count &&
        at->items[0]->kind != JX_A_LOC_FILE)
        at = at->items[0];
    stack = make_stack(s, at);
    jx_map_put(&s->stacks, loc, stack);
    return stack;
}

/* "jit(f)/jit(main)/add": what is before the primitive.  A call has none behind
 * its own: "jit(f)/transpose(jvp(jit(g)))". */
const char *jx_hlo_name_stack(jx_hlo_reader *s, const jx_mlir_attr *loc)
{
    const jx_mlir_attr *at = unfused(loc);
    const char *slash;

    if (!at || at->kind != JX_A_LOC_NAME || !at->text)
        return NULL;
    slash = at->text + strlen(at->text);
    if (slash == at->text || slash[-1] != ')')
        slash = strrchr(at->text, '/');
    return slash ? jx_strings_add(&s->ctx->strings, at->text,
                                  (size_t)(slash - at->text))
                 : NULL;
}
