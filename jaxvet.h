/* jaxvet.h - reading, checking and running traced JAX programs from C or C++.
 *
 *     jaxvet_error error;
 *     jaxvet_program *program = jaxvet_open("mlp.json", 0, &error);
 *     const char *report;
 *     jaxvet_status status = jaxvet_check(program, &report, &error);
 *     jaxvet_call *call = jaxvet_prepare(program, sizes, 1, &error);
 *     status = jaxvet_run(call, inputs, outputs, &error);
 *     jaxvet_call_free(call);
 *     jaxvet_close(program);
 *
 * What a function returns by pointer belongs to the program (or call) it was
 * asked of, and lives as long.  What can fail takes a jaxvet_error (or NULL)
 * and says in it what went wrong (JAXVET_USAGE where something is needed and
 * NULL is given); nothing is printed, and the process is never ended.  There is
 * no global state: programs are independent, and each is used by one thread at
 * a time.  Calls are independent of each other while they run (not while they
 * are prepared), so several threads may each run their own.
 *
 * Build with `pkg-config --cflags --libs jaxvet`. */
#ifndef JAXVET_H
#define JAXVET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JAXVET_API __attribute__((visibility("default")))

/* Changes when something here changes its meaning; compare it with what the
 * library that was found says. */
#define JAXVET_ABI_VERSION 2
JAXVET_API int jaxvet_abi_version(void);
JAXVET_API const char *jaxvet_version(void); /* "0.1.0" */

/* What came of it: the exit codes of the command (of a limit it is 3). */
typedef enum jaxvet_status {
    JAXVET_OK = 0,
    JAXVET_FINDINGS = 1,  /* the report has findings at error level */
    JAXVET_USAGE = 2,     /* the caller asked for what does not exist */
    JAXVET_INPUT = 3,     /* the input can't be read or run */
    JAXVET_INTERNAL = 4,  /* a defect of jaxvet */
    JAXVET_UNDECIDED = 5, /* no findings, but something is left undecided */
    JAXVET_LIMIT = 6,     /* given up: a limit, or the system has no memory */
} jaxvet_status;

/* Why a function failed.  Texts are cut to fit; unused ones are empty. */
typedef struct jaxvet_error {
    jaxvet_status status;
    char file[256];
    char place[128];    /* "byte 12", "/jaxprs/2/eqns/5" */
    char message[1024]; /* what was expected */
} jaxvet_error;

/* What may be spent; zero means no limit.
 *
 *     jaxvet_limits limits = {sizeof limits, 1u << 30, 2.5, &cancelled};
 */
typedef struct jaxvet_limits {
    size_t size;                /* of this struct, as the host knows it */
    size_t bytes;               /* of memory, all that there is at a time */
    double seconds;             /* of each call, by the clock */
    const volatile int *cancel; /* not 0: end soon; another thread may set it */
} jaxvet_limits;

/* Bytes that a text such as "512MiB" means, 0 for one that means none; without
 * one, the memory that the system has for this process. */
JAXVET_API uint64_t jaxvet_memory(const char *text);

/* Opening.  Whatever the command reads; NULL on failure.  `budget` bounds the
 * memory a program and all that is asked of it may take, in bytes (0: 4 GiB);
 * `name` stands for the input in reports.  The bytes need not outlive the
 * call. */
typedef struct jaxvet_program jaxvet_program;
JAXVET_API jaxvet_program *jaxvet_open(const char *path, size_t budget,
                                       jaxvet_error *error);
JAXVET_API jaxvet_program *jaxvet_open_memory(const void *bytes, size_t size,
                                              const char *name, size_t budget,
                                              jaxvet_error *error);
JAXVET_API void jaxvet_close(jaxvet_program *program);

/* Limits of a program and all that is asked of it from now on, its calls and
 * refined programs included; NULL: none, not the one it was opened with either.
 * A call that reaches one ends within some milliseconds (but for routines of
 * LAPACK, which nobody can interrupt) with JAXVET_LIMIT, nothing half done left
 * behind; after any other than jaxvet_run(), which may be called again, the
 * program is of no use but to be closed. */
JAXVET_API jaxvet_status jaxvet_program_limits(jaxvet_program *program,
                                               const jaxvet_limits *limits,
                                               jaxvet_error *error);

/* The signature.  Inputs and outputs are the flattened leaves; a type is text
 * as JAX prints it ("f32[b,3]"), a path says where in the arguments the leaf
 * lies ("args[0]['w']"; empty if unknown).  Sizes are the symbolic dimensions,
 * by name; StableHLO may take one as an element of an input.  NULL for a
 * number out of range. */
JAXVET_API int jaxvet_input_count(const jaxvet_program *program);
JAXVET_API int jaxvet_output_count(const jaxvet_program *program);
JAXVET_API int jaxvet_size_count(const jaxvet_program *program);
JAXVET_API const char *jaxvet_input_type(const jaxvet_program *program, int i);
JAXVET_API const char *jaxvet_output_type(const jaxvet_program *program, int i);
JAXVET_API const char *jaxvet_input_path(const jaxvet_program *program, int i);
JAXVET_API const char *jaxvet_output_path(const jaxvet_program *program, int i);
JAXVET_API const char *jaxvet_size_name(const jaxvet_program *program, int i);

/* What the program calls itself ("jit_f"); "" without a name. */
JAXVET_API const char *jaxvet_name(const jaxvet_program *program);

/* Whether the module says that its caller gives an input up (donates it), so
 * that a result may take its memory: the number of that result,
 * JAXVET_ANY_OUTPUT, or JAXVET_KEPT.  It is the host's to act on that, by
 * jaxvet_call_lends(). */
enum { JAXVET_KEPT = -1, JAXVET_ANY_OUTPUT = -2 };
JAXVET_API int jaxvet_input_alias(const jaxvet_program *program, int i);

/* The kind of memory that the module says an input or output lies in
 * ("pinned_host"): *kind, NULL where it says none. */
JAXVET_API jaxvet_status jaxvet_input_memory(jaxvet_program *program, int i,
                                             const char **kind,
                                             jaxvet_error *error);
JAXVET_API jaxvet_status jaxvet_output_memory(jaxvet_program *program, int i,
                                              const char **kind,
                                              jaxvet_error *error);

/* Devices that the module is written for; 1 if it does not say. */
JAXVET_API int jaxvet_device_count(const jaxvet_program *program);

/* How an input or output lies on these devices: axis `a` is cut into parts[a]
 * equal parts, of which device d holds number place[d * rank + a]. */
typedef struct jaxvet_sharding {
    int rank, devices;
    const int64_t *parts;
    const int *place;
    /* the first axis counts parts that are added up; devices have one each,
     * without that axis */
    int is_summed;
} jaxvet_sharding;
/* *sharding is NULL where the module says nothing of it: each device holds
 * all.  (Of an output it may say nothing and one be found that suits what it is
 * made of.) The program is the global one: it takes and gives whole arrays.
 * JAXVET_INPUT where arrays can't be cut as the module says. */
JAXVET_API jaxvet_status jaxvet_input_sharding(jaxvet_program *program, int i,
                                               const jaxvet_sharding **sharding,
                                               jaxvet_error *error);
JAXVET_API jaxvet_status
jaxvet_output_sharding(jaxvet_program *program, int i,
                       const jaxvet_sharding **sharding, jaxvet_error *error);

/* Of an array that lies in unreduced parts, which make it when they are added
 * up, no device has more than one of them.  From now on such inputs and outputs
 * are the arrays of these parts: they have one more axis, in front.  Without
 * this, their shardings are refused.  To be called before the program is asked
 * for anything else. */
JAXVET_API jaxvet_status jaxvet_program_summands(jaxvet_program *program,
                                                 jaxvet_error *error);

/* All that is known of a program without running it: *info is the JSON of
 * `jaxvet info --format json` (signature, sizes and constraints, equations,
 * cost; of an exported file versions, platforms, shardings, custom calls). */
JAXVET_API jaxvet_status jaxvet_info(jaxvet_program *program, const char **info,
                                     jaxvet_error *error);

/* What a run costs by the equations: operations of floating-point numbers, of
 * these such as exp, and bytes of operands and results.  Sums depend on sizes:
 * one that does is -1, as is one beyond 2^53. */
typedef struct jaxvet_cost {
    size_t size; /* of this struct, as the host knows it */
    double flops, transcendentals, bytes;
} jaxvet_cost;
JAXVET_API jaxvet_status jaxvet_costs(jaxvet_program *program,
                                      jaxvet_cost *cost, jaxvet_error *error);

/* The program as a module of StableHLO in MLIR's text: the one it was read
 * from, else what it is lowered to; with the places of its source if
 * `locations` is not 0. *text is the program's, until it is asked again. */
JAXVET_API jaxvet_status jaxvet_module(jaxvet_program *program, int locations,
                                       const char **text, jaxvet_error *error);

/* The program at sizes of some or all of its symbolic dimensions, as a program
 * of its own: its types show what they become there.  It is used by the thread
 * that uses `program`, and closed before that is.  NULL on failure, as when the
 * sizes break a declared constraint or make an extent negative. */
typedef struct jaxvet_size {
    const char *name;
    int64_t value;
} jaxvet_size;
JAXVET_API jaxvet_program *jaxvet_refine(jaxvet_program *program,
                                         const jaxvet_size *sizes, int count,
                                         jaxvet_error *error);

/* The derivative of that order (from 1) that a file of jax.export holds, as a
 * program of its own, used and closed as one of jaxvet_refine(): it takes the
 * function's inputs and a cotangent for each output, and gives one for each
 * input.  NULL on failure, as when the file holds none. */
JAXVET_API jaxvet_program *jaxvet_vjp(jaxvet_program *program, int order,
                                      jaxvet_error *error);

/* The program transformed, as `jaxvet show --transform` does it ("jvp",
 * "devices:8"), as a program of its own, used and closed as one of
 * jaxvet_refine(); sizes are jaxvet_refine()'s.  "jvp" takes the inputs, then
 * a tangent for each inexact one, and gives the outputs, then a tangent for
 * each inexact one; "linearize" gives the outputs, then residuals, and
 * "linearize,linear" takes these and tangents and gives tangents; "vjp" takes
 * the inputs, then a cotangent for each inexact output, and gives one for
 * each inexact input.  NULL on failure: no such transform, or an equation
 * that lacks a rule. */
JAXVET_API jaxvet_program *
jaxvet_transform(jaxvet_program *program, const char *how, jaxvet_error *error);

/* Sizes at which the program is worth looking at: small, equal, at the edges of
 * its constraints and of what was asked about sizes while it was traced; small
 * enough to run it there.  At most `most` assignments (3 to 6 are usual), each
 * a value per size in the order of jaxvet_size_name(), one after another in
 * *values.  How many there are, or -1. */
JAXVET_API int jaxvet_sizes(jaxvet_program *program, int most,
                            const int64_t **values, jaxvet_error *error);

/* Comments that suppress findings (`# jaxvet: ignore[CODE]`) count where the
 * program embeds its source, from now on: it is the host's own.  Without this
 * no comment does, since whoever wrote a program would judge it. */
JAXVET_API void jaxvet_trust_embedded(jaxvet_program *program);

/* Types, proves and lints; *report is the JSON of `jaxvet check --format
 * json`.  JAXVET_OK, JAXVET_FINDINGS or JAXVET_UNDECIDED with a report, else
 * none and an error. */
JAXVET_API jaxvet_status jaxvet_check(jaxvet_program *program,
                                      const char **report, jaxvet_error *error);

/* Do two programs, each with a context of its own, compute the same? *report is
 * the JSON of `jaxvet equal --format json`, which says by what evidence, with
 * the derivatives of both if `derivatives` is not 0; it is that of `a`, until
 * it is asked again.  Programs that many devices run are compared for all of
 * them.  JAXVET_OK (nothing is different, and nothing left open),
 * JAXVET_FINDINGS or JAXVET_UNDECIDED with a report, else none and an error: as
 * when they do not take and give the same types. */
JAXVET_API jaxvet_status jaxvet_equal(jaxvet_program *a, jaxvet_program *b,
                                      int derivatives, const char **report,
                                      jaxvet_error *error);

/* Running.  A call is a program made ready at given sizes (every one that the
 * signature names); NULL on failure, as when the sizes break a declared
 * constraint. */
typedef struct jaxvet_call jaxvet_call;
JAXVET_API jaxvet_call *jaxvet_prepare(jaxvet_program *program,
                                       const jaxvet_size *sizes, int count,
                                       jaxvet_error *error);
JAXVET_API void jaxvet_call_free(jaxvet_call *call); /* before the program */
/* The same call with working memory of its own, so that another thread may run
 * it at the same time; copies are freed before what they were made of. */
JAXVET_API jaxvet_call *jaxvet_call_copy(const jaxvet_call *call,
                                         jaxvet_error *error);
/* A thread that helps with what is large.  A call that is given none starts one
 * of its own, if it ever needs it; where there are many calls, they rather
 * share one: whoever runs has it if nobody else does at that moment, and else
 * works alone. Results never depend on it.  NULL: one of its own (again). */
typedef struct jaxvet_helper jaxvet_helper;
JAXVET_API jaxvet_helper *jaxvet_helper_new(jaxvet_error *error);
JAXVET_API void jaxvet_helper_free(jaxvet_helper *helper); /* after all runs */
JAXVET_API void jaxvet_call_help(jaxvet_call *call, jaxvet_helper *helper);
/* Bytes of its working memory, beside inputs and outputs. */
JAXVET_API size_t jaxvet_call_memory(const jaxvet_call *call);

/* How an input or output lies in memory: dense, row-major, in the machine's
 * byte order; 4-bit integers one byte each, a key its 32-bit words along one
 * more axis.  NULL for a number out of range. */
typedef struct jaxvet_layout {
    const char *dtype; /* as in the type: "f32", "bf16", "i4" */
    int rank;
    const int64_t *shape;
    size_t bytes;
} jaxvet_layout;
JAXVET_API const jaxvet_layout *jaxvet_call_input(const jaxvet_call *call,
                                                  int i);
JAXVET_API const jaxvet_layout *jaxvet_call_output(const jaxvet_call *call,
                                                   int i);

/* Not 0: a run may be given one pointer for both that input and that output,
 * which then takes the input's memory. */
JAXVET_API int jaxvet_call_lends(const jaxvet_call *call, int input,
                                 int output);

/* Runs once: a pointer per input, and one per output for the results.  Buffers
 * may not overlap, but as jaxvet_call_lends() says, and an input that says a
 * size must say the one that the call was prepared for.  JAXVET_OK, or an
 * error; the outputs are then undefined. */
JAXVET_API jaxvet_status jaxvet_run(jaxvet_call *call,
                                    const void *const *inputs,
                                    void *const *outputs, jaxvet_error *error);

/* Custom calls.  A module may call code that it only names.  jaxvet has
 * kernels for what JAX calls on a CPU by itself (LAPACK, ...); all other
 * targets are a host's to run, if it gives handlers, and else what makes
 * jaxvet_prepare() fail with JAXVET_INPUT, the target's name in the message
 * and the user's line as the place.
 *
 * A callback of a jaxpr is one, too: its target is "pure_callback",
 * "io_callback", "debug_callback" or "debug_print", and its options are the
 * name of the Python function (of debug_print the text that is printed) as
 * `config`.  Without a handler the last two do nothing, and where the program
 * comes by one of the others its run ends with JAXVET_INPUT. */
typedef enum jaxvet_attribute_kind {
    /* what has no number, text or list of numbers */
    JAXVET_ATTRIBUTE_OTHER = 0,
    JAXVET_ATTRIBUTE_BOOL,
    JAXVET_ATTRIBUTE_INTEGER,
    JAXVET_ATTRIBUTE_FLOAT, /* or a complex number */
    JAXVET_ATTRIBUTE_STRING,
    JAXVET_ATTRIBUTE_ARRAY,
    JAXVET_ATTRIBUTE_DICTIONARY,
} jaxvet_attribute_kind;

typedef struct jaxvet_attribute {
    const char *name;
    jaxvet_attribute_kind kind;
    const char *dtype; /* of the number, or an element ("i32"); else NULL */
    int64_t count;     /* elements, bytes of a string, entries */
    /* elements as in an array; a string's bytes, any of them */
    const void *data;
    const struct jaxvet_attribute *entries; /* of a dictionary, by name */
} jaxvet_attribute;

/* A call as its module says it.  An operand or result that only says what comes
 * before what is there with the dtype "token" and no bytes.  The memory of an
 * array is row-major, unless the module asks for another order of its axes
 * there; it starts at a multiple of 64. */
typedef struct jaxvet_custom_call {
    size_t size; /* of this struct, as the library knows it */
    const char *target;
    /* as StableHLO counts: 1 to 3, 4 with options by name; of a
     * callback of a jaxpr 0 */
    int api_version;
    int has_side_effect;
    int input_count, output_count;
    const jaxvet_layout *inputs, *outputs;
    /* per output: the input that lies in its memory, or -1 */
    const int *aliases;
    const char *config; /* options as text, any bytes and a NUL; or NULL */
    size_t config_size;
    int attribute_count; /* options by name */
    const jaxvet_attribute *attributes;
    const char *place; /* of the user: "/home/me/prog.py:12:8"; or "" */
    int device; /* where one run is that of several: whose it is, from 0 */
} jaxvet_custom_call;

/* What a host's handlers are.  A call whose results are needed, or that has a
 * side effect, runs as often as the program comes by it; those with side
 * effects run in the program's order, and are not merged.  Several threads may
 * come at once, each with a call of its own of the same state.  What fails
 * fills in an error, of which the message is passed on. */
typedef struct jaxvet_handlers {
    size_t size; /* of this struct, as the host knows it */
    void *data;  /* given to each of them */
    /* 0: this target is unknown; JAXVET_HANDLES: run it, where jaxvet has no
     * kernel; JAXVET_INSISTS: run it in any case. */
    int (*knows)(void *data, const char *target);
    /* While a call is prepared: what is kept for it goes into
     * *state.  May be NULL. */
    jaxvet_status (*begin)(void *data, const jaxvet_custom_call *call,
                           void **state, jaxvet_error *error);
    /* A pointer per input and output.  `context` is that of
     * jaxvet_run_with(). */
    jaxvet_status (*run)(void *data, void *state,
                         const jaxvet_custom_call *call,
                         const void *const *inputs, void *const *outputs,
                         void *context, jaxvet_error *error);
    /* When what was prepared is freed, for each that began.  May be NULL. */
    void (*end)(void *data, void *state);
} jaxvet_handlers;
enum { JAXVET_HANDLES = 1, JAXVET_INSISTS = 2 };

/* The handlers of calls that are prepared from now on; NULL: none. */
JAXVET_API jaxvet_status
jaxvet_program_handlers(jaxvet_program *program,
                        const jaxvet_handlers *handlers, jaxvet_error *error);

/* jaxvet_run(), with something for this run's handlers. */
JAXVET_API jaxvet_status jaxvet_run_with(jaxvet_call *call,
                                         const void *const *inputs,
                                         void *const *outputs, void *context,
                                         jaxvet_error *error);

/* The sanitizer.  A call that is prepared with it looks at what its runs
 * compute: NaN made of numbers and infinities of finite ones, where they get to
 * an output; indices outside of their axis, where somebody notices; signed
 * integers that wrap, and conversions to what does not hold the value; losses
 * of more than half of the digits.  What is not found costs little; what is,
 * some more runs of the same (handlers are not called again).  No input of such
 * a call is lent. */
enum {
    JAXVET_SANITIZE_NAN = 1,
    JAXVET_SANITIZE_OOB = 2,
    JAXVET_SANITIZE_WRAP = 4,
    /* costs more: each run has another one beside it, in double */
    JAXVET_SANITIZE_DIGITS = 8,
};
/* "nan,oob" as a sum of these; 0 where a word is none of them. */
JAXVET_API unsigned jaxvet_sanitize_kinds(const char *text);
/* As jaxvet_prepare(), for these kinds, one at least.  jaxvet_run() and
 * jaxvet_run_with() are JAXVET_FINDINGS where something is found: the outputs
 * are there, and the findings, until the call's next run. */
JAXVET_API jaxvet_call *jaxvet_prepare_sanitized(jaxvet_program *program,
                                                 const jaxvet_size *sizes,
                                                 int count, unsigned kinds,
                                                 jaxvet_error *error);

/* One finding of a run.  Texts that are not known are empty. */
typedef struct jaxvet_finding {
    size_t size;         /* of this struct, as the library knows it */
    const char *code;    /* "NUM001" */
    const char *message; /* one line */
    const char *file;    /* of the user's line */
    int line;            /* from 1; 0: not known */
    const char *text;    /* all of it, for people, in lines */
} jaxvet_finding;
/* How many the last run of this call has, in *findings. */
JAXVET_API int jaxvet_call_findings(const jaxvet_call *call,
                                    const jaxvet_finding **findings);
/* The same as the JSON of `jaxvet run --sanitize --format json`; NULL where
 * there are none. */
JAXVET_API const char *jaxvet_call_report(const jaxvet_call *call);

/* The arguments and results of a module's function, where some are no arrays:
 * the number of the program's input or output that it is, or -1: a token, which
 * orders effects, or what a file of jax.export fills in. */
JAXVET_API int jaxvet_argument_count(const jaxvet_program *program);
JAXVET_API int jaxvet_argument_input(const jaxvet_program *program, int i);
JAXVET_API int jaxvet_result_count(const jaxvet_program *program);
JAXVET_API int jaxvet_result_output(const jaxvet_program *program, int i);

/* Questions about sizes: does `lhs op rhs` hold for every assignment of its
 * variables that the constraints allow?  A prover is made for a set of
 * constraints ("a >= 2", "mod(b, 8) == 0"); variables are at least `base` (1 in
 * JAX).  Sizes are text as JAX prints them, op is one of == != >= <= > <.  The
 * solver's helper process is started when a question first needs it; provers
 * made `with` another one share its helper (and belong to the same thread).
 * NULL on failure; the error's place is "constraint 0, column 5". */
typedef struct jaxvet_prover jaxvet_prover;
JAXVET_API jaxvet_prover *jaxvet_prover_new(const char *const *constraints,
                                            int count, int64_t base,
                                            jaxvet_prover *with,
                                            jaxvet_error *error);
JAXVET_API void jaxvet_prover_free(jaxvet_prover *prover); /* in any order */
/* Limits of each question from now on.  One that reaches them is JAXVET_UNKNOWN
 * and the answer says so; the next one starts anew. */
JAXVET_API jaxvet_status jaxvet_prover_limits(jaxvet_prover *prover,
                                              const jaxvet_limits *limits,
                                              jaxvet_error *error);

typedef enum jaxvet_verdict {
    JAXVET_UNKNOWN = 0,   /* the answer says why */
    JAXVET_TRUE,          /* for every assignment */
    JAXVET_FALSE,         /* for none */
    JAXVET_DEPENDS,       /* the answer has one for each */
    JAXVET_CONTRADICTION, /* the constraints allow no assignment */
} jaxvet_verdict;
enum {
    JAXVET_PROVE_SUGGEST = 1,   /* look for constraints that would settle it */
    JAXVET_PROVE_NO_SOLVER = 2, /* stop before the solver */
    JAXVET_PROVE_FLAGS = 3,     /* all of them */
};

/* JAXVET_OK with a verdict, and *answer the line of JSON that `jaxvet prove`
 * would print (the prover's, until its next question); else an error, whose
 * place is "lhs, column 3". */
JAXVET_API jaxvet_status jaxvet_prove(jaxvet_prover *prover, const char *lhs,
                                      const char *op, const char *rhs,
                                      int flags, jaxvet_verdict *verdict,
                                      const char **answer, jaxvet_error *error);

#ifdef __cplusplus
}
#endif

#endif
