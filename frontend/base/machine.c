/* machine.c - see machine.h. */
#include "frontend/base/machine.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number a file of the system holds; 0 if it holds none ("max"). */
static uint64_t number_in(const char *path)
{
    FILE *file = fopen(path, "re");
    uint64_t value = 0;

    if (file && fscanf(file, "%" SCNu64, &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value;
}

/* Of the control groups that we are in, the least that one allows; 0: none.
 * Containers see their own group at the root. */
static uint64_t group_bytes(void)
{
    FILE *groups = fopen("/proc/self/cgroup", "re");
    uint64_t least = number_in("/sys/fs/cgroup/memory.max");
    uint64_t old = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    char line[1024], path[1200];

    if (old && (!least || old < least))
        least = old;
    while (groups && fgets(line, sizeof line, groups)) {
        uint64_t bytes;
        if (strncmp(line, "0::/", 4))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
        bytes = number_in(path);
        if (bytes && (!least || bytes < least))
            least = bytes;
    }
    if (groups)
        fclose(groups);
    return least;
}

uint64_t jx_machine_bytes(void)
{
    uint64_t machine =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t group = group_bytes();

    return group && group < machine ? group : machine;
}

int jx_machine_cores(void)
{
    cpu_set_t set;
    int count =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return count > 1 ? count : 1;
}
