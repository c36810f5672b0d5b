/* ffi.c - handlers of custom calls and types by name, and what runs
 * hold for them. */
#include "hosts/pjrt/ffi_parts.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors */

bool jx_ffi_fail(jx_ffi_error *error, XLA_FFI_Error_Code code,
                 const char *format, ...)
{
    va_list args, again;
    int length;

    if (error->code != XLA_FFI_Error_Code_OK)
        return false;
    error->code = code;
    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    error->message = length < 0 ? NULL : malloc((size_t)length + 1);
    if (error->message)
        vsnprintf(error->message, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return false;
}

bool jx_ffi_starved(jx_ffi_error *error)
{
    return jx_ffi_fail(error, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED,
                       "the system has no memory left");
}

void jx_ffi_error_clear(jx_ffi_error *error)
{
    free(error->message);
    *error = (jx_ffi_error){XLA_FFI_Error_Code_OK, NULL};
}

/* ---- the registry: what it holds stays, so that who has found it may use it
 * without the lock */

typedef struct type {
    struct type *next;
    char *name;
    int64_t id;
    void (*deleter)(void *);
} type;

static struct {
    pthread_mutex_t lock;
    jx_ffi_handler *handlers;
    type *types;
    int64_t last_id;
    void (*ask)(const char *target);
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Numbers that others gave are small: those made here are not among them. */
enum { FIRST_ID = 1 << 20 };

static char *name_of(const char *name, size_t size)
{
    char *to = malloc(size + 1);

    if (to) {
        memcpy(to, name, size);
        to[size] = '\0';
    }
    return to;
}

static jx_ffi_handler *find_handler(const char *name, size_t size)
{
    jx_ffi_handler *h = registry.handlers;

    while (h && (strlen(h->name) != size || memcmp(h->name, name, size)))
        h = h->next;
    return h;
}

static bool same_bundle(const XLA_FFI_Handler_Bundle *a,
                        const XLA_FFI_Handler_Bundle *b)
{
    return a->instantiate == b->instantiate && a->prepare == b->prepare &&
           a->initialize == b->initialize && a->execute == b->execute;
}

/* Under the lock. */
static bool add_handler(const char *name, size_t size, int api_version,
                        const XLA_FFI_Handler_Bundle *bundle,
                        jx_ffi_error *error)
{
    jx_ffi_handler *made = find_handler(name, size);

    if (made)
        return (made->api_version == api_version &&
                same_bundle(&made->bundle, bundle)) ||
               jx_ffi_fail(error, XLA_FFI_Error_Code_ALREADY_EXISTS,
                           "the custom call @%s has another handler",
                           made->name);
    made = calloc(1, sizeof *made);
    if (made)
        made->name = name_of(name, size);
    if (!made || !made->name) {
        free(made);
        return jx_ffi_starved(error);
    }
    made->api_version = api_version;
    made->bundle = *bundle;
    made->next = registry.handlers;
    registry.handlers = made;
    return true;
}

/* A handler says of which version it is, when it is asked so. */
static bool check_version(const XLA_FFI_Handler_Bundle *bundle,
                          const char *name, size_t size, jx_ffi_error *error)
{
    XLA_FFI_Metadata metadata = {
        .struct_size = XLA_FFI_SIZE(XLA_FFI_Metadata, traits),
        .api_version = {.struct_size =
                            XLA_FFI_SIZE(XLA_FFI_Api_Version, minor_version)}};
    XLA_FFI_Metadata_Extension extension = {
        {sizeof extension, XLA_FFI_Extension_Metadata, NULL}, &metadata};
    XLA_FFI_CallFrame frame = {.struct_size =
                                   XLA_FFI_SIZE(XLA_FFI_CallFrame, attrs),
                               .extension_start = &extension.extension_base,
                               .api = &jx_ffi_api,
                               .stage = XLA_FFI_ExecutionStage_EXECUTE};

    if (!jx_ffi_invoke(bundle->execute, &frame, error))
        return false;
    return metadata.api_version.major_version == XLA_FFI_API_MAJOR ||
           jx_ffi_fail(error, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                       "the handler of @%.*s is of version %d.%d of the FFI, "
                       "expected %d",
                       (int)size, name, metadata.api_version.major_version,
                       metadata.api_version.minor_version, XLA_FFI_API_MAJOR);
}

bool jx_ffi_register(const char *name, size_t name_size, int api_version,
                     const XLA_FFI_Handler_Bundle *bundle, jx_ffi_error *error)
{
    bool ok;

    if (api_version != 0 && api_version != 1)
        return jx_ffi_fail(error, XLA_FFI_Error_Code_UNIMPLEMENTED,
                           "expected a handler of version 0 or 1, found %d",
                           api_version);
    if (!bundle->execute || memchr(name, '\0', name_size))
        return jx_ffi_fail(error, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                           "expected a handler to execute, with a name");
    if (api_version == 1 && !check_version(bundle, name, name_size, error))
        return false;
    pthread_mutex_lock(&registry.lock);
    ok = add_handler(name, name_size, api_version, bundle, error);
    pthread_mutex_unlock(&registry.lock);
    return ok;
}

const jx_ffi_handler *jx_ffi_handler_of(const char *target)
{
    const jx_ffi_handler *found;
    void (*ask)(const char *);

    pthread_mutex_lock(&registry.lock);
    found = find_handler(target, strlen(target));
    ask = found ? NULL : registry.ask;
    pthread_mutex_unlock(&registry.lock);
    if (!ask)
        return found;
    ask(target);
    pthread_mutex_lock(&registry.lock);
    found = find_handler(target, strlen(target));
    pthread_mutex_unlock(&registry.lock);
    return found;
}

void jx_ffi_ask(void (*ask)(const char *target))
{
    pthread_mutex_lock(&registry.lock);
    registry.ask = ask;
    pthread_mutex_unlock(&registry.lock);
}

/* ---- types */

/* Under the lock. */
static bool add_type(const char *name, size_t size, int64_t *type_id,
                     void (*deleter)(void *), jx_ffi_error *error)
{
    type *made = registry.types;

    while (made &&
           (strlen(made->name) != size || memcmp(made->name, name, size)))
        made = made->next;
    if (made && *type_id && *type_id != made->id)
        return jx_ffi_fail(error, XLA_FFI_Error_Code_INVALID_ARGUMENT,
                           "the type %s has the number %lld, not %lld",
                           made->name, (long long)made->id,
                           (long long)*type_id);
    for (const type *t = registry.types; !made && *type_id && t; t = t->next)
        if (t->id == *type_id)
            return jx_ffi_fail(error, XLA_FFI_Error_Code_ALREADY_EXISTS,
                               "the type %s has the number %lld", t->name,
                               (long long)t->id);
    if (!made && (made = calloc(1, sizeof *made))) {
        made->name = name_of(name, size);
        made->id = *type_id ? *type_id : FIRST_ID + ++registry.last_id;
        made->deleter = deleter;
        made->next = registry.types;
        if (made->name)
            registry.types = made;
    }
    if (!made || !made->name) {
        free(made);
        return jx_ffi_starved(error);
    }
    *type_id = made->id;
    return true;
}

bool jx_ffi_type(const char *name, size_t name_size, int64_t *type_id,
                 void (*deleter)(void *), jx_ffi_error *error)
{
    bool ok;

    pthread_mutex_lock(&registry.lock);
    ok = add_type(name, name_size, type_id, deleter, error);
    pthread_mutex_unlock(&registry.lock);
    return ok;
}

bool jx_ffi_type_known(int64_t type_id, void (**deleter)(void *))
{
    const type *t;

    pthread_mutex_lock(&registry.lock);
    for (t = registry.types; t && t->id != type_id;)
        t = t->next;
    pthread_mutex_unlock(&registry.lock);
    *deleter = t ? t->deleter : NULL;
    return t != NULL;
}

/* ---- what runs are given */

typedef struct given {
    struct given *next;
    int64_t type_id;
    void *data;
    void (*deleter)(void *);
} given;

struct jx_ffi_context {
    given *all;
};

jx_ffi_context *jx_ffi_context_new(void)
{
    return calloc(1, sizeof(jx_ffi_context));
}

void jx_ffi_context_free(jx_ffi_context *context)
{
    given *g = context ? context->all : NULL;

    while (g) {
        given *next = g->next;
        if (g->deleter)
            g->deleter(g->data);
        free(g);
        g = next;
    }
    free(context);
}

bool jx_ffi_context_get(const jx_ffi_context *context, int64_t type_id,
                        void **data)
{
    const given *g = context ? context->all : NULL;

    while (g && g->type_id != type_id)
        g = g->next;
    *data = g ? g->data : NULL;
    return g != NULL;
}

bool jx_ffi_context_add(jx_ffi_context *context, int64_t type_id, void *data,
                        void (*deleter)(void *), jx_ffi_error *error)
{
    given *made;
    void *there;

    if (jx_ffi_context_get(context, type_id, &there))
        return jx_ffi_fail(error, XLA_FFI_Error_Code_ALREADY_EXISTS,
                           "the run has a value of type %lld",
                           (long long)type_id);
    made = malloc(sizeof *made);
    if (!made)
        return jx_ffi_starved(error);
    *made = (given){context->all, type_id, data, deleter};
    context->all = made;
    return true;
}
