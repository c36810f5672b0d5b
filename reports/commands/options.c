/* options.c - see options.h. */
#include "reports/commands/options.h"
#include "frontend/base/plain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions and replacements that turn one into the other. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST_WORD + 1];
    size_t na = strlen(a), nb = strlen(b);

    if (na > LONGEST_WORD || nb > LONGEST_WORD)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replace, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[nb];
}

const char *jx_nearest(const char *word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 2; /* further off is no help */

    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, words[i]);
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}

/* What reading has to hand everywhere. */
typedef struct reading {
    const jx_option *options;
    size_t count;
    void *settings;
    jx_buffer *why;
} reading;

static void *field(const reading *r, const jx_option *option)
{
    return (char *)r->settings + option->offset;
}

static const jx_option *find_name(const reading *r, const char *name,
                                  size_t length)
{
    for (size_t i = 0; i < r->count; i++)
        if (strlen(r->options[i].name) == length &&
            !strncmp(r->options[i].name, name, length))
            return &r->options[i];
    return NULL;
}

static const jx_option *find_letter(const reading *r, char letter)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->options[i].letter == letter)
            return &r->options[i];
    return NULL;
}

static bool unknown(const reading *r, const char *word, size_t length)
{
    const char *names[64];
    char name[LONGEST_WORD + 1];
    size_t count = least(r->count, sizeof names / sizeof *names);

    jx_buffer_printf(r->why, "unknown option %.*s", (int)length, word);
    for (size_t i = 0; i < count; i++)
        names[i] = r->options[i].name;
    length = least(length, LONGEST_WORD);
    memcpy(name, word, length);
    name[length] = '\0';
    const char *near = jx_nearest(name + strspn(name, "-"), names, count);
    if (near)
        jx_buffer_printf(r->why, "; did you mean --%s?", near);
    return false;
}

/* `value` is one of the words of "a|b|c". */
static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);

    for (const char *at = choices; *at; at += *at == '|') {
        size_t word = strcspn(at, "|");
        if (word == length && !strncmp(at, value, length))
            return true;
        at += word;
    }
    return false;
}

static bool read_int(const char *text, int64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return !*end && !errno;
}

static bool read_real(const char *text, double *value)
{
    char *end;

    *value = jx_strtod(text, &end);
    return end != text && !*end && isfinite(*value) && *value >= 0;
}

static bool refuse(const reading *r, const jx_option *option, const char *what,
                   const char *value)
{
    jx_buffer_printf(r->why, "--%s: expected %s, got '%s'", option->name, what,
                     value);
    return false;
}

static bool store(const reading *r, const jx_option *option, const char *value)
{
    switch (option->kind) {
    case JX_OPT_FLAG: *(bool *)field(r, option) = true; return true;
    case JX_OPT_TEXT: *(const char **)field(r, option) = value; return true;
    case JX_OPT_CHOICE:
        if (!is_choice(option->value, value))
            return refuse(r, option, option->value, value);
        *(const char **)field(r, option) = value;
        return true;
    case JX_OPT_INT:
        return read_int(value, field(r, option)) ||
               refuse(r, option, "a whole number from 0", value);
    case JX_OPT_EVERY:
        return (read_int(value, field(r, option)) &&
                *(int64_t *)field(r, option) > 0) ||
               refuse(r, option, "a whole number from 1", value);
    case JX_OPT_REAL:
        return read_real(value, field(r, option)) ||
               refuse(r, option, "a number from 0", value);
    case JX_OPT_LIST: {
        jx_texts *texts = field(r, option);
        if (texts->count == JX_TEXTS_MAX) {
            jx_buffer_printf(r->why, "--%s: given more than %d times",
                             option->name, JX_TEXTS_MAX);
            return false;
        }
        texts->at[texts->count++] = value;
        return true;
    }
    }
    return false;
}

/* Reads the option at argv[*i] and moves *i to its last word. */
static bool read_option(const reading *r, int argc, char **argv, int *i)
{
    const char *word = argv[*i];
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(word, "=") : 2;
    const jx_option *option =
        is_long ? find_name(r, word + 2, length - 2) : find_letter(r, word[1]);
    const char *value = word[length] ? word + length + is_long : NULL;

    if (!option)
        return unknown(r, word, is_long ? length : strlen(word));
    if (option->kind == JX_OPT_FLAG) {
        if (!value)
            return store(r, option, NULL);
        jx_buffer_printf(r->why, "--%s takes no value, got '%s'", option->name,
                         value);
        return false;
    }
    if (!value && option->kind == JX_OPT_EVERY)
        value = "1";
    if (!value && *i + 1 < argc)
        value = argv[++*i];
    if (value)
        return store(r, option, value);
    jx_buffer_printf(r->why, "--%s: expected a value (%s)", option->name,
                     option->value);
    return false;
}

static bool compares(const char *word)
{
    return strpbrk(word, "<>") || strstr(word, "==") || strstr(word, "!=");
}

static bool is_argument(const reading *r, const char *word)
{
    if (word[0] != '-' || !word[1] || (word[1] >= '0' && word[1] <= '9'))
        return true;
    return compares(word) &&
           !(word[1] == '-' && find_name(r, word + 2, strcspn(word + 2, "=")));
}

int jx_options_read(const jx_option *options, size_t count, int argc,
                    char **argv, void *settings, jx_buffer *why)
{
    reading r = {options, count, settings, why};
    bool ended = false;
    int found = 0;

    for (int i = 0; i < argc; i++) {
        if (ended || is_argument(&r, argv[i]))
            argv[found++] = argv[i];
        else if (!strcmp(argv[i], "--"))
            ended = true;
        else if (!read_option(&r, argc, argv, &i))
            return -1;
    }
    return found;
}

void jx_options_help(const jx_option *options, size_t count, jx_buffer *to)
{
    enum { COLUMN = 26 };

    for (size_t i = 0; i < count; i++) {
        const jx_option *o = &options[i];
        size_t start = to->length;
        jx_buffer_puts(to, "  ");
        if (o->letter)
            jx_buffer_printf(to, "-%c, ", o->letter);
        jx_buffer_printf(to, "--%s", o->name);
        if (o->value)
            jx_buffer_printf(to, o->kind == JX_OPT_EVERY ? "[=%s]" : " %s",
                             o->value);
        if (to->length - start + 2 > COLUMN) {
            jx_buffer_putc(to, '\n');
            start = to->length;
        }
        while (to->length - start < COLUMN && jx_buffer_ok(to))
            jx_buffer_putc(to, ' ');
        for (const char *c = o->help; *c; c++) {
            jx_buffer_putc(to, *c);
            if (*c == '\n')
                jx_buffer_printf(to, "%*s", COLUMN, "");
        }
        jx_buffer_putc(to, '\n');
    }
}

static void put_text(const char *text, jx_buffer *to)
{
    jx_buffer_printf(to, "%zu:%s", strlen(text), text);
}

static void put_value(const jx_option *option, const void *settings,
                      jx_buffer *to)
{
    const char *field = (const char *)settings + option->offset;
    const jx_texts *list = (const void *)field;

    switch (option->kind) {
    case JX_OPT_FLAG:
        jx_buffer_putc(to, *(const bool *)(const void *)field ? '1' : '0');
        break;
    case JX_OPT_TEXT:
    case JX_OPT_CHOICE: {
        const char *text = *(const char *const *)(const void *)field;
        put_text(text ? text : "", to);
        break;
    }
    case JX_OPT_INT:
    case JX_OPT_EVERY:
        jx_buffer_printf(to, "%lld",
                         (long long)*(const int64_t *)(const void *)field);
        break;
    case JX_OPT_REAL:
        jx_buffer_printf(to, "%a", *(const double *)(const void *)field);
        break;
    case JX_OPT_LIST:
        for (int i = 0; i < list->count; i++)
            put_text(list->at[i], to);
        break;
    }
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

void jx_options_text(const jx_option *options, size_t count,
                     const void *settings, const char *const *without,
                     jx_buffer *to)
{
    for (size_t i = 0; i < count; i++) {
        if (is_among(options[i].name, without))
            continue;
        jx_buffer_printf(to, "%s=", options[i].name);
        put_value(&options[i], settings, to);
        jx_buffer_putc(to, '\n');
    }
}
