/* repair_ways.c - see repair_ways.h: one way after the other. */
#include "reports/pipeline/repair_parts.h"

/* Those that compute the same otherwise come first, then those that
 * leave values alone but where a choice leaves them out, then guards
 * with their numbers. */
static bool take(const jx_repair_site *site, jx_repair *repair)
{
    int way = repair->way, rewrites = jx_repair_rewrites(),
        guards = jx_repair_guards();

    if (way < rewrites)
        return jx_repair_rewrite(site, repair, way);
    if (way < rewrites + guards)
        return repair->masked && jx_repair_mask(site, repair, way - rewrites);
    return jx_repair_guarded(site, repair, way - rewrites - guards,
                             repair->number);
}

static bool go_on(const jx_repair_site *site, jx_repair *repair)
{
    int rewrites = jx_repair_rewrites(), guards = jx_repair_guards();
    int ways = repair->same_alone ? rewrites : rewrites + 2 * guards;

    for (; repair->way < ways; repair->way++, repair->number = 0) {
        int row = repair->way - rewrites - guards,
            numbers = row < 0 ? 1 : jx_repair_numbers(row);
        for (; repair->number < numbers; repair->number++)
            if (take(site, repair))
                return true;
    }
    return false;
}

bool jx_repair_first(const jx_repair_site *site, jx_repair *repair)
{
    repair->way = repair->number = 0;
    return go_on(site, repair);
}

bool jx_repair_next(const jx_repair_site *site, jx_repair *repair)
{
    repair->number++;
    return go_on(site, repair);
}
