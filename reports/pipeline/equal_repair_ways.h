/* equal_repair_ways.h - where a change of a program for many devices is tried,
 * and in which ways (equal_repairs.def). */
#ifndef JX_EQUAL_REPAIR_WAYS_H
#define JX_EQUAL_REPAIR_WAYS_H

#include "analyzer/transform/devices.h"
#include "reports/pipeline/sharded.h"

/* Of one kind, places where equations are. */
enum { JX_REPAIR_SITES = 18 };

typedef struct jx_repair_sites {
    int count;
    const jx_eqn *at[JX_REPAIR_SITES];
} jx_repair_sites;

/* Of all such equations; each of a loop that was written out, or one of such a
 * loop; one of each line that is come to from several places; those that take
 * what is made of the number of a device, and that number; those whose results
 * are moved. */
typedef void jx_repair_find(const jx_program *program, jx_eqn_is *is,
                            jx_repair_sites *to);
jx_repair_find jx_repair_find_each, jx_repair_find_sites, jx_repair_find_lines,
    jx_repair_find_numbered_sites, jx_repair_find_numbers, jx_repair_find_taken,
    jx_repair_find_repeated;

/* The n-th way of what a row leaves open in its change. */
typedef enum jx_repair_way {
    JX_REPAIR_END,
    JX_REPAIR_SKIPPED,
    JX_REPAIR_TRIED
} jx_repair_way;

typedef jx_repair_way jx_repair_ways(const jx_sharded *r, int n,
                                     jx_device_change *to);
jx_repair_ways jx_repair_in_one_way, jx_repair_along_each_axis,
    jx_repair_by_several_along_each, jx_repair_by_each_counter,
    jx_repair_round_and_to_ends, jx_repair_over_each_edge,
    jx_repair_opened_in_each_way, jx_repair_of_blocks_along_each,
    jx_repair_of_each_operand, jx_repair_of_one_or_two,
    jx_repair_of_one_or_two_by_counter, jx_repair_as_often_as_turns,
    jx_repair_along_axes, jx_repair_along_all_and_each,
    jx_repair_along_two_axes, jx_repair_along_an_array, jx_repair_by_each_size,
    jx_repair_of_each_array, jx_repair_of_all_arrays,
    jx_repair_of_each_array_and_axes, jx_repair_of_each_array_in_parts,
    jx_repair_of_arrays_alike_in_parts, jx_repair_by_part_sizes,
    jx_repair_by_part_sizes_and_halves, jx_repair_of_integers_by_size,
    jx_repair_from_the_end, jx_repair_by_each_bit, jx_repair_in_each_part,
    jx_repair_of_two_axes, jx_repair_by_each_divisor,
    jx_repair_behind_all_turns, jx_repair_without_each_sum;

#endif
