/* test_mlir_forms.c - every form of ops.def, with all that may be missing there
 * and not there: read, printed and read again.
 *
 * The texts are made of the forms themselves, so a new row is tested without
 * more; a new part (form_parts.def) or record needs a sample below. */
#include "frontend/mlir/forms.h"
#include "frontend/mlir/print.h"
#include "frontend/mlir/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define T "tensor<2xf32>"
#define SHARDING "<@mesh, [{\"x\"}, {?}]>"
#define BODY(arg) "{\n stablehlo.return " arg " : " T "\n}"

typedef struct sample {
    const char *of, *text;
} sample;

/* What a part may look like; of one that takes operands, with them. */
static const sample part_samples[] = {
    {"same", T},
    {"thru", T},
    {"like", ""},
    {"complex", "tensor<2xcomplex<f32>>"},
    {"select", T ", " T},
    {"pairwise", "()"},
    {"pairwise", " %a, %b : " T ", " T},
    {"ranges", "[]"},
    {"ranges", "[0:2, 1:3:2]"},
    {"format", "e5m10"},
    {"dot", "contracting_dims = [1] x [0]"},
    {"dot", "batching_dims = [0] x [0], contracting_dims = [2] x [1]"},
    {"conv", "[b, 0, f]x[0, i, o]->[b, 0, f]"},
    {"window", "{}"},
    {"window", "{stride = [2], pad = [[1, -1]], lhs_dilate = [1], rhs_dilate "
               "= [3], reverse = [true]}"},
    {"regions", ""},
    {"regions", " ({\n ^bb0(%x: " T "):\n stablehlo.return %x : " T
                "\n}, " BODY("%a") ")"},
    {"body", "() {\n stablehlo.return\n}"},
    {"body", "(%x: " T ", %y: " T ") " BODY("%x")},
    {"while", "() cond " BODY("%a") " do " BODY("%a")},
    {"while", "(%x = %a, %y = %b) : " T ", " T
              " attributes {a.b} cond " BODY("%x") " do " BODY("%y")},
    {"reduce", "(%a init: %s) applies stablehlo.add across dimensions = [0] "
               "{a.b} : (" T ", tensor<f32>) -> tensor<f32>"},
    {"reduce", "(%a init: %a), (%b init: %b) across dimensions = [0, 1] : (" T
               ", " T ", " T ", " T ") -> (" T ", " T ") reducer(%x: " T
               ", %y: " T ") (%z: " T ", %w: " T ") " BODY("%w")},
    {"scan",
     "(%a) inits () dimension=0 {\n stablehlo.return\n} : (" T ") -> ()"},
    {"scan", "(%a) inits (%b, %a) dimension=1 attributes {is_reverse = true} "
             "{\n ^bb0(%x: " T "):\n stablehlo.return %x : " T "\n} : (" T
             ", " T ", " T ") -> (" T ", " T ", " T ")"},
    {"module", " {\n}"},
    {"module", " @m <sym_visibility = \"private\"> attributes {a.b} {\n}"},
    {"func", " @g() {\n func.return\n}"},
    {"func", " private @g(" T " {a.b}) -> (" T " {c.d})"},
    {"func", " nested @g(%x: " T ") -> " T " attributes {a.b} {\n func.return "
             "%x : " T "\n}"},
    {"constant", " dense<1.0> : " T},
    {"constant", " {a.b} dense<[1.0, 2.0]> : " T},
};

static const sample record_samples[] = {
    {"sdy.sharding", SHARDING},
    {"sdy.mesh", "<[\"x\"=2]>"},
    {"sdy.axis_ref_list", "{\"x\"}"},
    {"sdy.list_of_axis_ref_lists", "[{\"x\"}, {}]"},
    {"sdy.manual_axes", "{\"x\"}"},
    {"sdy.all_to_all_param_list", "[{\"x\"}: 0->1]"},
    {"stablehlo.dot_algorithm",
     "<lhs_precision_type = tf32, rhs_precision_type = tf32, "
     "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = "
     "1, num_primitive_operations = 1, allow_imprecise_accumulation = false>"},
};

/* By the letter of the kind; the others go by what they are of. */
static const sample kind_samples[] = {
    {"i", "3"},
    {"j", "3"},
    {"u", "3"},
    {"v", "3"},
    {"f", "1.0e-03"},
    {"b", "false"},
    {"l", "[1, 2]"},
    {"s", "\"some text\""},
    {"a", "dense<1.0> : " T},
    {"y", "@\"a name\""},
    {"c", "@name"},
    {"p", "[" SHARDING ", " SHARDING "]"},
};
#define COUNT(table) (sizeof table / sizeof *table)

/* The `index`th sample of that name; NULL: there are not so many. */
static const char *sample_of(const sample *table, size_t count,
                             const char *name, int index)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(table[i].of, name) && index-- == 0)
            return table[i].text;
    return NULL;
}

/* ---- texts of a form */

/* Which of the texts: groups that are there (bits), a dictionary or none, how
 * many operands `$*` stands for, the sample of each part. */
typedef struct choice {
    unsigned groups;
    bool dict;
    int operands, sample;
} choice;

typedef struct making {
    jx_ctx *ctx;
    jx_buffer *to;
    const jx_mlir_op_info *info;
    choice how;
    int operands, typed; /* so far */
} making;

static void put_repeated(making *m, const char *text, int count,
                         const char *between)
{
    for (int i = 0; i < count; i++)
        jx_buffer_printf(m->to, "%s%s", i ? between : "", text);
}

/* As many results as the op has names for, two for a group. */
static int results_of(const jx_mlir_op_info *info)
{
    const char *at = info->outs, *name;
    size_t length;
    char mark;
    int count = 0;

    while ((at = jx_mlir_next_name(at, &name, &length, &mark)))
        count += mark == '*' ? 2 : 1;
    return count;
}

static void put_signature(making *m, int operands)
{
    int outs = results_of(m->info);

    jx_buffer_puts(m->to, "(");
    put_repeated(m, T, operands, ", ");
    jx_buffer_puts(m->to, outs == 1 ? ") -> " : ") -> (");
    put_repeated(m, T, outs, ", ");
    jx_buffer_puts(m->to, outs == 1 ? "" : ")");
}

static void put_part(making *m, const jx_form_part *part)
{
    const char *text =
        sample_of(part_samples, COUNT(part_samples), part->name, m->how.sample);

    if (!strcmp(part->name, "fn")) {
        put_signature(m, m->operands);
    } else if (!strcmp(part->name, "indirect")) {
        put_signature(m, m->operands - 1);
    } else if (!strcmp(part->name, "tuple")) {
        jx_buffer_puts(m->to, "tuple<");
        put_repeated(m, T, m->operands, ", ");
        jx_buffer_puts(m->to, ">");
    } else if (text) {
        jx_buffer_puts(m->to, text);
    } else if (!sample_of(part_samples, COUNT(part_samples), part->name, 0)) {
        fail_msg("ops.def: %s: the part @%s has no sample in %s", m->info->name,
                 part->name, __FILE__);
    } else if (m->how.sample) {
        /* The others have more; this one is as before. */
        jx_buffer_puts(
            m->to, sample_of(part_samples, COUNT(part_samples), part->name, 0));
    }
}

static void put_cases(making *m, const jx_form_item *item)
{
    size_t length;
    const char *word = jx_mlir_enum_case(item->of, 1 + m->how.sample, &length);

    if (!word)
        word = jx_mlir_enum_case(item->of, 1, &length);
    if (!word)
        fail_msg("ops.def: %s: no enumeration %s", m->info->name, item->of);
    if (item->how == 'E')
        jx_buffer_printf(m->to, "[%.*s, %.*s]", (int)length, word, (int)length,
                         word);
    else
        jx_buffer_bytes(m->to, word, length);
}

static void put_attr(making *m, const jx_form_item *item)
{
    const char kind[2] = {item->how, '\0'};
    const char *text =
        item->how == 'r'
            ? sample_of(record_samples, COUNT(record_samples), item->of, 0)
            : sample_of(kind_samples, COUNT(kind_samples), kind, 0);

    if (text)
        jx_buffer_puts(m->to, text);
    else if (strchr("eEn", item->how))
        put_cases(m, item);
    else
        fail_msg("ops.def: %s: {%s:%c%s} has no sample in %s", m->info->name,
                 item->text, item->how, item->of, __FILE__);
}

static void put_operands(making *m, int count, bool each)
{
    /* A function that is called is the first. */
    bool function =
        !strcmp(m->info->name, "func.call_indirect") && !m->operands;

    put_repeated(m,
                 !function         ? "%a"
                 : m->how.operands ? "%f"
                                   : "%g",
                 count, ", ");
    jx_buffer_puts(m->to, each ? "," : "");
    m->operands += count;
}

static void put_item(making *m, const jx_form_item *item)
{
    switch (item->kind) {
    case JX_FORM_TEXT: jx_buffer_bytes(m->to, item->text, item->length); break;
    case JX_FORM_OPERAND: put_operands(m, 1, false); break;
    case JX_FORM_OPERANDS: put_operands(m, m->how.operands, false); break;
    case JX_FORM_EACH: put_operands(m, m->how.operands, true); break;
    case JX_FORM_DICT:
        jx_buffer_puts(m->to, m->how.dict ? " {a.b = 1 : i64}" : "");
        break;
    case JX_FORM_ATTR: put_attr(m, item); break;
    case JX_FORM_IN_TYPE: m->typed++; /* fall through */
    case JX_FORM_OUT_TYPE: jx_buffer_puts(m->to, T); break;
    case JX_FORM_IN_TYPES:
        put_repeated(m, T, m->operands, ", ");
        m->typed = m->operands ? m->operands : -1;
        break;
    case JX_FORM_OUT_TYPES:
        put_repeated(m, T, results_of(m->info), ", ");
        break;
    case JX_FORM_PART:
        put_part(m, item->part);
        m->typed = item->part->says & JX_SAYS_TYPES ? m->operands : m->typed;
        break;
    case JX_FORM_OPEN:
    case JX_FORM_CLOSE: break;
    }
}

/* A module in which the op stands so; NULL where operands would have no types,
 * or types no operands. */
static const char *text_of(jx_ctx *ctx, const jx_mlir_op_info *info,
                           const jx_form *form, choice how)
{
    jx_buffer to = {0};
    making m = {.ctx = ctx, .to = &to, .info = info, .how = how};
    bool alone = !strcmp(info->name, "builtin.module");
    unsigned group = 0;

    jx_buffer_puts(&to, alone ? ""
                              : "func.func @name(%s: tensor<f32>, %a: " T
                                ", %b: " T ", %f: (" T ", " T ") -> (" T ", " T
                                "), %g: () -> (" T ", " T ")) {\n");
    jx_buffer_puts(&to, info->name);
    for (int i = 0; i < form->count; i++) {
        const jx_form_item *item = &form->items[i];
        for (int k = 0; k < item->spaces; k++)
            jx_buffer_putc(&to, ' ');
        if (item->kind == JX_FORM_OPEN && !(how.groups >> group++ & 1))
            i = item->end;
        else
            put_item(&m, item);
    }
    jx_buffer_puts(&to, alone ? "\n" : "\n}\n");
    jx_buffer_putc(&to, '\0');
    assert_true(jx_buffer_ok(&to));
    const char *text = jx_arena_string(ctx->arena, to.text, to.length);
    jx_buffer_free(&to);
    return m.typed == m.operands ? text : NULL;
}

/* ---- and back */

static const jx_mlir_op *read(jx_ctx *ctx, jx_mlir_types *types,
                              const char *text)
{
    const jx_mlir_file *file =
        jx_mlir_read_text(ctx, types, "t.mlir", text, strlen(text));

    if (!file)
        fail_msg("%s: %s\n%s", ctx->error.place, ctx->error.message, text);
    assert_int_equal(file->nmodules, 1);
    return file->modules[0];
}

static const char *print(jx_ctx *ctx, const jx_mlir_op *module, bool generic)
{
    jx_buffer to = {0};
    jx_mlir_print_how how = {.generic = generic, .any_dialect = true};

    assert_true(jx_mlir_print(ctx, module, how, &to));
    jx_buffer_putc(&to, '\0');
    const char *text = jx_arena_string(ctx->arena, to.text, to.length);
    jx_buffer_free(&to);
    return text;
}

static void same(jx_ctx *ctx, const jx_mlir_op *a, const jx_mlir_op *b,
                 const char *text)
{
    jx_mlir_difference why = {0};

    if (!jx_mlir_same(ctx, a, b, &why))
        fail_msg("%s is not what was read: %s\n%s",
                 why.a ? why.a->name : "nothing", why.what, text);
}

static void hold(jx_ctx *ctx, jx_mlir_types *types, const jx_mlir_op_info *info,
                 const char *text)
{
    const jx_mlir_op *module = read(ctx, types, text);
    const char *printed = print(ctx, module, false);
    const char *generic = jx_arena_printf(ctx->arena, "\"%s\"", info->name);
    const jx_mlir_op *again = read(ctx, types, printed);

    if (strstr(printed, generic))
        fail_msg("%s is not printed as it was read\n%s%s", info->name, text,
                 printed);
    same(ctx, module, again, printed);
    assert_string_equal(print(ctx, again, false), printed);
    const char *in_full = print(ctx, module, true);
    assert_non_null(strstr(in_full, generic));
    same(ctx, module, read(ctx, types, in_full), in_full);
}

static int samples_of(const jx_form *form)
{
    int most = 1;

    for (int i = 0; i < form->count; i++) {
        const jx_form_item *item = &form->items[i];
        int n = item->kind == JX_FORM_ATTR && strchr("eEn", item->how) ? 2 : 1;
        while (
            item->kind == JX_FORM_PART &&
            sample_of(part_samples, COUNT(part_samples), item->part->name, n))
            n++;
        most = n > most ? n : most;
    }
    return most;
}

static int groups_of(const jx_form *form)
{
    int count = 0;

    for (int i = 0; i < form->count; i++)
        count += form->items[i].kind == JX_FORM_OPEN;
    return count;
}

/* Two operands for `$*`, unless there is only room for one or none; and none,
 * where any number will do. */
static int fewest(const jx_mlir_op_info *info)
{
    return strchr(info->ins, '*') ? 0 : jx_mlir_count_names(info->ins);
}

static int hold_all(const jx_mlir_op_info *info, const jx_form *form)
{
    int texts = 0, least = fewest(info);
    int most = least ? least : 2;

    for (unsigned g = 0; g < 1u << groups_of(form); g++)
        for (int dict = 0; dict < 2; dict++)
            for (int n = least; n <= most; n += 2)
                for (int s = 0; s < samples_of(form); s++) {
                    choice how = {g, dict, n, s};
                    jx_ctx *ctx = jx_ctx_new(0);
                    jx_mlir_types *types = jx_mlir_types_new(ctx);
                    const char *text = text_of(ctx, info, form, how);
                    if (text)
                        hold(ctx, types, info, text);
                    texts += text != NULL;
                    jx_ctx_free(ctx);
                }
    if (!texts)
        fail_msg("ops.def: the form of %s has types for no operands, or none "
                 "for some",
                 info->name);
    return texts;
}

static void every_form_is_read_as_it_is_printed(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_forms met = {0};
    int forms = 0, texts = 0;

    (void)state;
    for (jx_op_id id = JX_OP_unknown + 1; id < JX_OP_COUNT; id++) {
        const jx_mlir_op_info *info = jx_mlir_op_info_of(id);
        const jx_form *form = jx_form_of(ctx, &met, id);
        if (!form)
            continue;
        if (!form->count)
            fail_msg("ops.def: the form of %s makes no sense: %s", info->name,
                     info->form);
        forms++;
        texts += hold_all(info, form);
    }
    print_message("%d forms, %d texts\n", forms, texts);
    jx_ctx_free(ctx);
}

/* ---- what a row must be */

/* What decides that an item comes: its text, `%`, or a word of any kind. */
static const char *begins(jx_ctx *ctx, const jx_form_item *item)
{
    switch (item->kind) {
    case JX_FORM_TEXT:
        if (item->length == 1 && *item->text == ',')
            return jx_arena_printf(ctx->arena, ", %s", begins(ctx, item + 1));
        return jx_arena_string(ctx->arena, item->text, item->length);
    case JX_FORM_OPERAND:
    case JX_FORM_OPERANDS:
    case JX_FORM_EACH: return "%";
    case JX_FORM_ATTR: return strchr("eEnab", item->how) ? "word" : "<";
    case JX_FORM_DICT: return "{";
    default: return "type";
    }
}

/* Whether what begins with `a` could be taken for what begins with `b`. */
static bool alike(const char *a, const char *b)
{
    const char *word = strstr(a, "word"), *other = strstr(b, "word");

    if (!strncmp(a, ", ", 2) != !strncmp(b, ", ", 2))
        return false;
    if (word || other) {
        const char *rest = word ? b : a;
        rest += strncmp(rest, ", ", 2) ? 0 : 2;
        return (*rest >= 'a' && *rest <= 'z');
    }
    return !strcmp(a, b);
}

static void groups_are_told_apart(jx_ctx *ctx, const jx_mlir_op_info *info,
                                  const jx_form *form)
{
    for (int i = 0; i < form->count; i++) {
        if (form->items[i].kind != JX_FORM_OPEN)
            continue;
        const char *a = begins(ctx, &form->items[i + 1]);
        for (int k = form->items[i].end + 1; k < form->count; k++) {
            const jx_form_item *next = &form->items[k];
            bool group = next->kind == JX_FORM_OPEN;
            const char *b = begins(ctx, group ? next + 1 : next);
            if (alike(a, b))
                fail_msg("ops.def: %s: in its form, '%s' could begin what may "
                         "be missing and what follows",
                         info->name, a);
            if (group)
                k = next->end;
            else if (next->kind != JX_FORM_DICT)
                break;
        }
    }
}

static void attributes_are_the_ops_own(const jx_mlir_op_info *info,
                                       const jx_form *form)
{
    const char *at = form->said, *name;
    size_t length;
    char mark, word[64];

    while ((at = jx_mlir_next_name(at, &name, &length, &mark))) {
        snprintf(word, sizeof word, "%.*s", (int)length, name);
        if (!jx_mlir_has_name(info->attrs, word, NULL))
            fail_msg("ops.def: %s has no attribute %s, which its form has",
                     info->name, word);
        if (jx_mlir_name_index(at, word) >= 0)
            fail_msg("ops.def: the form of %s has %s twice", info->name, word);
    }
    for (int i = 0, open = 0; i < form->count; i++) {
        const jx_form_item *item = &form->items[i];
        open += (item->kind == JX_FORM_OPEN) - (item->kind == JX_FORM_CLOSE);
        if (item->kind == JX_FORM_ATTR &&
            jx_mlir_has_name(info->attrs, item->text, &mark) &&
            (open ? !mark : mark == '?'))
            fail_msg("ops.def: %s: %s may be missing in one place and not in "
                     "the other",
                     info->name, item->text);
    }
}

/* Items of that kind; one that stands for any number, or a part that says as
 * much, is as many as there are names. */
static int said_of(const jx_form *form, const char *names, jx_form_kind one,
                   jx_form_kind any, jx_form_kind each, int part)
{
    int count = 0, whole = 0;

    for (int i = 0; i < form->count; i++) {
        const jx_form_item *item = &form->items[i];
        count += item->kind == one;
        whole += item->kind == any || item->kind == each ||
                 (item->kind == JX_FORM_PART && item->part->says & part);
    }
    return whole == 1                      ? jx_mlir_count_names(names)
           : !whole && !strchr(names, '*') ? count
                                           : -1;
}

/* Operands, types of operands and of results, other attributes: each once. */
static void all_is_said(const jx_mlir_op_info *info, const jx_form *form)
{
    const struct {
        const char *what, *names;
        jx_form_kind one, any, each;
        int part;
    } rows[] = {{"operands", info->ins, JX_FORM_OPERAND, JX_FORM_OPERANDS,
                 JX_FORM_EACH, JX_SAYS_OPERANDS},
                {"types of operands", info->ins, JX_FORM_IN_TYPE,
                 JX_FORM_IN_TYPES, JX_FORM_IN_TYPES, JX_SAYS_TYPES},
                {"types of results", info->outs, JX_FORM_OUT_TYPE,
                 JX_FORM_OUT_TYPES, JX_FORM_OUT_TYPES, JX_SAYS_TYPES},
                {"{}", "attributes", JX_FORM_DICT, JX_FORM_DICT, JX_FORM_DICT,
                 JX_SAYS_DICT}};

    for (size_t i = 0; i < COUNT(rows); i++)
        if (said_of(form, rows[i].names, rows[i].one, rows[i].any, rows[i].each,
                    rows[i].part) != jx_mlir_count_names(rows[i].names))
            fail_msg("ops.def: the form of %s does not say the %s once",
                     info->name, rows[i].what);
}

static void rows_say_one_thing(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_forms met = {0};

    (void)state;
    for (jx_op_id id = JX_OP_unknown + 1; id < JX_OP_COUNT; id++) {
        const jx_mlir_op_info *info = jx_mlir_op_info_of(id);
        const jx_form *form = jx_form_of(ctx, &met, id);
        if (!form)
            continue;
        groups_are_told_apart(ctx, info, form);
        attributes_are_the_ops_own(info, form);
        all_is_said(info, form);
    }
    jx_ctx_free(ctx);
}

/* What a form can't say is printed in the generic form, which says all. */
static void nothing_is_left_out(void **state)
{
    static const char *const ops[] = {
        "\"stablehlo.add\"(%a, %a, %a) : (" T ", " T ", " T ") -> " T,
        "\"stablehlo.iota\"() {iota_dimension = 1 : i32} : () -> " T,
        "\"stablehlo.iota\"() {iota_dimension = \"0\"} : () -> " T,
        "\"stablehlo.transpose\"(%a) <{permutation = dense<0> : "
        "tensor<1xi64>}> : (" T ") -> " T,
        "\"stablehlo.tuple\"(%a) : (" T ") -> tuple<>",
        "\"stablehlo.optimization_barrier\"(%a) : (" T ") -> tensor<f32>",
        "\"stablehlo.return\"(%a) : (" T ") -> " T,
        "\"stablehlo.compare\"(%a, %a) : (" T ", " T ") -> " T,
        "\"stablehlo.negate\"(%a) ({\n}) : (" T ") -> " T,
        "\"func.call_indirect\"(%a) : (" T ") -> ()",
        "\"func.func\"() <{function_type = () -> (), sym_name = \"g\", "
        "sym_visibility = \"odd\"}> ({\n}) : () -> ()",
        "\"func.func\"() <{function_type = () -> (), sym_name = 1 : i32}> "
        "({\n}) : () -> ()",
        "\"stablehlo.convolution\"(%a, %a) <{dimension_numbers = "
        "#stablehlo.conv<raw input_spatial_dimensions = [1]>}> : (" T ", " T
        ") -> " T,
        "\"chlo.scan\"(%a) <{dimension = 0 : i64}> ({\n^bb0:\n}) : (" T
        ") -> " T,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(ops); i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_mlir_types *types = jx_mlir_types_new(ctx);
        const char *text = jx_arena_printf(
            ctx->arena, "func.func @f(%%a: " T ") {\n%s\n}\n", ops[i]);
        const jx_mlir_op *module = read(ctx, types, text);
        const char *printed = print(ctx, module, false);
        const char *name =
            jx_arena_string(ctx->arena, ops[i], strcspn(ops[i], "("));
        if (!strstr(printed, name))
            fail_msg("%s is printed as\n%s", ops[i], printed);
        same(ctx, module, read(ctx, types, printed), printed);
        jx_ctx_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read_as_it_is_printed),
        cmocka_unit_test(rows_say_one_thing),
        cmocka_unit_test(nothing_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
