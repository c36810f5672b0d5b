/* fuzz_bytecode.c - MLIR bytecode, mutated by its structure.
 *
 * What the reader takes must be written, read again and written the same, and
 * be turned into StableHLO and back or be refused with a reason. */
#include "tests/fuzz/commands.h"
#include "tests/mlir/bytecode_check.h"
#include "tests/mlir/bytecode_mutator.h"

enum { MOST = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool taken;

    check(check_bytes(data, size, &taken));
    fuzz_commands(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    uint8_t *out = seed % 8 ? malloc(MOST) : NULL;
    size_t made = 0;

    if (out)
        made = mutate_module(data, size, out, max_size < MOST ? max_size : MOST,
                             seed);
    if (made)
        memcpy(data, out, made);
    free(out);
    return made ? made : LLVMFuzzerMutate(data, size, max_size);
}
