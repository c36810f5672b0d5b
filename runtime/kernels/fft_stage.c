/* fft_stage.c - the transform of many lines at once, in f32 and in f64. */
#include "runtime/kernels/fft_plan.h"
#include "runtime/kernels/vector.h"

#define REAL float
#define NAME(x) x##_f32
#include "runtime/kernels/fft_stage.h"
#undef REAL
#undef NAME

#define REAL double
#define NAME(x) x##_f64
#include "runtime/kernels/fft_stage.h"
