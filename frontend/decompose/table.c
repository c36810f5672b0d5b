/* table.c - the text of the programs (decompose.h), as the
 * Makefile quotes it. */
#include "frontend/decompose/decompose.h"

const jx_decomposition jx_decomposition_table[] = {
#include "frontend/decompose/programs.inc"
    {NULL, NULL},
};
