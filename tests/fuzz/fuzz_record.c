/* fuzz_record.c - records of reports, as a journal keeps them and workers send
 * them.
 *
 * What is read prints in every format, and is written as what was read.  What
 * a record holds changes with the fields of a report, so no record is a seed:
 * the mutator begins with one of its own. */
#include "reports/formats/formats.h"
#include "reports/pipeline/record.h"
#include "tests/fuzz/fuzz.h"

enum { BUDGET = 32 << 20 };

static void print(const jx_report *report)
{
    const jx_report_list list = {1, report, 0, NULL};
    jx_buffer to = {0};

    jx_report_json(&list, NULL, &to);
    jx_report_sarif(&list, &(jx_style){0}, &to);
    jx_report_text(&list, &(jx_style){0}, &to);
    check(jx_buffer_ok(&to));
    jx_buffer_free(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    char *copy = fuzz_copy(data, size);
    jx_report report = {.path = "model.json"}, again = report;
    jx_buffer first = {0}, second = {0};

    if (jx_record_read(ctx, copy, size, &report)) {
        jx_record_write(&report, &first);
        check(jx_buffer_ok(&first));
        if (jx_record_read(ctx, first.text, first.length, &again)) {
            jx_record_write(&again, &second);
            check(second.length == first.length &&
                  !memcmp(second.text, first.text, first.length));
        } else {
            check(!jx_ok(ctx));
        }
        print(&report);
    }
    jx_buffer_free(&first);
    jx_buffer_free(&second);
    free(copy);
    jx_ctx_free(ctx);
    return 0;
}

static void put_seed(jx_buffer *to)
{
    jx_spot where = {.file = "model.py", .function = "loss", .line = 3};
    jx_size n = {"n", 4};
    jx_then then = {"then", where};
    jx_fixed_line line = {"model.py", 3, "x", "y"};
    jx_fix fix = {"clips", true, 1, &line};
    jx_finding finding = {
        .code = JX_CODE_SHP001,
        .level = JX_ERROR,
        .verdict = JX_REFUTED,
        .evidence = "evaluated",
        .message = "sizes differ",
        .where = where,
        .calls = &where,
        .ncalls = 1,
        .sizes = &n,
        .nsizes = 1,
        .note = "a note\nof two lines",
        .witness = "{}",
        .then = &then,
        .nthen = 1,
        .fix = &fix,
        .count = 1,
    };
    const char *text = "n >= 1";
    jx_remark remark = {"model.py", 3, "x  # jaxvet: ignore[SHP]"};
    jx_report report = {.path = "model.json"};

    report.findings.at = &finding;
    report.findings.count = 1;
    report.assumptions.at = &text;
    report.assumptions.count = 1;
    report.remarks.at = &remark;
    report.remarks.count = 1;
    jx_record_write(&report, to);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    jx_buffer first = {0};

    (void)seed;
    if (size < sizeof(jx_report))
        put_seed(&first);
    if (first.length && first.length <= max_size) {
        memcpy(data, first.text, first.length);
        size = first.length;
    }
    jx_buffer_free(&first);
    return LLVMFuzzerMutate(data, size, max_size);
}
