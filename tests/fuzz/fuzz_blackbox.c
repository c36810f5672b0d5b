/* fuzz_blackbox.c - black boxes, of which one member is mutated.
 *
 * The members of a zip file have checksums, so that bytes that are changed
 * anywhere end at the first look.  The mutator changes what a member holds and
 * writes the file anew. */
#include "frontend/read/blackbox.h"
#include "reports/pipeline/input.h"
#include "tests/fuzz/commands.h"

enum { MEMORY = 64 << 20 };

static void walk(const jx_blackbox *box)
{
    size_t all = strlen(box->function) + strlen(box->why) + box->module_size;

    all += box->place ? strlen(box->place) : 0;
    all += box->jax ? strlen(box->jax) : 0;
    all += box->platform ? strlen(box->platform) : 0;
    for (int i = 0; i < box->ninputs; i++)
        all += box->lost[i] ? strlen(box->lost[i]) : 0;
    if (box->module_size)
        all += (size_t)box->module[box->module_size - 1];
    check(all != SIZE_MAX && box->call >= 0 && box->arrays->count >= 2);
}

static void read_program(const char *bytes, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(MEMORY);
    jx_program *program = jx_input_read(ctx, "-", bytes, size);

    check(program || (ctx->error.kind != JX_E_INTERNAL && ctx->error.message));
    if (program && jx_blackbox_is(bytes, size))
        check(program->blackbox &&
              program->blackbox->ninputs == program->entry.jaxpr->nins);
    jx_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(MEMORY);
    char *copy = fuzz_copy(data, size);
    const jx_blackbox *box = jx_blackbox_read(ctx, "-", copy, size);

    check(box || (ctx->error.kind != JX_E_INTERNAL && ctx->error.message));
    if (box)
        walk(box);
    if (jx_blackbox_is(copy, size))
        read_program(copy, size);
    free(copy);
    jx_ctx_free(ctx);
    fuzz_commands(data, size);
    return 0;
}

/* The member with other bytes; one with a single axis may grow, too. */
static void mutate_member(jx_npy *member, uint8_t *room, size_t most)
{
    size_t size = member->bytes < most ? member->bytes : most;

    memcpy(room, member->data, size);
    size = LLVMFuzzerMutate(room, size, member->rank == 1 ? most : size);
    if (member->rank == 1) {
        *(int64_t *)(uintptr_t)member->shape = (int64_t)(size / member->item);
        member->bytes = size / member->item * member->item;
        member->data = room;
    } else {
        memcpy((void *)(uintptr_t)member->data, room, size);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    static uint8_t room[1 << 16];
    jx_ctx *ctx = jx_ctx_new(MEMORY);
    char *copy = fuzz_copy(data, size);
    const jx_npz *npz = jx_npz_read(ctx, "-", copy, size);
    jx_buffer file = {0};

    if (npz && npz->count && rand_r(&seed) % 16) {
        jx_npy *all = (jx_npy *)(uintptr_t)npz->at;
        mutate_member(&all[rand_r(&seed) % npz->count], room, sizeof room);
        jx_npz_write(&file, npz);
    }
    if (file.length && !file.failed && file.length <= max_size) {
        memcpy(data, file.text, file.length);
        size = file.length;
    } else {
        size = LLVMFuzzerMutate(data, size, max_size);
    }
    jx_buffer_free(&file);
    free(copy);
    jx_ctx_free(ctx);
    return size;
}
