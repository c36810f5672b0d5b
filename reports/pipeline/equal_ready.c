/* equal_ready.c - see equal_ready.h. */
#include "reports/pipeline/equal_ready.h"

#include "analyzer/collective.h"
#include "analyzer/transform/inline.h"
#include "analyzer/transform/refine.h"
#include "analyzer/transform/vjp.h"
#include "reports/pipeline/sharded.h"
#include "runtime/fits.h"

static int devices_of(const jx_program *program)
{
    int64_t count = 1;

    for (int i = 0; program->nmeshes && i < program->meshes[0].naxes; i++)
        count *= program->meshes[0].sizes[i];
    return jx_devices_any(program) ? (int)count
           : program->devices > 1  ? (int)program->devices
                                   : 1;
}

/* What the one device of a mesh does with the others. */
static bool is_alone(const jx_program *program)
{
    return jx_devices_any(program) || jx_find_eqn(program, jx_is_collective);
}

/* ... and without what was called. */
static jx_program *without_calls(jx_program *program)
{
    jx_program *flat = jx_program_inline(program);

    return flat ? jx_program_refine(flat, &flat->entry, 0, NULL) : NULL;
}

bool jx_ordinary_make(jx_program *program, bool gradient,
                      const jx_device_change *change, jx_ordinary *to)
{
    const jx_typed *typed;

    *to = (jx_ordinary){.declared = program, .devices = devices_of(program)};
    to->mesh = jx_devices_any(program) && program->nmeshes ? &program->meshes[0]
                                                           : NULL;
    to->flat = change ? program : without_calls(program);
    if (!to->flat)
        return false;
    if (!gradient) /* a derivative asks for the rules of what is called */
        program = to->flat;
    if (to->devices > 1 || is_alone(program)) {
        typed = jx_program_at(program, 0, NULL);
        program = typed ? jx_program_spread(typed, change,
                                            gradient ? NULL : &to->pairs)
                        : NULL;
        if (!program ||
            !(program = jx_program_refine(program, &program->entry, 0, NULL)))
            return false;
    }
    if (gradient) {
        typed = jx_program_at(program, 0, NULL);
        program = typed ? jx_program_vjp(typed) : NULL;
        if (!program ||
            !(program = jx_program_refine(program, NULL, 0, NULL)) ||
            !(program = jx_program_inline(program)))
            return false;
    }
    to->program = program;
    to->typed = jx_program_at(program, 0, NULL);
    return to->typed != NULL;
}
