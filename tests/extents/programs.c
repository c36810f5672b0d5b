/* programs.c - see programs.h. */
#include "tests/extents/programs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static uint64_t draw(rng *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return r->state >> 33;
}

int rng_below(rng *r, int n)
{
    return (int)(draw(r) % (uint64_t)n);
}

double rng_uniform(rng *r)
{
    return (double)draw(r) / (double)((uint64_t)1 << 31);
}

/* Rows of four that an array of integers tells. */
#define INDICES                                                                \
    "%0:i32[4,4] = convert_element_type[new_dtype=int32 weak_type=False] a\n"  \
    "%1:i32[4,4] = add %0 1:i32[]\n"                                           \
    "%2:i32[4,1] = slice[limit_indices=(4, 1) start_indices=(0, 0) "           \
    "strides=None] %1\n"
#define ROWS                                                                   \
    "GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), "     \
    "start_index_map=(0,), "                                                   \
    "operand_batching_dims=(), start_indices_batching_dims=())"
#define SCATTERED                                                              \
    "dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), "      \
    "inserted_window_dims=(0,), "                                              \
    "scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), "            \
    "scatter_indices_batching_dims=()) indices_are_sorted=False "              \
    "mode=GatherScatterMode.FILL_OR_DROP unique_indices=False "                \
    "update_consts=() "
#define UPDATE(of)                                                             \
    "update_jaxpr={ lambda ; p:$[] q:$[]. let r:$[] = " of " in (r,) }"

static const char *const ones[] = {
#define ONE(type, text) "%0:" type " = " text "\n",
#define IDIOM(text)
#include "tests/extents/forms.def"
#undef ONE
#undef IDIOM
};

static const char *const idioms[] = {
#define ONE(type, text)
#define IDIOM(text) text,
#include "tests/extents/forms.def"
#undef ONE
#undef IDIOM
};

static const char *const unary[] = {"neg",
                                    "abs",
                                    "exp",
                                    "log",
                                    "log1p",
                                    "expm1",
                                    "tanh",
                                    "sin",
                                    "cos",
                                    "sqrt",
                                    "rsqrt",
                                    "sign",
                                    "floor",
                                    "square",
                                    "square",
                                    "logistic",
                                    "cbrt",
                                    "erf",
                                    "exp2",
                                    "atan",
                                    "cosh",
                                    "sinh",
                                    "integer_pow[y=-1]",
                                    "integer_pow[y=3]",
                                    "ceil"};
static const char *const binary[] = {"add", "sub", "mul", "div", "max", "min",
                                     "add", "sub", "mul", "div", "pow", "rem"};
static const char *const numbers[] = {
    "0.0", "1.0",   "-1.0",  "0.5",   "2.0",      "3.0",   "-3.0",
    "0.1", "1e-05", "1e-15", "100.0", "-30000.0", "1e-30", "0.0009765625",
    "4.0", "-0.5",  "10.0",  "inf",   "-inf",     "1e-40"};

static const char *one_of(rng *r, const char *const *list, size_t bytes)
{
    return list[rng_below(r, (int)(bytes / sizeof *list))];
}

static void put(making *m, const char *text)
{
    for (; *text && m->length + 1 < sizeof m->text; text++)
        m->text[m->length++] = *text;
    m->text[m->length] = 0;
}

static void put_char(making *m, char c)
{
    put(m, (const char[]){c, 0});
}

static void put_value(making *m, int number)
{
    char name[16];

    snprintf(name, sizeof name, "v%d", number);
    put(m, name);
}

static kind kind_of(char letter)
{
    switch (letter) {
    case 'a':
    case 'b': return WHOLE;
    case 'R':
    case 'S': return ROW;
    case 'C': return COLUMN;
    case 'T': return LONE;
    case 'P':
    case 'Q': return PREDICATE;
    case 'I':
    case 'J': return INTEGER;
    default: return KINDS;
    }
}

/* A letter that stands alone is an operand. */
static bool is_operand(const char *form, const char *at)
{
    return kind_of(*at) != KINDS && (at == form || at[-1] == ' ') &&
           (!at[1] || at[1] == ' ' || at[1] == '\n');
}

/* Of one letter the same value, in one form; what was used before is used
 * again more often. */
static int operand(making *m, char letter, int *chosen)
{
    pool *from = &m->of[kind_of(letter)];

    if (chosen[(unsigned char)letter] < 0 || letter == 'T') {
        if (!rng_below(m->r, 3) && from->last >= 0)
            chosen[(unsigned char)letter] = from->last;
        else if (!rng_below(m->r, 3))
            chosen[(unsigned char)letter] = from->at[from->count - 1];
        else
            chosen[(unsigned char)letter] =
                from->at[rng_below(m->r, from->count)];
        from->last = chosen[(unsigned char)letter];
    }
    return chosen[(unsigned char)letter];
}

static void put_axis(making *m, bool again)
{
    if (!again)
        m->axis = rng_below(m->r, 2);
    put_char(m, (char)('0' + m->axis));
}

static void put_form(making *m, const char *form)
{
    int chosen[128];

    memset(chosen, -1, sizeof chosen);
    for (const char *at = form; *at; at++)
        switch (*at) {
        case '$': put(m, m->dtype); break;
        case '@': put(m, m->name); break;
        case '#': put(m, m->whole); break;
        case '&': put(m, m->whole_name); break;
        case '|': put_char(m, '\n'); break;
        case '?': put_axis(m, false); break;
        case '!': put_axis(m, true); break;
        case '~': put(m, one_of(m->r, unary, sizeof unary)); break;
        case '^': put(m, one_of(m->r, binary, sizeof binary)); break;
        case '*': put(m, one_of(m->r, numbers, sizeof numbers)); break;
        case '%': put_value(m, m->count + *++at - '0'); break;
        default:
            if (is_operand(form, at))
                put_value(m, operand(m, *at, chosen));
            else
                put_char(m, *at);
        }
}

static void add_value(making *m, const char *type)
{
    static const char *const types[KINDS] = {"$[4,4]", "$[4]",      "$[4,1]",
                                             "$[]",    "bool[4,4]", "#[4,4]"};
    for (int k = 0; k < KINDS; k++) {
        size_t length = strlen(types[k]);
        if (!strncmp(type, types[k], length) &&
            (type[length] == ' ' || !type[length]))
            m->of[k].at[m->of[k].count++] = m->count;
    }
    m->count++;
}

/* A value that is an output, too. */
static void add_result(making *m, const char *type)
{
    char name[16];

    snprintf(name, sizeof name, "%sv%d", *m->values ? ", " : "", m->count);
    strcat(m->values, name);
    add_value(m, type);
}

/* All operands that a form takes are there, and of a dtype that it takes. */
static bool takes(const making *m, const char *form)
{
    if (strstr(form, "abs I") && *m->whole == 'u')
        return false;
    for (const char *at = form; *at; at++)
        if (is_operand(form, at) && !m->of[kind_of(*at)].count)
            return false;
    return true;
}

static void add_form(making *m)
{
    const char *form = rng_below(m->r, 3) ? one_of(m->r, ones, sizeof ones)
                                          : one_of(m->r, idioms, sizeof idioms);

    if (!takes(m, form))
        return;
    put_form(m, form);
    for (const char *at = form; *at; at += strcspn(at, "\n"), at += *at == '\n')
        for (const char *result = at; *result == '%';
             result += strcspn(result, " ") + 1)
            add_result(m, strchr(result, ':') + 1);
}

static void add_input(making *m, const char *type)
{
    put_char(m, ' ');
    put_value(m, m->count);
    put_char(m, ':');
    put_form(m, type);
    add_value(m, type);
}

void make_program(making *m, rng *r)
{
    static const char *const dtypes[][2] = {{"f32", "float32"},
                                            {"f32", "float32"},
                                            {"f16", "float16"},
                                            {"bf16", "bfloat16"},
                                            {"f64", "float64"}};
    static const char *const wholes[][2] = {
        {"i32", "int32"}, {"i32", "int32"}, {"i8", "int8"},
        {"u8", "uint8"},  {"i16", "int16"}, {"u32", "uint32"},
        {"i64", "int64"}, {"u64", "uint64"}};
    const char *const *dtype = dtypes[rng_below(r, 5)],
                      *const *whole = wholes[rng_below(r, 8)];
    int steps = 1 + rng_below(r, 7);

    *m = (making){.r = r,
                  .dtype = dtype[0],
                  .name = dtype[1],
                  .whole = whole[0],
                  .whole_name = whole[1]};
    for (int k = 0; k < KINDS; k++)
        m->of[k].last = -1;
    put(m, "{ lambda ;");
    for (int i = 0; i < MOST_INPUTS - 2; i++)
        add_input(m, "$[4,4]");
    add_input(m, "$[4]");
    add_input(m, "#[4,4]");
    put(m, ". let\n");
    for (int i = 0; (i < steps || !*m->values) && m->count < MOST_VALUES - 12;
         i++)
        add_form(m);
    put(m, "in (");
    put(m, m->values);
    put(m, ",) }\n");
}
