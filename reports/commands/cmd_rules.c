/* cmd_rules.c - `jaxvet rules`: all codes. */
#include "frontend/base/json.h"
#include "reports/commands/commands.h"
#include "reports/pipeline/code_texts.h"
#include "reports/pipeline/report.h"

#include <string.h>

typedef struct settings {
    const char *format;
} settings;

static const jx_option options[] = {
    {"format", 0, JX_OPT_CHOICE, "text|json", "how to say it (text)",
     offsetof(settings, format)},
};

static void put_text(jx_buffer *to)
{
    for (int code = 1; code < JX_NCODES; code++) {
        const jx_code_info *info = jx_code_of((jx_code)code);
        jx_buffer_printf(to, "%s  %-7s  %-22s  %s\n", info->id,
                         jx_level_text(info->level), info->name, info->summary);
    }
}

static void put_rule(jx_buffer *to, jx_code code)
{
    const jx_code_info *info = jx_code_of(code);

    jx_buffer_printf(to,
                     "{\"code\":\"%s\",\"name\":\"%s\",\"level\":\"%s\","
                     "\"class\":\"%s\",\"command\":\"%s\",\"summary\":",
                     info->id, info->name, jx_level_text(info->level),
                     info->class == JX_OBLIGATION ? "obligation" : "probe",
                     jx_code_text_of(code)->command);
    jx_json_put_text(to, info->summary);
    jx_buffer_putc(to, '}');
}

static void put_json(jx_buffer *to)
{
    jx_buffer_puts(to, "{\"version\":1,\"rules\":[");
    for (int code = 1; code < JX_NCODES; code++) {
        if (code > 1)
            jx_buffer_putc(to, ',');
        put_rule(to, (jx_code)code);
    }
    jx_buffer_puts(to, "]}\n");
}

static int run(int argc, char **argv)
{
    settings s = {.format = "text"};
    int n = jx_command_options(&jx_command_rules, argc, argv, &s), result;
    jx_buffer text = {0};

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n)
        return jx_command_usage(&jx_command_rules, "expected no argument");
    if (strcmp(s.format, "json") == 0)
        put_json(&text);
    else
        put_text(&text);
    result = jx_command_write(NULL, &text);
    jx_buffer_free(&text);
    return result;
}

const jx_command jx_command_rules = {
    "rules",
    "",
    "list all codes",
    "Lists what jaxvet can say: code, level, name, and what it is about.\n"
    "`jaxvet explain CODE` says more.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
