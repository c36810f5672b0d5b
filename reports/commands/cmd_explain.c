/* cmd_explain.c - `jaxvet explain CODE`: what a code means, with a program that
 * has it and one that has not. */
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

/* The lines of a program, set in. */
static void put_program(jx_buffer *to, const char *title, const char *text)
{
    jx_buffer_printf(to, "\n%s\n\n", title);
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        if (n)
            jx_buffer_puts(to, "    ");
        jx_buffer_bytes(to, at, n);
        jx_buffer_putc(to, '\n');
        at += n + (at[n] == '\n');
    }
}

static void put_text(jx_buffer *to, jx_code code)
{
    const jx_code_info *info = jx_code_of(code);
    const jx_code_text *text = jx_code_text_of(code);

    jx_buffer_printf(to, "%s %s (%s, said by jaxvet %s)\n%s.\n\n%s", info->id,
                     info->name, jx_level_text(info->level), text->command,
                     info->summary, text->why);
    put_program(to, "Has it:", text->fails);
    put_program(to, "Has it not:", text->passes);
    jx_buffer_printf(to,
                     "\nTo accept one finding, end its line with\n\n"
                     "    # jaxvet: ignore[%s] and the reason\n",
                     info->id);
}

static void put_member(jx_buffer *to, const char *key, const char *text)
{
    jx_buffer_printf(to, ",\"%s\":", key);
    jx_json_put_text(to, text);
}

static void put_json(jx_buffer *to, jx_code code)
{
    const jx_code_info *info = jx_code_of(code);
    const jx_code_text *text = jx_code_text_of(code);

    jx_buffer_printf(to, "{\"code\":\"%s\"", info->id);
    put_member(to, "name", info->name);
    put_member(to, "level", jx_level_text(info->level));
    put_member(to, "class",
               info->class == JX_OBLIGATION ? "obligation" : "probe");
    put_member(to, "summary", info->summary);
    put_member(to, "command", text->command);
    put_member(to, "why", text->why);
    put_member(to, "language", text->language);
    put_member(to, "fails", text->fails);
    put_member(to, "passes", text->passes);
    jx_buffer_puts(to, "}\n");
}

static int no_code(const char *word)
{
    const char *names[2 * JX_NCODES];
    size_t count = 0;
    const char *near;

    for (int code = 1; code < JX_NCODES; code++) {
        names[count++] = jx_code_of((jx_code)code)->id;
        names[count++] = jx_code_of((jx_code)code)->name;
    }
    near = jx_nearest(word, names, count);
    return near ? jx_command_usage(&jx_command_explain,
                                   "there is no code '%s'; did you mean '%s'?",
                                   word, near)
                : jx_command_usage(&jx_command_explain,
                                   "there is no code '%s'; `jaxvet rules` "
                                   "lists them",
                                   word);
}

static int run(int argc, char **argv)
{
    settings s = {.format = "text"};
    int n = jx_command_options(&jx_command_explain, argc, argv, &s);
    jx_buffer text = {0};
    jx_code code;
    int result;

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n != 1)
        return jx_command_usage(&jx_command_explain, "expected one code");
    code = jx_code_named(argv[0]);
    if (code == JX_CODE_NONE)
        return no_code(argv[0]);
    if (strcmp(s.format, "json") == 0)
        put_json(&text, code);
    else
        put_text(&text, code);
    result = jx_command_write(NULL, &text);
    jx_buffer_free(&text);
    return result;
}

const jx_command jx_command_explain = {
    "explain",
    "CODE",
    "say what a code means",
    "Says why a finding of this code matters, and shows a program that\n"
    "has it and one that has not; both are among jaxvet's own tests.\n"
    "\n"
    "  $ jaxvet explain SHP001\n"
    "  $ jaxvet explain large-constant\n",
    options,
    sizeof options / sizeof *options,
    run,
};
