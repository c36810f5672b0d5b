/* mutate_certificates.c - certificates changed in meaning must be rejected.
 *
 *     mutate_certificates FILE COUNT [SEED]
 *
 * FILE has certificates (jaxvet prove --certificate), which must all be
 * accepted.  Then COUNT mutants are made, each a certificate with one change:
 * of a number, sign, comparison or variable in some text, of a rule's name, of
 * a list (an element dropped, two swapped), of the verdict or the base, or a
 * member taken from another certificate.  A change that leaves a text with the
 * same meaning, or a list the same, is none, and another is made.
 *
 * A mutant with the same statement (every member but the proof) is right to be
 * accepted if its proof is one: a step that nothing needed was left out.  These
 * are counted apart, and must be few (1 in 500).  Prints what is accepted; the
 * exit code is 0 if no other mutant is.
 *
 * Last, what is false (that constraints with a witness contradict each other)
 * is given with the proofs of other statements, which must all be rejected.
 */
#include "checker/checker.h"
#include "frontend/base/file.h"
#include "frontend/ir/dim.h"
#include "prover/prover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A JSON value that can be changed. */
typedef struct node {
    jx_json_kind kind;
    char *text; /* of a text; the digits of a number */
    struct node *parent;
    char *key; /* in an object */
    struct node **child;
    size_t n;
} node;

typedef struct random {
    uint64_t state;
} random_source;

static uint64_t next(random_source *r, uint64_t below)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return below ? (r->state * 0x2545F4914F6CDD1Dull >> 11) % below : 0;
}

/* -------------------------------------------------------------------------
 * Trees
 * ---------------------------------------------------------------------- */

static void *checked(void *memory)
{
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

static void append(node *to, node *child, const char *key)
{
    to->child = checked(realloc(to->child, (to->n + 1) * sizeof *to->child));
    child->parent = to;
    child->key = key ? checked(strdup(key)) : NULL;
    to->child[to->n++] = child;
}

static node *copy_of(const jx_json *json)
{
    node *made = checked(calloc(1, sizeof *made));
    const jx_json *value;
    const char *key;
    size_t state = 0;
    char digits[32];
    size_t length;

    made->kind = jx_json_kind_of(json);
    switch (made->kind) {
    case JX_JSON_TEXT:
        made->text = checked(strdup(jx_json_text(json, &length)));
        break;
    case JX_JSON_INT:
        snprintf(digits, sizeof digits, "%lld", (long long)jx_json_int(json));
        made->text = checked(strdup(digits));
        break;
    case JX_JSON_ARRAY:
        for (size_t i = 0; i < jx_json_count(json); i++)
            append(made, copy_of(jx_json_item(json, i)), NULL);
        break;
    case JX_JSON_OBJECT:
        while (jx_json_next(json, &state, &key, &value))
            append(made, copy_of(value), key);
        break;
    default: break;
    }
    return made;
}

static void free_node(node *x)
{
    for (size_t i = 0; i < x->n; i++)
        free_node(x->child[i]);
    free(x->child);
    free(x->text);
    free(x->key);
    free(x);
}

static void print(const node *x, jx_buffer *to)
{
    switch (x->kind) {
    case JX_JSON_TEXT: jx_json_put_text(to, x->text); return;
    case JX_JSON_INT: jx_buffer_puts(to, x->text); return;
    case JX_JSON_ARRAY:
    case JX_JSON_OBJECT:
        jx_buffer_putc(to, x->kind == JX_JSON_ARRAY ? '[' : '{');
        for (size_t i = 0; i < x->n; i++) {
            if (i)
                jx_buffer_putc(to, ',');
            if (x->child[i]->key) {
                jx_json_put_text(to, x->child[i]->key);
                jx_buffer_putc(to, ':');
            }
            print(x->child[i], to);
        }
        jx_buffer_putc(to, x->kind == JX_JSON_ARRAY ? ']' : '}');
        return;
    default: jx_buffer_puts(to, "null"); return;
    }
}

/* Number `*k` of the nodes that are worth a change, in order: not the id. */
static node *pick(node *x, size_t *k)
{
    if (x->key && (!strcmp(x->key, "id") || !strcmp(x->key, "certificate")))
        return NULL;
    if ((*k)-- == 0)
        return x;
    for (size_t i = 0; i < x->n; i++) {
        node *found = pick(x->child[i], k);
        if (found)
            return found;
    }
    return NULL;
}

static size_t size_of(const node *x)
{
    size_t n = 1;

    if (x->key && (!strcmp(x->key, "id") || !strcmp(x->key, "certificate")))
        return 0;
    for (size_t i = 0; i < x->n; i++)
        n += size_of(x->child[i]);
    return n;
}

static node *member(const node *x, const char *key)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->child[i]->key && !strcmp(x->child[i]->key, key))
            return x->child[i];
    return NULL;
}

/* -------------------------------------------------------------------------
 * Meaning
 * ---------------------------------------------------------------------- */

static const jx_dim *read_side(jx_dims *in, const char *text, size_t *end)
{
    const char *expected;

    return jx_dim_parse_written(in, text, strlen(text), 0, end, &expected);
}

/* The text as the checker takes it: p >= 0, == 0, != 0; or a size. */
static const jx_dim *meaning(jx_dims *in, const char *text, int *kind)
{
    static const char *const signs[] = {"==", "!=", ">=", "<=", ">", "<"};
    size_t end;
    const jx_dim *a = read_side(in, text, &end), *b, *d;
    const char *rest = a ? text + end : "";

    *kind = -1;
    if (!a || !*rest)
        return a;
    for (int i = 0; i < 6; i++)
        if (!strncmp(rest, signs[i], strlen(signs[i]))) {
            b = read_side(in, rest + strlen(signs[i]), &end);
            d = i == 3 || i == 5 ? jx_dim_sub(in, b, a) : jx_dim_sub(in, a, b);
            *kind = i < 2 ? i : 2;
            return i > 3 ? jx_dim_sub(in, d, jx_dim_int(in, 1)) : d;
        }
    return NULL;
}

static bool same_meaning(const char *a, const char *b)
{
    jx_ctx *ctx = jx_ctx_new(1 << 24);
    jx_dims *in = checked(jx_dims_new(checked(ctx)));
    int j, k;
    const jx_dim *x = meaning(in, a, &j), *y = meaning(in, b, &k);
    bool same = x && y && j == k &&
                (x == y || (k < 2 && k >= 0 && x == jx_dim_neg(in, y)));

    jx_ctx_free(ctx);
    return same || !strcmp(a, b);
}

/* -------------------------------------------------------------------------
 * Changes; each gives false where it finds nothing to change
 * ---------------------------------------------------------------------- */

static bool set_text(node *x, const char *text)
{
    free(x->text);
    x->text = checked(strdup(text));
    return true;
}

/* The text with the `length` bytes at `at` replaced. */
static bool splice(node *x, size_t at, size_t length, const char *with)
{
    jx_buffer to = {0};

    jx_buffer_bytes(&to, x->text, at);
    jx_buffer_puts(&to, with);
    jx_buffer_puts(&to, x->text + at + length);
    set_text(x, jx_buffer_text(&to));
    jx_buffer_free(&to);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_';
}

static bool change_number(node *x, random_source *r)
{
    size_t at[64], n = 0, i, length;
    char with[40];

    for (i = 0; x->text[i] && n < 64; i++)
        if (is_digit(x->text[i]) && (!i || !is_word(x->text[i - 1])))
            at[n++] = i;
    if (!n)
        return false;
    i = at[next(r, n)];
    length = strspn(x->text + i, "0123456789");
    if (length > 15)
        return false;
    long long had = atoll(x->text + i);
    long long steps[] = {1, -1, 2, -had, had, 10};
    long long now = had + steps[next(r, 6)];
    if (now < 0 || now == had)
        return false;
    snprintf(with, sizeof with, "%lld", now);
    return splice(x, i, length, with);
}

static bool change_sign(node *x, random_source *r)
{
    size_t at[64], n = 0, i;

    for (i = 0; x->text[i] && n < 64; i++)
        if (x->text[i] == '+' || x->text[i] == '-')
            at[n++] = i;
    if (!n)
        return splice(x, 0, 0, "-");
    i = at[next(r, n)];
    return splice(x, i, 1, x->text[i] == '+' ? "-" : "+");
}

static bool change_comparison(node *x, random_source *r)
{
    static const char *const signs[] = {"==", "!=", ">=", "<=", ">", "<"};
    size_t at = strcspn(x->text, "=<>!");
    size_t length = strspn(x->text + at, "=<>!");

    return length && splice(x, at, length, signs[next(r, 6)]);
}

static bool change_variable(node *x, random_source *r)
{
    size_t at[64], n = 0, i, j;
    char with[80];

    for (i = 0; x->text[i] && n < 64; i++)
        if (is_word(x->text[i]) && !is_digit(x->text[i]) &&
            (!i || !is_word(x->text[i - 1])))
            at[n++] = i;
    if (n < 2)
        return false;
    i = at[next(r, n)];
    j = at[next(r, n)];
    size_t from = strspn(x->text + i, "abcdefghijklmnopqrstuvwxyz_0123456789"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    size_t to = strspn(x->text + j, "abcdefghijklmnopqrstuvwxyz_0123456789"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (to >= sizeof with)
        return false;
    memcpy(with, x->text + j, to);
    with[to] = '\0';
    return splice(x, i, from, with);
}

static bool change_rule(node *x, random_source *r)
{
    static const char *const rules[] = {"first", "second", "quotient", "ratio",
                                        "put",   "let",    "claim",    "split",
                                        "sum",   "nonzero"};

    for (int i = 0; i < 10; i++)
        if (!strcmp(x->text, rules[i]))
            return set_text(x, rules[(i + 1 + (int)next(r, 9)) % 10]);
    return false;
}

static bool change_verdict(node *x, random_source *r)
{
    static const char *const verdicts[] = {"true", "false", "depends",
                                           "contradiction"};

    return set_text(x, verdicts[next(r, 4)]);
}

static bool change_text(node *x, random_source *r)
{
    bool (*const ways[])(node *, random_source *) = {
        change_number, change_number, change_sign, change_comparison,
        change_variable};

    if (x->key && !strcmp(x->key, "verdict"))
        return change_verdict(x, r);
    if (change_rule(x, r))
        return true;
    return ways[next(r, 5)](x, r);
}

static bool same_tree(const node *a, const node *b)
{
    jx_buffer s = {0}, t = {0};
    bool same;

    print(a, &s);
    print(b, &t);
    same = !strcmp(jx_buffer_text(&s), jx_buffer_text(&t));
    jx_buffer_free(&s);
    jx_buffer_free(&t);
    return same;
}

/* Drops an element, or swaps two that are not in a sum: there order has no
 * meaning, nor has it in steps that follow each other. */
static bool change_list(node *x, random_source *r)
{
    size_t i, j;
    node *had;

    if (!x->n || x->kind != JX_JSON_ARRAY)
        return false;
    i = next(r, x->n);
    j = next(r, x->n);
    bool is_rule = x->child[0]->kind == JX_JSON_TEXT;
    if (!is_rule || next(r, 2)) {
        free_node(x->child[i]);
        memmove(&x->child[i], &x->child[i + 1],
                (x->n - i - 1) * sizeof *x->child);
        x->n--;
        return true;
    }
    /* [multiplier, fact...]: the facts are a product. */
    bool is_product =
        is_digit(x->child[0]->text[0]) || x->child[0]->text[0] == '-' ||
        strcspn(x->child[0]->text, "=<>") == strlen(x->child[0]->text);
    if (i == j || !x->parent ||
        (is_product && i && j && strcmp(x->child[0]->text, "ratio") &&
         strcmp(x->child[0]->text, "split")))
        return false;
    if (same_tree(x->child[i], x->child[j]))
        return false;
    had = x->child[i];
    x->child[i] = x->child[j];
    x->child[j] = had;
    return true;
}

/* A member from another certificate. */
static bool change_member(node *all, const node *other, random_source *r)
{
    static const char *const keys[] = {"constraints", "question", "verdict",
                                       "witnesses",   "facts",    "proof"};
    const char *key = keys[next(r, 6)];
    node *x = member(all, key), *y = member(other, key);
    jx_buffer text = {0};
    jx_json *json = NULL;
    jx_ctx *ctx;

    if (!x || !y || same_tree(x, y))
        return false;
    for (size_t i = 0; i < all->n; i++)
        if (all->child[i] == x) {
            print(y, &text);
            ctx = checked(jx_ctx_new(0));
            jx_buffer whole = {0};
            jx_buffer_printf(&whole, "[%s]", jx_buffer_text(&text));
            if (!jx_json_read(ctx, NULL, jx_buffer_text(&whole), whole.length,
                              &json))
                exit(2);
            free_node(x);
            all->child[i] = copy_of(jx_json_item(json, 0));
            all->child[i]->parent = all;
            all->child[i]->key = checked(strdup(key));
            jx_json_free(json);
            jx_buffer_free(&whole);
            jx_ctx_free(ctx);
        }
    jx_buffer_free(&text);
    return true;
}

static bool change(node *all, const node *other, random_source *r)
{
    size_t k = next(r, size_of(all));
    node *x;
    char *had;
    bool changed;

    if (next(r, 12) == 0)
        return change_member(all, other, r);
    x = pick(all, &k);
    if (!x || x == all)
        return false;
    if (x->kind == JX_JSON_INT) {
        had = checked(strdup(x->text));
        snprintf(x->text = checked(realloc(x->text, 32)), 32, "%lld",
                 atoll(had) + (next(r, 2) ? 1 : -1));
        free(had);
        return true;
    }
    if (x->kind != JX_JSON_TEXT)
        return change_list(x, r);
    had = checked(strdup(x->text));
    changed = change_text(x, r) && !same_meaning(had, x->text);
    free(had);
    return changed;
}

/* -------------------------------------------------------------------------
 * Running
 * ---------------------------------------------------------------------- */

static jx_check_result judge(const node *x, char *why, size_t room)
{
    jx_ctx *ctx = checked(jx_ctx_new(0));
    jx_buffer text = {0};
    jx_json *json = NULL;
    jx_check_result result = JX_CHECK_MALFORMED;

    print(x, &text);
    if (jx_json_read(ctx, NULL, jx_buffer_text(&text), text.length, &json))
        result = jx_check_certificate(json, why, room);
    if (json)
        jx_json_free(json);
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
    return result;
}

static void say(const node *x, const char *what)
{
    jx_buffer text = {0};

    print(x, &text);
    printf("%s: %s\n", what, jx_buffer_text(&text));
    jx_buffer_free(&text);
}

static node *parse(const char *line, size_t length)
{
    jx_ctx *ctx = checked(jx_ctx_new(0));
    jx_json *json = NULL;
    node *made;

    if (!jx_json_read(ctx, NULL, line, length, &json)) {
        fprintf(stderr, "%s\n", ctx->error.message);
        exit(2);
    }
    made = copy_of(json);
    jx_json_free(json);
    jx_ctx_free(ctx);
    return made;
}

typedef struct line {
    const char *text;
    size_t length;
} line;

/* All but the proof is the same. */
static bool same_statement(const node *x, const node *y)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->child[i]->key, "proof")) {
            const node *other = member(y, x->child[i]->key);
            if (!other || !same_tree(x->child[i], other))
                return false;
        }
    return true;
}

static void set_member(node *x, const char *key, node *value)
{
    for (size_t i = 0; i < x->n; i++)
        if (!strcmp(x->child[i]->key, key)) {
            free_node(x->child[i]);
            x->child[i] = value;
            value->parent = x;
            free(value->key);
            value->key = checked(strdup(key));
        }
}

static node *text_node(const char *text)
{
    node *x = checked(calloc(1, sizeof *x));

    x->kind = JX_JSON_TEXT;
    x->text = checked(strdup(text));
    return x;
}

/* What is false: that the constraints of a question with a witness contradict
 * each other.  With its own proof, and with those of others. */
static long false_statements(const line *lines, size_t n, random_source *r,
                             long *tried)
{
    long accepted = 0;
    char why[200];

    for (size_t i = 0; i < 5 * n; i++) {
        const line *a = &lines[i % n], *b = i < n ? a : &lines[next(r, n)];
        node *x = parse(a->text, a->length), *y = parse(b->text, b->length);
        node *facts = member(x, "facts"), *proof = member(y, "proof");
        node *none = checked(calloc(1, sizeof *none));

        none->kind = JX_JSON_ARRAY;
        if (strcmp(member(x, "verdict")->text, "contradiction")) {
            free_node(facts->child[--facts->n]);
            set_member(x, "verdict", text_node("contradiction"));
            set_member(x, "question", text_node(""));
            set_member(x, "witnesses", none);
            for (size_t k = 0; k < y->n; k++)
                if (y->child[k] == proof)
                    y->child[k] = text_node("");
            for (size_t k = 0; k < y->n; k++)
                if (!y->child[k]->key)
                    y->child[k]->key = checked(strdup("proof"));
            set_member(x, "proof", proof);
            ++*tried;
            if (judge(x, why, sizeof why) == JX_CHECK_ACCEPTED) {
                accepted++;
                say(x, "accepted what is false");
            }
        } else {
            free_node(none);
        }
        free_node(x);
        free_node(y);
    }
    return accepted;
}

int main(int argc, char **argv)
{
    jx_ctx *ctx = jx_ctx_new(0);
    size_t size = 0, n = 0;
    const char *text = argc > 2 ? jx_file_read(ctx, argv[1], &size) : NULL;
    long wanted = argc > 2 ? atol(argv[2]) : 0, accepted = 0, made = 0;
    long malformed = 0, others = 0, wrong, shorter = 0;
    random_source r = {argc > 3 ? strtoull(argv[3], NULL, 10) * 77 + 1 : 12345};
    char why[200];
    line *lines;

    if (!text) {
        fprintf(stderr, "mutate_certificates FILE COUNT [SEED]\n");
        return 2;
    }
    lines = checked(calloc(size / 8 + 1, sizeof *lines));
    for (const char *s = text, *end; s < text + size; s = end + 1) {
        end = memchr(s, '\n', (size_t)(text + size - s));
        end = end ? end : text + size;
        if (end > s)
            lines[n++] = (line){s, (size_t)(end - s)};
    }
    for (size_t i = 0; i < n; i++) {
        node *x = parse(lines[i].text, lines[i].length);
        if (judge(x, why, sizeof why) != JX_CHECK_ACCEPTED) {
            say(x, why);
            return 1;
        }
        free_node(x);
    }
    while (n && made < wanted) {
        const line *a = &lines[next(&r, n)], *b = &lines[next(&r, n)];
        node *x = parse(a->text, a->length), *y = parse(b->text, b->length);
        jx_check_result result;

        if (change(x, y, &r)) {
            made++;
            result = judge(x, why, sizeof why);
            malformed += result == JX_CHECK_MALFORMED;
            if (result == JX_CHECK_ACCEPTED) {
                node *had = parse(a->text, a->length);
                bool same = same_statement(had, x);

                free_node(had);
                accepted += !same;
                shorter += same;
                printf("was: %.*s\n", (int)a->length, a->text);
                say(x, "accepted");
            }
        }
        free_node(x);
        free_node(y);
    }
    wrong = false_statements(lines, n, &r, &others);
    printf("certificates: %zu accepted; %ld mutants, %ld accepted (%ld are "
           "malformed, %ld another proof of the same); %ld false "
           "statements, %ld accepted\n",
           n, made, accepted, malformed, shorter, others, wrong);
    free(lines);
    jx_ctx_free(ctx);
    return accepted || wrong || shorter * 500 > made ? 1 : 0;
}
