/* formats.c - see formats.h. */
#include "reports/formats/formats.h"

#include <string.h>

const char jx_format_names[] =
#define FORMAT(name) "|" #name
#include "reports/formats/formats.def"
#undef FORMAT
    ;

static const struct {
    const char *name;
    jx_format *format;
} formats[] = {
#define FORMAT(name) {#name, jx_report_##name},
#include "reports/formats/formats.def"
#undef FORMAT
};

jx_format *jx_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].format;
    return NULL;
}
