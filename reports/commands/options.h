/* options.h - the options of a command, from one table.
 *
 * A row says an option's name, kind, value and help, and where its value goes
 * in the command's own settings struct; reading and `--help` both come from
 * it:
 *
 *     typedef struct settings { bool strict; const char *format; } settings;
 *     static const jx_option options[] = {
 *         {"strict", 0, JX_OPT_FLAG, NULL, "undecided is a failure",
 *          offsetof(settings, strict)},
 *         {"format", 0, JX_OPT_CHOICE, "text|json", "how to say it",
 *          offsetof(settings, format)},
 *     };
 *
 * `--opt value` and `--opt=value` mean the same, as do `-o value` and
 * `-ovalue`; `--` ends the options; `-` alone, and what starts with `-` and a
 * digit, or compares something (`-n >= 2`), is an argument. */
#ifndef JX_OPTIONS_H
#define JX_OPTIONS_H

#include "frontend/base/buffer.h"
#include "frontend/base/texts.h"

#include <stddef.h>
#include <stdint.h>

/* What the field at `offset` is. */
typedef enum jx_option_kind {
    JX_OPT_FLAG,   /* bool; takes no value */
    JX_OPT_TEXT,   /* const char * (into argv) */
    JX_OPT_CHOICE, /* const char *, one of the words of `value` ("a|b|c") */
    JX_OPT_INT,    /* int64_t; decimal, not negative */
    /* int64_t; not 0, and 1 without a value, which `=` alone gives */
    JX_OPT_EVERY,
    JX_OPT_REAL, /* double; finite, not negative */
    JX_OPT_LIST, /* jx_texts; may be given again, adds up */
} jx_option_kind;

typedef struct jx_option {
    const char *name; /* without the dashes */
    char letter;      /* its short form, or 0 */
    jx_option_kind kind;
    const char *value; /* what the help calls the value: "FILE" */
    const char *help;
    size_t offset;
} jx_option;

/* Reads the `argc` words of `argv` into `settings`, which holds the defaults
 * and stays untouched where nothing is given.  What is no option moves, in
 * order, to the front of argv.  Returns how many those are, or -1 with a
 * message (one line, no name of the command) in `why`. */
int jx_options_read(const jx_option *options, size_t count, int argc,
                    char **argv, void *settings, jx_buffer *why);

/* Appends what was read, an option a line, all but those of `without`, which
 * ends with NULL: settings that differ give texts that differ. */
void jx_options_text(const jx_option *options, size_t count,
                     const void *settings, const char *const *without,
                     jx_buffer *to);

/* The table as `--help` prints it. */
void jx_options_help(const jx_option *options, size_t count, jx_buffer *to);

/* The word of `words` (`count` of them) that `word` most likely meant, or NULL
 * if none is near. */
const char *jx_nearest(const char *word, const char *const *words,
                       size_t count);

#endif
