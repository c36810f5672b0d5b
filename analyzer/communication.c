/* communication.c - see communication.h. */
#include "analyzer/communication.h"

#include "analyzer/cost.h"
#include "frontend/ir/mesh.h"

const char *jx_collective_name(jx_collective_kind kind)
{
    static const char *const names[JX_COLLECTIVE_KINDS] = {
        [JX_COLLECTIVE_REDUCE] = "all_reduce",
        [JX_COLLECTIVE_GATHER] = "all_gather",
        [JX_COLLECTIVE_SCATTER] = "reduce_scatter",
        [JX_COLLECTIVE_EXCHANGE] = "all_to_all",
        [JX_COLLECTIVE_PERMUTE] = "permute",
        [JX_COLLECTIVE_BROADCAST] = "broadcast",
        [JX_COLLECTIVE_RAGGED] = "ragged_all_to_all",
    };

    return names[kind];
}

/* Devices that work together, at most; a group may be filled up with -1. */
static int64_t group_size(const jx_program *program, const jx_collective *c)
{
    int64_t most = 0;

    for (int g = 0; g < c->groups.count; g++) {
        int64_t members = 0;
        for (int i = 0; i < c->groups.at[g].count; i++)
            members += c->groups.at[g].at[i] >= 0;
        most = members > most ? members : most;
    }
    if (c->all && program->devices > 0)
        return program->devices;
    for (int i = 0; c->all && i < program->nmeshes; i++) {
        int64_t devices = jx_mesh_devices(&program->meshes[i], INT32_MAX);
        most = devices > most ? devices : most;
    }
    return most;
}

static bool goes_elsewhere(const jx_collective *c)
{
    for (int i = 0; i < c->groups.count; i++)
        if (c->groups.at[i].count == 2 &&
            c->groups.at[i].at[0] != c->groups.at[i].at[1])
            return true;
    return false;
}

static bool goes_down(const jx_collective *c)
{
    int up = 0, down = 0;

    for (int i = 0; i < c->groups.count; i++)
        if (c->groups.at[i].count == 2) {
            up += c->groups.at[i].at[0] < c->groups.at[i].at[1];
            down += c->groups.at[i].at[0] > c->groups.at[i].at[1];
        }
    return down > up;
}

/* Bytes of the operands that are arrays to send: not the indices
 * of a ragged one. */
static const jx_dim *operand_bytes(jx_dims *dims, const jx_eqn *eqn,
                                   const jx_collective *c)
{
    const jx_dim *sum = jx_dim_int(dims, 0);
    int n = c->kind == JX_COLLECTIVE_RAGGED ? 1 : eqn->nins;

    for (int i = 0; i < n; i++) {
        const jx_aval *aval = jx_atom_aval(eqn->ins[i]);
        const jx_dim *bytes = jx_aval_bytes(dims, aval);

        /* Axes that each device reduces first are not sent. */
        for (int k = 0; k < c->reduced.count; k++) {
            int64_t axis = c->reduced.at[k];
            bytes = axis >= 0 && axis < aval->rank
                        ? jx_dim_floordiv(dims, bytes, aval->shape[axis])
                        : bytes;
        }
        sum = jx_dim_add(dims, sum, bytes);
    }
    return sum;
}

/* bytes * part / whole */
static const jx_dim *share(jx_dims *dims, const jx_dim *bytes, int64_t part,
                           int64_t whole)
{
    const jx_dim *all = jx_dim_mul(dims, bytes, jx_dim_int(dims, part));

    return whole == 1 ? all
                      : jx_dim_floordiv(dims, all, jx_dim_int(dims, whole));
}

bool jx_communication_of(jx_program *program, const jx_eqn *eqn,
                         jx_communication *to)
{
    jx_dims *dims = program->dims;
    const jx_dim *bytes;
    jx_collective c;
    int64_t g;

    if (!jx_is_collective(eqn) || !eqn->nins ||
        jx_collective_of(program->ctx->arena, jx_collective_mesh(program, eqn),
                         eqn, &c) != JX_COLLECTIVE_FITS ||
        c.kind == JX_COLLECTIVE_NUMBER)
        return false;
    bytes = operand_bytes(dims, eqn, &c);
    *to = (jx_communication){.kind = c.kind, .bytes = bytes, .messages = 1};
    if (c.kind == JX_COLLECTIVE_PERMUTE) {
        to->down = goes_down(&c);
        return goes_elsewhere(&c);
    }
    g = group_size(program, &c);
    if (g < 2)
        return false;
    switch (c.kind) {
    case JX_COLLECTIVE_REDUCE:
        to->bytes = share(dims, bytes, 2 * (g - 1), g);
        to->messages = 2 * (g - 1);
        break;
    case JX_COLLECTIVE_GATHER:
        to->bytes = share(dims, bytes, g - 1, 1);
        to->messages = g - 1;
        break;
    case JX_COLLECTIVE_SCATTER:
    case JX_COLLECTIVE_EXCHANGE:
    case JX_COLLECTIVE_RAGGED:
        to->bytes = share(dims, bytes, g - 1, g);
        to->messages = g - 1;
        break;
    default: break;
    }
    return true;
}
