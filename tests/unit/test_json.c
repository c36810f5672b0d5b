/* test_json.c - JSON in and out. */
#include "frontend/base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void values_keep_kind_and_value(void **state)
{
    static const char text[] =
        " {\"a\": [null, true, -7, 2.5, \"x\\u00e9\\ud83d\\ude00\"], \"b\": "
        "{}}\n";
    jx_ctx *ctx = jx_ctx_new(0);
    jx_json *json;
    const jx_json *a, *b;
    size_t length;
    (void)state;

    assert_true(jx_json_read(ctx, "f", text, sizeof text - 1, &json));
    assert_true(jx_json_get(json, "a", &a));
    assert_true(jx_json_get(json, "b", &b));
    assert_false(jx_json_get(json, "c", &b));
    assert_int_equal(jx_json_count(a), 5);
    assert_int_equal(jx_json_kind_of(jx_json_item(a, 0)), JX_JSON_NULL);
    assert_true(jx_json_bool(jx_json_item(a, 1)));
    assert_int_equal(jx_json_int(jx_json_item(a, 2)), -7);
    assert_true(jx_json_real(jx_json_item(a, 3)) == 2.5);
    assert_string_equal(jx_json_text(jx_json_item(a, 4), &length),
                        "x\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(length, 7);
    jx_json_free(json);
    jx_ctx_free(ctx);
}

static void text_of_any_script_comes_as_it_is(void **state)
{
    static const char *const texts[] = {
        "\x7f", "\xc2\x80", "\xc3\xa9", "\xef\xbf\xbd", "\xf0\x9f\x98\x80",
    };
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_buffer text = {0};
        jx_json *json;
        const jx_json *value;
        size_t length;

        jx_buffer_printf(&text, "{\"%s\":\"%s\"}", texts[i], texts[i]);
        assert_true(jx_json_read(ctx, "f", text.text, text.length, &json));
        assert_true(jx_json_get(json, texts[i], &value));
        assert_string_equal(jx_json_text(value, &length), texts[i]);
        jx_json_free(json);
        jx_buffer_free(&text);
        jx_ctx_free(ctx);
    }
}

static void members_come_in_the_order_of_the_text(void **state)
{
    static const char text[] = "{\"z\":1,\"a\":2,\"m\":3}";
    static const char *const keys[] = {"z", "a", "m"};
    jx_ctx *ctx = jx_ctx_new(0);
    jx_json *json;
    size_t at = 0;
    const char *key;
    const jx_json *value;
    int i = 0;
    (void)state;

    assert_true(jx_json_read(ctx, "f", text, sizeof text - 1, &json));
    for (; jx_json_next(json, &at, &key, &value); i++) {
        assert_string_equal(key, keys[i]);
        assert_int_equal(jx_json_int(value), i + 1);
    }
    assert_int_equal(i, 3);
    jx_json_free(json);
    jx_ctx_free(ctx);
}

static void what_is_no_json_is_refused_at_its_byte(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {
        {"", 0},
        {" ", 1},
        {"nul", 0},
        {"[1,]", 3},
        {"[1 2]", 3},
        {"{\"a\"1}", 4},
        {"{a:1}", 1},
        {"'x'", 0},
        {"\"\\x\"", 1},
        {"\"\\u12g4\"", 5},
        {"\"\\udc00\"", 1},
        {"\"abc", 4},
        {"01", 1},
        {"+1", 0},
        {"-", 1},
        {"1.", 2},
        {".5", 0},
        {"1e", 2},
        {"Infinity", 0},
        {"-Infinity", 1},
        {"nan", 0},
        {"1e400", 0},
        {"-9223372036854775809", 0},
        {"[] []", 3},
        {"[1]x", 3},
        {"/**/1", 0},
        {"{\"a\":1,\"b\":2,\"a\":3}", 13},
        {"\"\t\"", 1},
        {"\"\xf5\x80\x80\x80\"", 1},
        {"\"\xe0\x80\x80\"", 2},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_json_fault fault;
        if (jx_json_parse(ctx, cases[i].text, strlen(cases[i].text), false,
                          &fault))
            fail_msg("%s was not refused", cases[i].text);
        assert_non_null(fault.expected);
        if (fault.at != cases[i].at)
            fail_msg("%s: byte %zu, expected %zu", cases[i].text, fault.at,
                     cases[i].at);
        jx_ctx_free(ctx);
    }
}

static void objects_with_many_keys_are_checked_too(void **state)
{
    jx_buffer text = {0};
    jx_ctx *ctx = jx_ctx_new(0);
    jx_json_fault fault;
    const jx_json *value;
    jx_json *json;
    (void)state;

    for (int i = 0; i < 1000; i++)
        jx_buffer_printf(&text, "%s\"k%d\":%d", i ? "," : "{", i, i);
    jx_buffer_putc(&text, '}');
    json = jx_json_parse(ctx, text.text, text.length, false, &fault);
    assert_non_null(json);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        assert_true(jx_json_get(json, key, &value));
        assert_int_equal(jx_json_int(value), i);
    }
    assert_false(jx_json_get(json, "k1000", &value));
    jx_json_free(json);
    text.length--;
    jx_buffer_puts(&text, ",\"k\\u003500\":1}"); /* "k500" */
    assert_null(jx_json_parse(ctx, text.text, text.length, false, &fault));
    assert_non_null(strstr(fault.expected, "once"));
    assert_int_equal(fault.at, text.length - 14);
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
}

static const char *real(double value)
{
    static jx_buffer text;

    jx_buffer_clear(&text);
    jx_json_put_real(&text, value);
    return jx_buffer_text(&text);
}

/* What Python's repr gives. */
static void floats_are_written_as_python_writes_them(void **state)
{
    (void)state;

    assert_string_equal(real(0.0), "0.0");
    assert_string_equal(real(-0.0), "-0.0");
    assert_string_equal(real(1), "1.0");
    assert_string_equal(real(0.1), "0.1");
    assert_string_equal(real(1e-5), "1e-05");
    assert_string_equal(real(0.0001), "0.0001");
    assert_string_equal(real(123456789.125), "123456789.125");
    assert_string_equal(real(1e15), "1000000000000000.0");
    assert_string_equal(real(1e16), "1e+16");
    assert_string_equal(real(1.5e300), "1.5e+300");
    assert_string_equal(real(5e-324), "5e-324");
    assert_string_equal(real(2.2250738585072014e-308),
                        "2.2250738585072014e-308");
    assert_string_equal(real(1.7976931348623157e308),
                        "1.7976931348623157e+308");
    assert_string_equal(real(0.10000000149011612), "0.10000000149011612");
    assert_string_equal(real(0x1p-44), "5.684341886080802e-14");
    assert_string_equal(real(9007199254740993.0), "9007199254740992.0");
}

static void every_float_reads_back(void **state)
{
    uint64_t bits = 88172645463325252u;
    (void)state;

    for (int i = 0; i < 200000; i++) {
        double value;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (value - value == 0 && strtod(real(value), NULL) != value)
            fail_msg("%s does not read back as %a", real(value), value);
    }
}

static void text_is_escaped_no_more_than_needed(void **state)
{
    jx_buffer text = {0};
    (void)state;

    jx_json_put_bytes(&text, "a\"\\\b\f\n\r\t\x01\x1f\x7f/\xc3\xa9", 14);
    assert_string_equal(text.text, "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f"
                                   "\\u007f/\xc3\xa9\"");
    /* C1, a reversal, a tag; and bytes that are no text. */
    jx_buffer_clear(&text);
    jx_json_put_text(&text, "\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\xa1\xe2\x82\xac");
    assert_string_equal(text.text,
                        "\"\\u009b\\u202e\\udb40\\udc21\xe2\x82\xac\"");
    jx_buffer_clear(&text);
    jx_json_put_text(&text, "a\x9b\xc3");
    assert_string_equal(text.text, "\"a\\ufffd\\ufffd\"");
    jx_buffer_clear(&text);
    jx_json_put_int(&text, INT64_MIN);
    assert_string_equal(text.text, "-9223372036854775808");
    jx_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_kind_and_value),
        cmocka_unit_test(text_of_any_script_comes_as_it_is),
        cmocka_unit_test(members_come_in_the_order_of_the_text),
        cmocka_unit_test(what_is_no_json_is_refused_at_its_byte),
        cmocka_unit_test(objects_with_many_keys_are_checked_too),
        cmocka_unit_test(floats_are_written_as_python_writes_them),
        cmocka_unit_test(every_float_reads_back),
        cmocka_unit_test(text_is_escaped_no_more_than_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
