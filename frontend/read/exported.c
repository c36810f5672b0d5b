/* exported.c - the root table of exported files; see exported.h. */
#include "frontend/read/exported_parts.h"

#include <stdio.h>
#include <string.h>

static jx_exported_texts read_effects(jx_flat *flat, const jx_flat_table *root,
                                      unsigned slot, const char *field)
{
    jx_flat_vector vector;
    const char **at;

    if (!jx_exported_vector(flat, root, slot, field, 4, &vector))
        return (jx_exported_texts){0};
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, const char *);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        jx_flat_table effect;
        if (!jx_exported_item(flat, &vector, field, i, &effect))
            break;
        at[i] = jx_flat_text(flat, &effect, 0, "type_name");
        if (!at[i])
            jx_flat_fail(flat, effect.at, "type_name",
                         "expected the name of an effect");
        jx_flat_leave(flat);
    }
    return (jx_exported_texts){(int)vector.count, at};
}

static void read_check(jx_flat *flat, const jx_flat_table *table,
                       jx_exported_check *to)
{
    to->kind = (int)jx_flat_scalar(flat, table, 0, "kind", 1, 0);
    to->target = jx_flat_text(flat, table, 1, "custom_call_target");
    if (to->kind > JX_CHECK_SHAPE_ASSERTIONS)
        jx_flat_fail(flat, jx_flat_where(flat, table, 0), "kind",
                     "expected a kind of check, 0 to %d, found %d",
                     JX_CHECK_SHAPE_ASSERTIONS, to->kind);
    if (to->kind == JX_CHECK_CUSTOM_CALL && !to->target)
        jx_flat_fail(flat, table->at, "custom_call_target",
                     "expected the target of a custom call");
}

static void read_checks(jx_flat *flat, const jx_flat_table *root,
                        jx_exported *to)
{
    static const char field[] = "disabled_checks";
    jx_flat_vector vector;
    jx_exported_check *at;

    if (!jx_exported_vector(flat, root, JX_XS_CHECKS, field, 4, &vector))
        return;
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, jx_exported_check);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        jx_flat_table check;
        if (!jx_exported_item(flat, &vector, field, i, &check))
            return;
        read_check(flat, &check, &at[i]);
        jx_flat_leave(flat);
    }
    to->nchecks = (int)vector.count;
    to->checks = at;
}

static void read_kept(jx_flat *flat, const jx_flat_table *root, jx_exported *to)
{
    static const char field[] = "module_kept_var_idx";
    jx_flat_vector vector;
    uint16_t *at;

    if (!jx_exported_vector(flat, root, JX_XS_KEPT, field, 2, &vector))
        return;
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, uint16_t);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        at[i] = (uint16_t)jx_flat_item(flat, &vector, i);
        if (at[i] >= to->nins || (i && at[i] <= at[i - 1])) {
            jx_flat_fail(flat, vector.at + 2 * (size_t)i, field,
                         "expected increasing indexes of %d inputs, found %d",
                         to->nins, at[i]);
            return;
        }
    }
    to->nkept = (int)vector.count;
    to->kept = at;
}

static void read_scalars(jx_flat *flat, const jx_flat_table *root,
                         jx_exported *to)
{
    for (unsigned i = 0; i < JX_EXPORTED_SLOTS; i++)
        if (jx_flat_has(flat, root, i))
            to->slots |= 1u << i;
    to->stored_version = (int)jx_flat_scalar(flat, root, JX_XS_VERSION,
                                             "serialization_version", 2, 0);
    to->calling_convention = (int)jx_flat_scalar(
        flat, root, JX_XS_CONVENTION, "calling_convention_version", 2, 0);
    to->devices_short = (int16_t)jx_flat_scalar(flat, root, JX_XS_DEVICES_SHORT,
                                                "nr_devices_short", 2, 0);
    to->devices_long =
        (uint32_t)jx_flat_scalar(flat, root, JX_XS_DEVICES, "nr_devices", 4, 0);
    to->uses_global_constants =
        jx_flat_scalar(flat, root, JX_XS_GLOBAL_CONSTANTS,
                       "uses_global_constants", 1, 0) != 0;
    to->devices = to->devices_long        ? to->devices_long
                  : to->devices_short > 0 ? (uint32_t)to->devices_short
                                          : 0;
}

static void read_texts(jx_flat *flat, const jx_flat_table *root,
                       jx_exported *to)
{
    to->name = jx_flat_text(flat, root, JX_XS_NAME, "function_name");
    if (!to->name)
        jx_flat_fail(flat, root->at, "function_name",
                     "expected the name of the function");
    to->jax_version =
        jx_flat_text(flat, root, JX_XS_JAX_VERSION, "jax_version");
    to->platforms =
        jx_exported_texts_of(flat, root, JX_XS_PLATFORMS, "platforms");
    to->ordered_effects =
        read_effects(flat, root, JX_XS_ORDERED_EFFECTS, "ordered_effects");
    to->unordered_effects =
        read_effects(flat, root, JX_XS_UNORDERED_EFFECTS, "unordered_effects");
}

static void read_tables(jx_flat *flat, const jx_flat_table *root,
                        jx_exported *to)
{
    to->old_in_avals =
        jx_exported_avals_of(flat, root, JX_XS_IN_AVALS, "in_avals");
    to->old_out_avals =
        jx_exported_avals_of(flat, root, JX_XS_OUT_AVALS, "out_avals");
    to->unique_avals =
        jx_exported_avals_of(flat, root, JX_XS_UNIQUE_AVALS, "unique_avals");
    to->meshes = jx_exported_meshes_of(flat, root, JX_XS_MESHES,
                                       "unique_abstract_meshes", &to->nmeshes);
    to->unique_named =
        jx_exported_named_of(flat, root, JX_XS_UNIQUE_NAMED,
                             "unique_named_shardings", to, &to->nunique_named);
    to->old_in_shardings = jx_exported_shardings_of(
        flat, root, JX_XS_IN_SHARDINGS, "in_shardings", to);
    to->old_out_shardings = jx_exported_shardings_of(
        flat, root, JX_XS_OUT_SHARDINGS, "out_shardings", to);
    to->in_avals_idxs = jx_exported_indexes_of(flat, root, JX_XS_IN_AVALS_IDXS,
                                               "in_avals_idxs");
    to->out_avals_idxs = jx_exported_indexes_of(
        flat, root, JX_XS_OUT_AVALS_IDXS, "out_avals_idxs");
    to->in_shardings_idxs = jx_exported_indexes_of(
        flat, root, JX_XS_IN_SHARDINGS_IDXS, "in_shardings_idxs");
    to->out_shardings_idxs = jx_exported_indexes_of(
        flat, root, JX_XS_OUT_SHARDINGS_IDXS, "out_shardings_idxs");
}

/* ---- of the two generations, what holds */

/* Where the index `i` of a vector of indexes lies. */
static size_t index_at(jx_flat *flat, const jx_flat_table *root, unsigned slot,
                       int i)
{
    jx_flat_vector vector;

    jx_flat_vector_of(flat, root, slot, "", 4, &vector);
    return vector.at + 4 * (size_t)i;
}

/* One side: inputs or outputs. */
typedef struct side {
    const char *avals_field, *shardings_field;
    unsigned avals_slot, shardings_slot;
    const jx_exported_avals *avals;
    const jx_exported_shardings *shardings;
    const jx_exported_indexes *avals_idxs, *shardings_idxs;
    int count;
    const jx_exported_aval *const *found_avals;
    const jx_exported_named *const *found_named;
    const jx_op_sharding *const *found_hlo;
} side;

static bool choose_avals(jx_flat *flat, const jx_flat_table *root,
                         const jx_exported *of, side *s)
{
    bool by_index = s->avals_idxs->count > 0;
    const jx_exported_aval **at;

    s->count = by_index ? s->avals_idxs->count : s->avals->count;
    at = JX_NEW_ARRAY(flat->ctx->arena, s->count, const jx_exported_aval *);
    for (int i = 0; at && i < s->count; i++) {
        uint32_t index = by_index ? s->avals_idxs->at[i] : 0;
        if (by_index && index >= (uint32_t)of->unique_avals.count)
            return jx_flat_fail(flat, index_at(flat, root, s->avals_slot, i),
                                s->avals_field,
                                "expected one of %d avals, found %u",
                                of->unique_avals.count, index);
        at[i] = by_index ? &of->unique_avals.at[index] : &s->avals->at[i];
    }
    s->found_avals = at;
    return at != NULL;
}

static bool choose_shardings(jx_flat *flat, const jx_flat_table *root,
                             const jx_exported *of, side *s)
{
    bool by_index = s->shardings_idxs->count > 0;
    int count = by_index ? s->shardings_idxs->count : s->shardings->count;
    const jx_exported_named **named;
    const jx_op_sharding **hlo;

    if (count && count != s->count)
        return jx_flat_fail(flat, jx_flat_where(flat, root, s->shardings_slot),
                            s->shardings_field,
                            "expected a sharding for each of %d avals, found "
                            "%d",
                            s->count, count);
    named = JX_NEW_ARRAY(flat->ctx->arena, s->count, const jx_exported_named *);
    hlo = JX_NEW_ARRAY(flat->ctx->arena, s->count, const jx_op_sharding *);
    for (int i = 0; named && hlo && i < count; i++) {
        uint32_t index = by_index ? s->shardings_idxs->at[i] : 0;
        if (by_index && index > (uint32_t)of->nunique_named)
            return jx_flat_fail(
                flat, index_at(flat, root, s->shardings_slot, i),
                s->shardings_field, "expected one of %d shardings, found %u",
                of->nunique_named, index);
        if (by_index) {
            named[i] = index ? &of->unique_named[index - 1] : NULL;
        } else {
            named[i] = s->shardings->at[i].named;
            hlo[i] = s->shardings->at[i].hlo;
        }
    }
    s->found_named = named;
    s->found_hlo = hlo;
    return named && hlo;
}

static bool choose(jx_flat *flat, const jx_flat_table *root, jx_exported *to)
{
    side in = {"in_avals_idxs",
               "in_shardings",
               JX_XS_IN_AVALS_IDXS,
               to->in_shardings_idxs.count ? JX_XS_IN_SHARDINGS_IDXS
                                           : JX_XS_IN_SHARDINGS,
               &to->old_in_avals,
               &to->old_in_shardings,
               &to->in_avals_idxs,
               &to->in_shardings_idxs,
               0,
               NULL,
               NULL,
               NULL};
    side out = {"out_avals_idxs",
                "out_shardings",
                JX_XS_OUT_AVALS_IDXS,
                to->out_shardings_idxs.count ? JX_XS_OUT_SHARDINGS_IDXS
                                             : JX_XS_OUT_SHARDINGS,
                &to->old_out_avals,
                &to->old_out_shardings,
                &to->out_avals_idxs,
                &to->out_shardings_idxs,
                0,
                NULL,
                NULL,
                NULL};

    if (!choose_avals(flat, root, to, &in) ||
        !choose_shardings(flat, root, to, &in) ||
        !choose_avals(flat, root, to, &out) ||
        !choose_shardings(flat, root, to, &out))
        return false;
    to->nins = in.count;
    to->in_avals = in.found_avals;
    to->in_named = in.found_named;
    to->in_hlo = in.found_hlo;
    to->nouts = out.count;
    to->out_avals = out.found_avals;
    to->out_named = out.found_named;
    to->out_hlo = out.found_hlo;
    return true;
}

/* ---- the whole */

static bool leaves_fit(jx_flat *flat, const jx_flat_table *root, unsigned slot,
                       const char *field, const jx_tree *tree, int count,
                       const char *what)
{
    return tree->leaves == count ||
           jx_flat_fail(flat, jx_flat_where(flat, root, slot), field,
                        "expected a leaf for each of %d %s, found %d", count,
                        what, tree->leaves);
}

static const jx_exported *read_root(jx_flat *flat, const jx_flat_table *root,
                                    int vjps);

static bool read_vjp(jx_flat *flat, const jx_flat_table *root, int vjps,
                     jx_exported *to)
{
    jx_flat_table vjp;

    if (!jx_flat_table_of(flat, root, JX_XS_VJP, "vjp", &vjp))
        return !flat->failed;
    if (vjps == JX_EXPORTED_VJPS)
        return jx_flat_fail(flat, vjp.at, "vjp", "nested deeper than %d",
                            JX_EXPORTED_VJPS);
    if (!jx_flat_enter(flat, "vjp", -1))
        return false;
    to->vjp = read_root(flat, &vjp, vjps + 1);
    jx_flat_leave(flat);
    return to->vjp != NULL;
}

static const jx_exported *read_root(jx_flat *flat, const jx_flat_table *root,
                                    int vjps)
{
    jx_exported *to = JX_NEW(flat->ctx->arena, jx_exported);

    if (!to)
        return NULL;
    to->path = flat->path;
    to->file = flat->bytes;
    to->size = flat->size;
    read_scalars(flat, root, to);
    read_texts(flat, root, to);
    read_tables(flat, root, to);
    read_checks(flat, root, to);
    to->module = jx_exported_bytes_of(flat, root, JX_XS_MODULE,
                                      "mlir_module_serialized");
    if (!jx_exported_ok(flat) ||
        !jx_exported_tree(flat, root, JX_XS_IN_TREE, "in_tree", &to->in_tree) ||
        !jx_exported_tree(flat, root, JX_XS_OUT_TREE, "out_tree",
                          &to->out_tree) ||
        !choose(flat, root, to))
        return NULL;
    read_kept(flat, root, to);
    if (!to->module.size)
        jx_flat_fail(flat, jx_flat_where(flat, root, JX_XS_MODULE),
                     "mlir_module_serialized", "expected a module");
    leaves_fit(flat, root, JX_XS_IN_TREE, "in_tree", &to->in_tree, to->nins,
               "inputs");
    leaves_fit(flat, root, JX_XS_OUT_TREE, "out_tree", &to->out_tree, to->nouts,
               "outputs");
    read_vjp(flat, root, vjps, to);
    return jx_exported_ok(flat) ? to : NULL;
}

const jx_exported *jx_exported_read(jx_ctx *ctx, const char *path,
                                    const void *bytes, size_t size)
{
    const jx_exported *found;
    jx_flat flat;
    jx_flat_table root;

    if (!jx_flat_open(&flat, ctx, path, bytes, size, "Exported", &root))
        return NULL;
    found = read_root(&flat, &root, 0);
    return jx_ok(ctx) ? found : NULL;
}

/* ---- recognizing */

/* Opens the root in a context of its own: what is wrong is nobody's concern. */
static bool look(jx_ctx *above, const char *bytes, size_t size, bool surely)
{
    static const unsigned char magic[] = {0x4d, 0x4c, 0xef, 0x52};
    jx_ctx *ctx;
    jx_flat flat;
    jx_flat_table root;
    bool yes;

    /* Text begins with four bytes that make a larger offset than this. */
    if (size < 8 || bytes[3] != 0)
        return false;
    ctx = jx_ctx_below(above, 1 << 13);
    if (!ctx)
        return false;
    yes = jx_flat_open(&flat, ctx, "", bytes, size, "", &root) &&
          jx_flat_has(&flat, &root, JX_XS_MODULE) &&
          jx_flat_has(&flat, &root, JX_XS_IN_TREE);
    if (yes && surely) {
        jx_exported_bytes module =
            jx_exported_bytes_of(&flat, &root, JX_XS_MODULE, "");
        yes = module.size > sizeof magic &&
              memcmp(module.at, magic, sizeof magic) == 0;
    }
    jx_ctx_free(ctx);
    return yes;
}

bool jx_is_exported(jx_ctx *ctx, const char *bytes, size_t size)
{
    return look(ctx, bytes, size, true);
}

bool jx_may_be_exported(jx_ctx *ctx, const char *bytes, size_t size)
{
    return look(ctx, bytes, size, false);
}

/* ---- what the slots tell */

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int mesh_version(const jx_exported_mesh *mesh)
{
    return mesh->platform ? 11 : mesh->has_device ? 8 : 0;
}

static int shardings_version(const jx_exported_shardings *shardings)
{
    int version = 0;

    for (int i = 0; i < shardings->count; i++) {
        const jx_exported_sharding *s = &shardings->at[i];
        if (s->named)
            version = larger(
                version, larger(s->hlo ? 6 : 9, mesh_version(s->named->mesh)));
    }
    return version;
}

static int avals_version(const jx_exported_avals *avals)
{
    int version = 0;

    for (int i = 0; i < avals->count; i++)
        version = larger(version, avals->at[i].memory_space ? 5
                                  : avals->at[i].impl       ? 4
                                                            : 0);
    return version;
}

static bool has_custom(const jx_tree *tree)
{
    if (tree->kind == JX_TREE_CUSTOM)
        return true;
    for (int i = 0; i < tree->nchildren; i++)
        if (has_custom(&tree->children[i]))
            return true;
    return false;
}

int jx_exported_version(const jx_exported *x)
{
    enum { FIRST_TRUE = 12 };
    int version = larger(x->stored_version, 1);

    if (version >= FIRST_TRUE)
        return version;
    if (x->slots >> JX_XS_JAX_VERSION)
        return FIRST_TRUE;
    version = larger(
        version, has_custom(&x->in_tree) || has_custom(&x->out_tree) ? 3 : 0);
    version = larger(version, avals_version(&x->old_in_avals));
    version = larger(version, avals_version(&x->old_out_avals));
    version = larger(version, x->slots >> JX_XS_DEVICES & 1 ? 5 : 0);
    version = larger(version, shardings_version(&x->old_in_shardings));
    version = larger(version, shardings_version(&x->old_out_shardings));
    version = larger(version, x->slots >> JX_XS_UNIQUE_AVALS ? 10 : 0);
    for (int i = 0; i < x->nmeshes; i++)
        version = larger(version, mesh_version(&x->meshes[i]));
    return x->vjp ? larger(version, jx_exported_version(x->vjp)) : version;
}

jx_exported_release jx_exported_release_of(int version)
{
    enum { PLAIN, MARKED };
    static const struct {
        jx_exported_release release;
        bool marked;
    } rows[] = {
#define VERSION(number, day, mark, what) {{number, day, "", what}, mark},
#include "frontend/read/exported_versions.def"
    };
    jx_exported_release found = rows[0].release;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].release.version <= version)
            found = rows[i].release;
        else if (rows[i].marked && !*found.before)
            found.before = rows[i].release.from;
    }
    return found;
}

int jx_exported_vjps(const jx_exported *exported)
{
    int count = 0;

    for (; exported->vjp; exported = exported->vjp)
        count++;
    return count;
}

bool jx_exported_admits(const jx_exported *exported, const char *target)
{
    for (int i = 0; i < exported->nchecks; i++) {
        const jx_exported_check *check = &exported->checks[i];

        if (check->kind == JX_CHECK_CUSTOM_CALL &&
            (strcmp(check->target, "ALL") == 0 ||
             strcmp(check->target, target) == 0))
            return true;
    }
    return false;
}

int jx_exported_taken_as(const jx_exported *x, int input)
{
    int low = 0, high = x->nkept;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (x->kept[middle] < input)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->nkept && x->kept[low] == input ? low : -1;
}

const jx_dim *const *jx_exported_shape(jx_dims *dims,
                                       const jx_exported *exported,
                                       const jx_exported_aval *aval, int scope)
{
    jx_ctx *ctx = jx_dims_ctx(dims);
    const jx_dim **shape = JX_NEW_ARRAY(ctx->arena, aval->rank, const jx_dim *);

    for (int i = 0; shape && i < aval->rank; i++) {
        const char *text = aval->shape[i], *expected = "a smaller size";
        size_t at = 0;
        char place[32];

        shape[i] =
            jx_dim_parse(dims, text, strlen(text), scope, &at, &expected);
        if (shape[i])
            continue;
        snprintf(place, sizeof place, "byte %zu", aval->at);
        jx_fail(ctx, JX_E_INPUT, exported->path, place,
                "axis %d of this aval is '%.100s': expected %s at column %zu",
                i, text, expected ? expected : "a smaller size", at + 1);
        return NULL;
    }
    return jx_ok(ctx) ? shape : NULL;
}
