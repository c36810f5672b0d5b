/* test_bytecode.c - MLIR bytecode: what is refused and how, sections that JAX
 * does not write, and the way to StableHLO and back. */
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/bytecode_write.h"
#include "frontend/mlir/vhlo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- a module from its sections */

typedef struct run {
    uint8_t bytes[8192];
    size_t size;
} run;

typedef struct module {
    run strings, dialects, offsets, attrs, ir, resource_offsets, resources,
        props;
    int nstrings;
    run text; /* of the strings */
    uint8_t lengths[64];
    run all;
} module;

static void byte(run *to, unsigned value)
{
    assert_true(to->size < sizeof to->bytes);
    to->bytes[to->size++] = (uint8_t)value;
}

/* A number of at most 14 bits. */
static void number(run *to, unsigned value)
{
    if (value < 128) {
        byte(to, value << 1 | 1);
    } else {
        byte(to, (value << 2 | 2) & 255);
        byte(to, value >> 6);
    }
}

static void numbers(run *to, int count, ...)
{
    va_list args;

    va_start(args, count);
    for (int i = 0; i < count; i++)
        number(to, va_arg(args, unsigned));
    va_end(args);
}

static unsigned string(module *m, const char *text)
{
    size_t size = strlen(text) + 1;

    m->lengths[m->nstrings] = (uint8_t)size;
    for (size_t i = 0; i < size; i++)
        byte(&m->text, (uint8_t)text[i]);
    return (unsigned)m->nstrings++;
}

static void section(run *to, unsigned id, const run *content)
{
    byte(to, id);
    number(to, (unsigned)content->size);
    for (size_t i = 0; i < content->size; i++)
        byte(to, content->bytes[i]);
}

/* An attribute of the dialect builtin with that content. */
static void attribute(module *m, int count, ...)
{
    va_list args;
    size_t before = m->attrs.size;

    va_start(args, count);
    for (int i = 0; i < count; i++)
        number(&m->attrs, va_arg(args, unsigned));
    va_end(args);
    number(&m->offsets, (unsigned)(m->attrs.size - before) << 1 | 1);
}

/* The tables of a file with builtin alone, and the head of `nattrs` attributes
 * that the caller adds. */
static void begin(module *m, unsigned nattrs, unsigned ntypes)
{
    unsigned builtin, name;

    memset(m, 0, sizeof *m);
    builtin = string(m, "builtin");
    name = string(m, "module");
    numbers(&m->dialects, 6, 1u, builtin << 1, 1u, 0u, 1u, name << 1 | 1);
    numbers(&m->offsets, 4, nattrs, ntypes, 0u, nattrs);
    number(&m->resource_offsets, 0);
    numbers(&m->props, 4, 1u, 2u, 0u, 0u);
}

/* The module op around a block with these ops, which are `count`. */
static void wrap(module *m, unsigned nvalues, unsigned count, const run *ops)
{
    run region = {0};

    numbers(&region, 3, 1u, nvalues, count << 1);
    for (size_t i = 0; i < ops->size; i++)
        byte(&region, ops->bytes[i]);
    numbers(&m->ir, 2, 1u << 1, 0u);
    byte(&m->ir, 0x40 | 0x10);
    numbers(&m->ir, 3, 0u, 0u, 1u << 1 | 1);
    section(&m->ir, 4, &region);
}

static const run *finish(module *m)
{
    run *all = &m->all;

    all->size = 0;
    for (const char *p = "ML\xef"
                         "R";
         *p; p++)
        byte(all, (uint8_t)*p);
    number(all, 6);
    for (const char *p = "test"; *p; p++)
        byte(all, (uint8_t)*p);
    byte(all, 0);
    m->strings.size = 0;
    number(&m->strings, (unsigned)m->nstrings);
    for (int i = m->nstrings; i-- > 0;)
        number(&m->strings, m->lengths[i]);
    for (size_t i = 0; i < m->text.size; i++)
        byte(&m->strings, m->text.bytes[i]);
    section(all, 1, &m->dialects);
    section(all, 3, &m->offsets);
    section(all, 2, &m->attrs);
    section(all, 4, &m->ir);
    section(all, 6, &m->resource_offsets);
    section(all, 5, &m->resources);
    section(all, 0, &m->strings);
    section(all, 8, &m->props);
    return all;
}

/* ---- reading */

static int make_ctx(void **state)
{
    *state = jx_ctx_new(16 << 20);
    return 0;
}

static int free_ctx(void **state)
{
    jx_ctx_free(*state);
    return 0;
}

static jx_mlir_file *read_bytes(jx_ctx *ctx, const void *bytes, size_t size)
{
    jx_error_clear(ctx);
    return jx_bytecode_read(ctx, NULL, "t", bytes, size, 100);
}

static jx_mlir_file *read_module(jx_ctx *ctx, module *m)
{
    const run *all = finish(m);

    return read_bytes(ctx, all->bytes, all->size);
}

/* The module with a dictionary, attribute 3, and no region. */
static jx_mlir_file *read_bare(jx_ctx *ctx, module *m)
{
    const run none = {0};
    jx_mlir_file *file;

    wrap(m, 0, 0, &none);
    m->ir.size = 0;
    numbers(&m->ir, 2, 1u << 1, 0u);
    byte(&m->ir, 0x40 | 0x01);
    numbers(&m->ir, 3, 0u, 3u, 0u);
    file = read_module(ctx, m);
    if (!file)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    return file;
}

static void refused(jx_ctx *ctx, module *m, const char *section_name,
                    const char *why)
{
    assert_null(read_module(ctx, m));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    assert_non_null(strstr(ctx->error.place, "byte "));
    if (!strstr(ctx->error.message, section_name) ||
        !strstr(ctx->error.message, why))
        fail_msg("%s", ctx->error.message);
}

static void written_again(jx_ctx *ctx, module *m, const jx_mlir_file *file)
{
    jx_buffer out = {0};

    assert_true(jx_bytecode_write(ctx, file, &out));
    assert_int_equal(out.length, m->all.size);
    assert_memory_equal(out.text, m->all.bytes, out.length);
    jx_buffer_free(&out);
}

static void empty(module *m)
{
    run ops = {0};

    begin(m, 1, 0);
    attribute(m, 1, 15u);
    wrap(m, 0, 0, &ops);
}

static void an_empty_module_is_read_and_written(void **state)
{
    module m;

    empty(&m);
    jx_mlir_file *file = read_module(*state, &m);
    assert_non_null(file);
    assert_string_equal(file->producer, "test");
    assert_int_equal(file->version[0], -1);
    assert_int_equal(file->bytecode, 6);
    assert_string_equal(file->modules[0]->name, "builtin.module");
    assert_int_equal(jx_mlir_body(file->modules[0], 0)->nops, 0);
    written_again(*state, &m, file);
}

static void every_beginning_of_a_file_is_refused(void **state)
{
    module m;

    empty(&m);
    const run *all = finish(&m);
    for (size_t size = 0; size < all->size; size++) {
        assert_null(read_bytes(*state, all->bytes, size));
        assert_non_null(((jx_ctx *)*state)->error.place);
    }
}

static void places_count_from_the_file(void **state)
{
    jx_ctx *ctx = *state;

    assert_null(read_bytes(ctx, "nothing", 7));
    assert_string_equal(ctx->error.place, "byte 100");
    assert_string_equal(ctx->error.file, "t");
    assert_null(read_bytes(ctx, "ML\xefR\x0fp", 7));
    assert_non_null(strstr(ctx->error.message, "version 7"));
    assert_string_equal(ctx->error.place, "byte 104");
}

static void an_attribute_that_holds_itself_is_refused(void **state)
{
    run ops = {0};
    module m;

    begin(&m, 2, 0);
    attribute(&m, 3, 0u, 1u, 1u);
    attribute(&m, 3, 0u, 1u, 0u);
    wrap(&m, 0, 0, &ops);
    refused(*state, &m, "attribute and type section, attribute 0",
            "holds itself");
}

static void deep_nesting_is_refused(void **state)
{
    enum { DEEP = 1500 };
    run ops = {0};
    module m;

    begin(&m, DEEP + 1, 0);
    for (unsigned i = 0; i < DEEP; i++)
        attribute(&m, 3, 0u, 1u, i + 1);
    attribute(&m, 1, 7u);
    wrap(&m, 0, 0, &ops);
    refused(*state, &m, "attribute 1000", "nests deeper than 1000");
}

static void what_is_out_of_range_is_refused(void **state)
{
    run ops = {0}, used = {0};
    module m;

    begin(&m, 1, 0);
    attribute(&m, 3, 0u, 1u, 77u);
    wrap(&m, 0, 0, &ops);
    refused(*state, &m, "attribute 0 (builtin)", "attribute 77");

    begin(&m, 1, 0);
    attribute(&m, 1, 15u);
    number(&used, 0);
    byte(&used, 0x04);
    numbers(&used, 3, 0u, 1u, 5u);
    wrap(&m, 0, 1, &used);
    refused(*state, &m, "IR section, op at byte", "value 5, but there are 0");

    begin(&m, 1, 0);
    attribute(&m, 1, 15u);
    wrap(&m, 1, 0, &ops);
    refused(*state, &m, "IR section", "1 values are declared");

    begin(&m, 1, 0);
    attribute(&m, 1, 7u);
    wrap(&m, 0, 0, &ops);
    refused(*state, &m, "IR section", "a location is expected");

    begin(&m, 1, 0);
    attribute(&m, 1, 63u);
    wrap(&m, 0, 0, &ops);
    refused(*state, &m, "attribute 0", "code 63");
}

static void the_first_block_is_no_successor(void **state)
{
    run ops = {0};
    module m;

    begin(&m, 1, 0);
    attribute(&m, 1, 15u);
    number(&ops, 0);
    byte(&ops, 0x08);
    numbers(&ops, 3, 0u, 1u, 0u);
    wrap(&m, 0, 1, &ops);
    refused(*state, &m, "IR section", "to the first block");
}

static void what_follows_the_end_is_refused(void **state)
{
    static const char *const names[] = {"dialect", "offset",   "type section",
                                        "IR",      "resource", "properties"};
    module m;

    for (int i = 0; i < 6; i++) {
        run *sections[] = {&m.dialects, &m.offsets,   &m.attrs,
                           &m.ir,       &m.resources, &m.props};
        empty(&m);
        number(sections[i], 3);
        number(sections[i], 3);
        refused(*state, &m, names[i], "");
    }
    empty(&m);
    attribute(&m, 1, 15u); /* one more than its table says */
    refused(*state, &m, "offset", "follow the last type");
}

static void sections_stand_once(void **state)
{
    jx_ctx *ctx = *state;
    module m;
    run twice;

    empty(&m);
    twice = *finish(&m);
    section(&twice, 8, &m.props);
    assert_null(read_bytes(ctx, twice.bytes, twice.size));
    assert_non_null(strstr(ctx->error.message, "a second properties"));
}

static void a_use_may_stand_before_its_definition(void **state)
{
    run ops = {0};
    module m;

    begin(&m, 1, 1);
    attribute(&m, 1, 15u);
    numbers(&m.offsets, 3, 0u, 1u, 1u << 1 | 1); /* one type: index */
    number(&m.attrs, 1);
    /* Two ops, each with a result, each using the other's. */
    for (unsigned other = 2; other-- > 0;) {
        number(&ops, 0);
        byte(&ops, 0x02 | 0x04);
        numbers(&ops, 5, 0u, 1u, 0u, 1u, other);
    }
    wrap(&m, 2, 2, &ops);
    jx_mlir_file *file = read_module(*state, &m);
    assert_non_null(file);
    const jx_mlir_block *body = jx_mlir_body(file->modules[0], 0);
    assert_ptr_equal(body->ops[0]->ins[0], body->ops[1]->outs[0]);
    assert_ptr_equal(body->ops[1]->ins[0], body->ops[0]->outs[0]);
    assert_int_equal(body->ops[0]->outs[0]->type->kind, JX_T_INDEX);
}

static void resources_have_content(void **state)
{
    static const uint8_t data[] = {1, 2, 3, 4};
    module m;
    unsigned key, group, text;

    begin(&m, 3, 2);
    key = string(&m, "weights");
    group = string(&m, "tool");
    text = string(&m, "on");
    attribute(&m, 1, 15u);
    attribute(&m, 3, 16u, 0u, 0u); /* dense_resource of type 0 */
    /* {weights = dense_resource}: its name is a string attribute. */
    attribute(&m, 2, 2u, key);
    m.offsets.bytes[0] = 4 << 1 | 1;
    m.offsets.bytes[3] = 4 << 1 | 1;
    attribute(&m, 4, 1u, 1u, 2u, 1u);
    numbers(&m.offsets, 4, 0u, 2u, 4u << 1 | 1, 2u << 1 | 1);
    numbers(&m.attrs, 4, 13u, 1u, 4u << 1, 1u); /* tensor<4xi8> */
    numbers(&m.attrs, 2, 0u, 8u << 2);          /* i8 */
    m.resource_offsets.size = 0;
    numbers(&m.resource_offsets, 5, 1u, group, 1u, key, 1u);
    byte(&m.resource_offsets, 2);
    numbers(&m.resource_offsets, 4, 0u, 1u, key, 6u);
    byte(&m.resource_offsets, 0);
    number(&m.resources, text);
    numbers(&m.resources, 2, 1u, 4u);
    for (int i = 0; i < 4; i++)
        byte(&m.resources, data[i]);
    jx_ctx *ctx = *state;
    jx_mlir_file *file = read_bare(ctx, &m);
    const jx_mlir_attr *a = jx_mlir_get(file->modules[0], "weights");
    assert_non_null(a);
    assert_int_equal(a->kind, JX_A_RESOURCE);
    assert_string_equal(a->text, "weights");
    assert_int_equal(a->size, 4);
    assert_memory_equal(a->bytes, data, 4);
    assert_int_equal(file->extra->nresources, 2);
    assert_string_equal(file->extra->resources[0].group, "tool");
    assert_memory_equal(file->extra->resources[0].bytes, "on", 3);
}

static void text_of_a_dialect_is_kept(void **state)
{
    module m;

    begin(&m, 3, 0);
    unsigned name = string(&m, "a");
    attribute(&m, 1, 15u);
    for (const char *p = "#x.y<1>";; p++) {
        byte(&m.attrs, (uint8_t)*p);
        if (!*p)
            break;
    }
    number(&m.offsets, 8u << 1); /* no code: it is text */
    m.offsets.bytes[0] = m.offsets.bytes[3] = 4 << 1 | 1;
    attribute(&m, 2, 2u, name);
    attribute(&m, 4, 1u, 1u, 2u, 1u);
    jx_ctx *ctx = *state;
    jx_mlir_file *file = read_bare(ctx, &m);
    const jx_mlir_attr *a = jx_mlir_get(file->modules[0], "a");
    assert_int_equal(a->kind, JX_A_OPAQUE);
    assert_string_equal(a->text, "#x.y<1>");
}

/* ---- versions of VHLO */

static void a_range_of_one_place_is_a_place(void **state)
{
    jx_ctx *ctx = *state;
    module m;

    begin(&m, 4, 0);
    unsigned name = string(&m, "a.py");
    attribute(&m, 1, 15u);
    attribute(&m, 7, 22u, 2u, 4u, 105u, 370u, 105u, 370u);
    attribute(&m, 2, 2u, name);
    attribute(&m, 4, 1u, 1u, 2u, 1u);
    jx_mlir_file *file = read_bare(ctx, &m);
    const jx_mlir_attr *place = file->modules[0]->attrs[0].value;
    assert_int_equal(place->kind, JX_A_LOC_FILE);
    assert_int_equal(place->count, 2);

    jx_buffer out = {0};
    assert_true(jx_bytecode_write(ctx, file, &out));
    jx_mlir_file *again =
        jx_bytecode_read(ctx, file->types, "again", out.text, out.length, 0);
    assert_non_null(again);
    assert_true(jx_mlir_same(ctx, file->modules[0], again->modules[0], NULL));
    jx_buffer_free(&out);
}

static void versions_have_their_bytecode(void **state)
{
    static const int table[][4] = {{0, 9, 0, 0},  {0, 10, 0, 1}, {0, 11, 0, 1},
                                   {0, 12, 0, 3}, {0, 14, 9, 4}, {0, 15, 0, 6},
                                   {1, 22, 0, 6}};

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(jx_vhlo_bytecode(table[i]), table[i][3]);
}

static void a_version_that_is_none_is_refused(void **state)
{
    static const int wrong[][3] = {{0, 8, 0}, {1, 23, 0}, {-1, 0, 0}};
    jx_ctx *ctx = *state;
    module m;

    empty(&m);
    jx_mlir_file *file = read_module(ctx, &m);
    for (int i = 0; i < 3; i++) {
        jx_error_clear(ctx);
        assert_null(jx_vhlo_set_version(ctx, file, wrong[i]));
        assert_non_null(strstr(ctx->error.message, "0.9.0 to 1.22.0"));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_ctx, free_ctx)
    const struct CMUnitTest tests[] = {
        TEST(an_empty_module_is_read_and_written),
        TEST(every_beginning_of_a_file_is_refused),
        TEST(places_count_from_the_file),
        TEST(an_attribute_that_holds_itself_is_refused),
        TEST(deep_nesting_is_refused),
        TEST(what_is_out_of_range_is_refused),
        TEST(the_first_block_is_no_successor),
        TEST(what_follows_the_end_is_refused),
        TEST(sections_stand_once),
        TEST(a_use_may_stand_before_its_definition),
        TEST(resources_have_content),
        TEST(text_of_a_dialect_is_kept),
        TEST(a_range_of_one_place_is_a_place),
        TEST(versions_have_their_bytecode),
        TEST(a_version_that_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
