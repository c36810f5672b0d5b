/* typecheck.c - types documents and says what does not fit.
 *
 *     typecheck FILE ...      documents, or jaxprs as JAX prints them
 *     typecheck --list FILE   a file of paths, one per line
 *     typecheck --lines FILE  a file of documents, one per line ("-": stdin)
 *     -q                      only the last line
 *     -b N                    at most N bytes for what follows
 *     -s                      one line per document: its counts
 *
 * A line per claim that is refuted or not settled by the typer itself, then
 * one with the counts of all.  Exit 1 if anything is refuted or unreadable. */
#include "analyzer/typing.h"
#include "frontend/read/document.h"
#include "frontend/read/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t budget;

typedef struct counts {
    long documents, unreadable, equations, settled, resting, refuted, open,
        unknown, unclean;
} counts;

static const char *verdict_name(const jx_claim *claim)
{
    return claim->verdict == JX_REFUTED ? "refuted" : "open";
}

static void print_goal(const jx_claim *claim)
{
    static const char *const ops[] = {"", "==", "!=", ">=", ">", "divides"};
    jx_buffer text = {0};

    if (claim->goal.kind < JX_GOAL_EQ || claim->goal.kind > JX_GOAL_DIVIDES)
        return;
    jx_dim_print(claim->goal.lhs, &text);
    jx_buffer_printf(&text, " %s ", ops[claim->goal.kind]);
    jx_dim_print(claim->goal.rhs, &text);
    printf(" | %s", jx_buffer_text(&text));
    jx_buffer_free(&text);
}

static void print_claim(const char *path, const jx_claim *claim)
{
    printf("%s: %s %s", path, jx_code_of(claim->code)->id, verdict_name(claim));
    if (claim->jaxpr)
        printf(" jaxpr %d", claim->jaxpr->id);
    if (claim->eqn && claim->jaxpr)
        printf(" eqn %ld %s", (long)(claim->eqn - claim->jaxpr->eqns),
               claim->eqn->prim->name);
    printf(": %s", claim->what);
    print_goal(claim);
    if (claim->evidence.why)
        printf(" (%s)", claim->evidence.why);
    putchar('\n');
}

static void count_program(const char *path, jx_analysis *to, counts *all,
                          bool print)
{
    long refuted = all->refuted, open = all->open;

    all->equations += (long)to->equations;
    all->settled += (long)to->settled;
    all->resting += (long)to->resting;
    all->unknown += (long)to->unknowns.count;
    for (size_t i = 0; i < to->claims.count; i++) {
        const jx_claim *claim = to->claims.at[i];
        if (claim->verdict == JX_REFUTED)
            all->refuted++;
        else
            all->open++;
        if (print)
            print_claim(path, claim);
    }
    all->unclean += refuted != all->refuted || open != all->open;
}

static void check(const char *path, const char *text, size_t length,
                  counts *all, bool print, bool summary)
{
    jx_ctx *ctx = jx_ctx_new(budget);
    counts before = *all;
    jx_program *program = jx_is_text(text, length)
                              ? jx_read_text(ctx, path, text, length)
                              : jx_read_document(ctx, path, text, length);
    jx_analysis *to = program ? jx_analysis_new(program) : NULL;

    all->documents++;
    if (to && jx_type_program(to)) {
        count_program(path, to, all, print);
    } else {
        all->unreadable++;
        if (print)
            printf("%s: unreadable: %s: %s\n", path,
                   ctx->error.place ? ctx->error.place : "",
                   ctx->error.message ? ctx->error.message : "");
    }
    if (summary)
        printf("%s\tunreadable %ld\trefuted %ld\topen %ld\tunknown %ld\n", path,
               all->unreadable - before.unreadable,
               all->refuted - before.refuted, all->open - before.open,
               all->unknown - before.unknown);
    jx_ctx_free(ctx);
}

static bool check_file(const char *path, counts *all, bool print, bool summary)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length;

    if (!file) {
        perror(path);
        return false;
    }
    length = getdelim(&text, &capacity, EOF, file);
    fclose(file);
    check(path, text, length > 0 ? (size_t)length : 0, all, print, summary);
    free(text);
    return true;
}

static bool check_lines(const char *path, bool names, counts *all, bool print,
                        bool summary)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    char *text = NULL, name[32];
    size_t capacity = 0;
    ssize_t length;
    bool ok = true;

    if (!file) {
        perror(path);
        return false;
    }
    for (long n = 0; (length = getline(&text, &capacity, file)) > 0; n++) {
        if (names) {
            text[strcspn(text, "\n")] = '\0';
            ok = check_file(text, all, print, summary) && ok;
            continue;
        }
        snprintf(name, sizeof name, "%ld", n);
        check(name, text, (size_t)length, all, print, summary);
    }
    free(text);
    if (file != stdin)
        fclose(file);
    return ok;
}

int main(int argc, char **argv)
{
    counts all = {0};
    bool print = true, summary = false, ok = true;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-q") == 0)
            print = false;
        else if (strcmp(argv[i], "-b") == 0 && i + 1 < argc)
            budget = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "-s") == 0)
            summary = !(print = false);
        else if (strcmp(argv[i], "--list") == 0 && i + 1 < argc)
            ok = check_lines(argv[++i], true, &all, print, summary) && ok;
        else if (strcmp(argv[i], "--lines") == 0 && i + 1 < argc)
            ok = check_lines(argv[++i], false, &all, print, summary) && ok;
        else
            ok = check_file(argv[i], &all, print, summary) && ok;
    }
    printf("documents %ld unreadable %ld equations %ld settled %ld resting %ld "
           "refuted %ld open %ld unknown %ld not-clean %ld\n",
           all.documents, all.unreadable, all.equations, all.settled,
           all.resting, all.refuted, all.open, all.unknown, all.unclean);
    return ok && !all.refuted && !all.unreadable ? 0 : 1;
}
