/* blackbox.c - see blackbox.h. */
#include "frontend/read/blackbox.h"

#include "frontend/base/json.h"

#include <string.h>

#define MEMBER "blackbox"
#define PLACE "member \"" MEMBER "\""

bool jx_blackbox_is(const char *bytes, size_t size)
{
    enum { NAME = 30 }; /* where a local header has it */
    static const char name[] = MEMBER ".npy";
    const size_t length = sizeof name - 1;

    return size > NAME + length && !memcmp(bytes, "PK\3\4", 4) &&
           (unsigned char)bytes[26] == length && !bytes[27] &&
           !memcmp(bytes + NAME, name, length);
}

/* A reader of the JSON, which keeps its first failure. */
typedef struct said {
    jx_ctx *ctx;
    const char *path;
    bool failed;
} said;

static bool expect(said *s, bool ok, const char *what)
{
    if (!ok && !s->failed) {
        s->failed = true;
        jx_fail(s->ctx, JX_E_INPUT, s->path, PLACE, "expected %s", what);
    }
    return !s->failed;
}

static bool is_text(const jx_json *value)
{
    size_t length;

    return jx_json_kind_of(value) == JX_JSON_TEXT &&
           strlen(jx_json_text(value, &length)) == length;
}

/* The text of a key, in the arena; NULL where it is null or, unless it is
 * `needed`, not there. */
static const char *text_of(said *s, const jx_json *object, const char *key,
                           bool needed, const char *what)
{
    const jx_json *value = NULL;
    size_t length;

    if (!jx_json_get(object, key, &value)) {
        expect(s, !needed, what);
        return NULL;
    }
    if (!needed && jx_json_kind_of(value) == JX_JSON_NULL)
        return NULL;
    return expect(s, is_text(value), what)
               ? jx_intern_text(s->ctx, jx_json_text(value, &length))
               : NULL;
}

static int64_t number_of(said *s, const jx_json *object, const char *key,
                         const char *what)
{
    const jx_json *value = NULL;

    return expect(s,
                  jx_json_get(object, key, &value) &&
                      jx_json_kind_of(value) == JX_JSON_INT &&
                      jx_json_int(value) >= 0,
                  what)
               ? jx_json_int(value)
               : 0;
}

static void read_inputs(said *s, const jx_json *root, jx_blackbox *box)
{
    static const char what[] = "\"inputs\", a list of objects";
    const jx_json *all = NULL;
    const char **lost = NULL;

    if (!expect(s,
                jx_json_get(root, "inputs", &all) &&
                    jx_json_kind_of(all) == JX_JSON_ARRAY &&
                    jx_json_count(all) <= INT32_MAX / 8,
                what))
        return;
    box->ninputs = (int)jx_json_count(all);
    lost = JX_NEW_ARRAY(s->ctx->arena, box->ninputs + 1, const char *);
    for (int i = 0; lost && i < box->ninputs; i++) {
        const jx_json *one = jx_json_item(all, (size_t)i);
        if (!expect(s, jx_json_kind_of(one) == JX_JSON_OBJECT, what))
            return;
        lost[i] = text_of(s, one, "lost", false,
                          "\"lost\" of an input, a text or null");
    }
    box->lost = lost;
}

static void read_said(said *s, const jx_json *root, jx_blackbox *box)
{
    const jx_json *producer = NULL;
    const char *format;
    int64_t version;

    if (!expect(s, jx_json_kind_of(root) == JX_JSON_OBJECT, "an object"))
        return;
    format =
        text_of(s, root, "format", true, "\"format\": \"jaxvet-blackbox\"");
    expect(s, !format || !strcmp(format, "jaxvet-blackbox"),
           "\"format\": \"jaxvet-blackbox\"");
    version = number_of(s, root, "version", "\"version\", a number");
    if (!s->failed && version != JX_BLACKBOX_VERSION) {
        s->failed = true;
        jx_fail(s->ctx, JX_E_INPUT, s->path, PLACE,
                "has version %lld, this jaxvet reads %d", (long long)version,
                JX_BLACKBOX_VERSION);
    }
    box->function = text_of(s, root, "function", true, "\"function\", a text");
    box->place = text_of(s, root, "place", false, "\"place\", a text or null");
    box->why = text_of(s, root, "why", true, "\"why\", a text");
    box->call = number_of(s, root, "call", "\"call\", a number from 0");
    read_inputs(s, root, box);
    if (!expect(s,
                jx_json_get(root, "producer", &producer) &&
                    jx_json_kind_of(producer) == JX_JSON_OBJECT,
                "\"producer\", an object"))
        return;
    box->jax = text_of(s, producer, "jax", false, "\"jax\", a text");
    box->platform =
        text_of(s, producer, "platform", false, "\"platform\", a text");
}

/* The bytes of a member that holds a file. */
static const jx_npy *bytes_of(jx_ctx *ctx, const char *path, const jx_npz *npz,
                              const char *name)
{
    const jx_npy *found = jx_npz_find(npz, name);

    if (found && found->rank == 1 && !strcmp(found->descr, "|u1"))
        return found;
    jx_fail(ctx, JX_E_INPUT, path, NULL,
            "expected a member \"%s\", an array of bytes", name);
    return NULL;
}

const jx_blackbox *jx_blackbox_read(jx_ctx *ctx, const char *path,
                                    const char *bytes, size_t size)
{
    const jx_npz *npz = jx_npz_read(ctx, path, bytes, size);
    const jx_npy *text = npz ? bytes_of(ctx, path, npz, MEMBER) : NULL;
    const jx_npy *module = text ? bytes_of(ctx, path, npz, "module") : NULL;
    jx_blackbox *box = module ? JX_NEW(ctx->arena, jx_blackbox) : NULL;
    said s = {.ctx = ctx, .path = path};
    jx_json *root;

    if (!box)
        return NULL;
    box->arrays = npz;
    box->module = module->data;
    box->module_size = module->bytes;
    if (!jx_json_read(ctx, path, text->data, text->bytes, &root))
        return NULL;
    read_said(&s, root, box);
    jx_json_free(root);
    return s.failed || !jx_ok(ctx) ? NULL : box;
}
