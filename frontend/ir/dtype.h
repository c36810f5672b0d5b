/* dtype.h - element types.  The facts are in dtypes.def. */
#ifndef JX_DTYPE_H
#define JX_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum jx_dtype {
    JX_DT_NONE = 0, /* no dtype: an absent parameter, a token */
#define DTYPE(id, short_name, name, kind, bits, bytes) JX_##id,
#include "frontend/ir/dtypes.def"
#undef DTYPE
    JX_NDTYPES,
} jx_dtype;

typedef enum jx_dtype_kind {
    JX_KIND_NONE = 0,
    JX_KIND_BOOL,
    JX_KIND_INT,
    JX_KIND_UINT,
    JX_KIND_FLOAT,
    JX_KIND_COMPLEX,
    JX_KIND_VOID,
    JX_KIND_KEY,
} jx_dtype_kind;

typedef struct jx_dtype_info {
    const char *short_name; /* "f32" */
    const char *name;       /* "float32" */
    jx_dtype_kind kind;
    int bits;
    size_t bytes; /* per element in memory */
} jx_dtype_info;

const jx_dtype_info *jx_dtype_of(jx_dtype dtype); /* never NULL */
/* By either name; JX_DT_NONE if there is none.  `length` bytes are read. */
jx_dtype jx_dtype_named(const char *name, size_t length);

bool jx_dtype_is_integer(jx_dtype dtype); /* signed or unsigned, not bool */
bool jx_dtype_is_float(jx_dtype dtype);
bool jx_dtype_is_complex(jx_dtype dtype);
bool jx_dtype_is_inexact(jx_dtype dtype); /* float or complex */
/* Both are floats, and `to` has fewer bits. */
bool jx_dtype_is_narrower(jx_dtype to, jx_dtype from);
/* Both are floats, and each number of `from` is one of `to`.  Of two formats
 * with as many bits neither is said to hold the other. */
bool jx_dtype_holds(jx_dtype to, jx_dtype from);
/* A float has all whole numbers up to that, of both signs; -1: not even 0. */
double jx_dtype_whole(jx_dtype dtype);
/* What JAX makes of it without x64: i32, u32, f32 and c64 for those of twice
 * their bits, else the dtype itself. */
jx_dtype jx_dtype_narrowed(jx_dtype dtype);
/* f32 for c64, f64 for c128, else the dtype itself. */
jx_dtype jx_dtype_real(jx_dtype dtype);
/* c64 for f32, c128 for f64; JX_DT_NONE if there is none. */
jx_dtype jx_dtype_complex(jx_dtype dtype);

#endif
