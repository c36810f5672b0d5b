/* exported_info.h - what `jaxvet info` says of an exported file. */
#ifndef JX_EXPORTED_INFO_H
#define JX_EXPORTED_INFO_H

#include "analyzer/cost.h"
#include "frontend/base/buffer.h"
#include "frontend/ir/dim.h"
#include "frontend/mlir/custom_calls.h"
#include "frontend/mlir/parts.h"
#include "frontend/mlir/tree.h"
#include "frontend/read/exported.h"
#include "frontend/read/exported_paths.h"
#include "frontend/read/exported_window.h"
#include "reports/formats/reshards.h"

/* A target of custom calls. */
typedef struct jx_exported_call {
    const char *target;
    int64_t count;
    const jx_custom_call *known; /* NULL: nothing is promised about it */
    bool disabled; /* the check of it was, when the file was written */
} jx_exported_call;

/* Which releases of JAX load the file, or one of its derivatives. */
typedef struct jx_exported_loads {
    jx_vhlo_need need;
    jx_jax_window window;
} jx_exported_loads;

typedef struct jx_exported_info {
    jx_ctx *ctx;
    const char *path;
    const jx_exported *exported;
    size_t size; /* of the file */
    jx_dims *dims;
    const jx_dim *const *const *ins, *const *const *outs; /* shapes */
    jx_exported_paths paths;
    int nvars; /* symbolic sizes, by name */
    const char *const *vars;
    jx_mlir_parts parts;
    const jx_mlir_file *module;     /* as it is written, VHLO */
    const jx_exported_loads *loads; /* of the file, then of each derivative */
    int64_t ops;
    int ncalls;
    const jx_exported_call *calls; /* by name */
    /* What the module means: constraints and cost; or why that is not known. */
    const jx_program *program;
    jx_cost cost;
    jx_reshards reshards;
    const char *unread;
} jx_exported_info;

/* Of longer modules without symbolic sizes the program is read only when it is
 * asked for: it takes six times as long as all else. */
enum { JX_EXPORTED_INFO_OPS = 5000 };

/* Reads the file; `bytes` must outlive the result.  With `whole` the program of
 * a module of any length is read.  False with an error. */
bool jx_exported_info_of(jx_ctx *ctx, const char *path, const void *bytes,
                         size_t size, bool whole, jx_exported_info *to);

/* The part that comes from the module's ops: their number, custom calls, the
 * names of arguments (exported_ops.c). */
bool jx_exported_ops_of(jx_exported_info *info, size_t at);

/* Which releases load it; after jx_exported_ops_of() (exported_loads.c). */
bool jx_exported_loads_of(jx_exported_info *info);
void jx_exported_loads_text(const jx_exported_info *info, jx_buffer *to);
void jx_exported_loads_json(const jx_exported_loads *loads, jx_buffer *to);

/* "f32[2*b,3]", in the host's memory "f32[3]@host"; `shape` is that aval's. */
void jx_exported_aval_print(const jx_exported_aval *aval,
                            const jx_dim *const *shape, jx_buffer *to);
/* "data=2, model=2 (explicit)", the type where it is not auto. */
void jx_exported_mesh_print(const jx_exported_mesh *mesh, jx_buffer *to);
/* "P('data', None) on data=2 in pinned_host" */
void jx_exported_named_print(const jx_exported_named *named, jx_buffer *to);
/* "P('data', None)" */
void jx_exported_spec_print(const jx_exported_spec *spec, jx_buffer *to);

void jx_exported_text(const jx_exported_info *info, jx_buffer *to);
void jx_exported_json(const jx_exported_info *info, jx_buffer *to);

#endif
