/* test_options.c - the table-driven options of the command. */
#include "reports/commands/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct settings {
    bool strict;
    const char *output, *format;
    int64_t bench;
    double rtol;
    jx_texts set;
} settings;

static const jx_option table[] = {
    {"strict", 0, JX_OPT_FLAG, NULL, "be strict", offsetof(settings, strict)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "where", offsetof(settings, output)},
    {"format", 0, JX_OPT_CHOICE, "text|json|sarif", "how",
     offsetof(settings, format)},
    {"bench", 0, JX_OPT_INT, "N", "time N calls", offsetof(settings, bench)},
    {"rtol", 0, JX_OPT_REAL, "X", "tolerance", offsetof(settings, rtol)},
    {"set", 0, JX_OPT_LIST, "b=3", "a size\nor more", offsetof(settings, set)},
};

/* Reads the words of `line`; the settings go to *s, what is wrong to `why`. */
static int read_line(const char *line, settings *s, jx_buffer *why,
                     char *argv[16])
{
    static char words[256]; /* one test runs at a time */
    int argc = 0;

    memset(s, 0, sizeof *s);
    jx_buffer_clear(why);
    assert_true(strlen(line) < sizeof words);
    strcpy(words, line);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    return jx_options_read(table, sizeof table / sizeof *table, argc, argv, s,
                           why);
}

static void values_come_in_either_spelling(void **state)
{
    char *argv[16];
    settings s;
    jx_buffer why = {0};
    (void)state;

    assert_int_equal(read_line("a --strict --format=json b --bench 12 -o f "
                               "--rtol=1e-3 --set b=3 --set=c=4",
                               &s, &why, argv),
                     2);
    assert_string_equal(argv[0], "a");
    assert_string_equal(argv[1], "b");
    assert_true(s.strict);
    assert_string_equal(s.format, "json");
    assert_int_equal(s.bench, 12);
    assert_string_equal(s.output, "f");
    assert_true(s.rtol == 1e-3);
    assert_int_equal(s.set.count, 2);
    assert_string_equal(s.set.at[0], "b=3");
    assert_string_equal(s.set.at[1], "c=4");
    assert_int_equal(read_line("-of --output=", &s, &why, argv), 0);
    assert_string_equal(s.output, "");
    jx_buffer_free(&why);
}

static void
a_dash_a_negative_number_and_what_follows_two_dashes_are_arguments(void **state)
{
    char *argv[16];
    settings s;
    jx_buffer why = {0};
    (void)state;

    assert_int_equal(read_line("- -3 -- --strict", &s, &why, argv), 3);
    assert_string_equal(argv[0], "-");
    assert_string_equal(argv[1], "-3");
    assert_string_equal(argv[2], "--strict");
    assert_false(s.strict);
    jx_buffer_free(&why);
}

static void wrong_usage_says_what_was_expected(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"--strct", "unknown option --strct; did you mean --strict?"},
        {"--outptu=x", "unknown option --outptu; did you mean --output?"},
        {"--zzzzzzzz", "unknown option --zzzzzzzz"},
        {"-q", "unknown option -q"},
        {"--strict=yes", "--strict takes no value, got 'yes'"},
        {"--format", "--format: expected a value (text|json|sarif)"},
        {"--format jso", "--format: expected text|json|sarif, got 'jso'"},
        {"--format=", "--format: expected text|json|sarif, got ''"},
        {"--format text|json",
         "--format: expected text|json|sarif, got 'text|json'"},
        {"--bench 1x", "--bench: expected a whole number from 0, got '1x'"},
        {"--bench -1", "--bench: expected a whole number from 0, got '-1'"},
        {"--bench 99999999999999999999",
         "--bench: expected a whole number from 0, got "
         "'99999999999999999999'"},
        {"--rtol nan", "--rtol: expected a number from 0, got 'nan'"},
        {"--rtol -1", "--rtol: expected a number from 0, got '-1'"},
    };
    char *argv[16];
    settings s;
    jx_buffer why = {0};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_line(cases[i].line, &s, &why, argv), -1);
        assert_string_equal(jx_buffer_text(&why), cases[i].why);
    }
    jx_buffer_free(&why);
}

static void help_lines_up_in_one_column(void **state)
{
    jx_buffer text = {0};
    (void)state;

    jx_options_help(table + 1, 1, &text);
    jx_options_help(table + 5, 1, &text);
    jx_options_help(table + 2, 1, &text);
    assert_string_equal(jx_buffer_text(&text),
                        "  -o, --output FILE       where\n"
                        "  --set b=3               a size\n"
                        "                          or more\n"
                        "  --format text|json|sarif\n"
                        "                          how\n");
    jx_buffer_free(&text);
}

static void the_worst_exit_code_wins(void **state)
{
    (void)state;

    assert_int_equal(jx_exit_worse(0, 0), 0);
    assert_int_equal(jx_exit_worse(5, 0), 5);
    assert_int_equal(jx_exit_worse(1, 5), 1);
    assert_int_equal(jx_exit_worse(3, 1), 3);
    assert_int_equal(jx_exit_worse(2, 3), 2);
    assert_int_equal(jx_exit_worse(2, 4), 4);
}

static void every_command_is_found_and_explains_itself(void **state)
{
    (void)state;

    assert_true(jx_ncommands > 0);
    for (size_t i = 0; i < jx_ncommands; i++) {
        const jx_command *c = jx_commands[i];
        assert_ptr_equal(jx_command_find(c->name), c);
        assert_true(strlen(c->summary) > 10);
        assert_true(strlen(c->help) > 40);
        assert_int_equal(c->help[strlen(c->help) - 1], '\n');
        for (size_t k = 0; k < c->noptions; k++) {
            assert_true(strlen(c->options[k].help) > 0);
            assert_true((c->options[k].kind == JX_OPT_FLAG) ==
                        !c->options[k].value);
        }
    }
}

/* What is said where a text can't be written, as `spent` stands in the way. */
static void refused(jx_spent spent, char said[256])
{
    jx_budget budget;
    jx_buffer text = {.budget = &budget};
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);

    assert_non_null(file);
    jx_budget_init(&budget, (jx_limits){.bytes = 1 << 20}, NULL);
    atomic_store(&budget.spent, spent);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    int code = jx_command_write("/dev/null", &text);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    assert_int_equal(code, JX_EXIT_INPUT);
    rewind(file);
    said[fread(said, 1, 255, file)] = 0;
    fclose(file);
    jx_buffer_free(&text);
}

static void what_is_not_printed_names_the_limit_that_is_spent(void **state)
{
    char said[256];

    (void)state;
    refused(JX_SPENT_BYTES, said);
    assert_non_null(strstr(said, "no memory"));
    assert_non_null(strstr(said, "--memory"));
    refused(JX_SPENT_SECONDS, said);
    assert_non_null(strstr(said, "no time"));
    assert_non_null(strstr(said, "--time"));
    assert_null(strstr(said, "memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_either_spelling),
        cmocka_unit_test(
            a_dash_a_negative_number_and_what_follows_two_dashes_are_arguments),
        cmocka_unit_test(wrong_usage_says_what_was_expected),
        cmocka_unit_test(help_lines_up_in_one_column),
        cmocka_unit_test(the_worst_exit_code_wins),
        cmocka_unit_test(every_command_is_found_and_explains_itself),
        cmocka_unit_test(what_is_not_printed_names_the_limit_that_is_spent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
