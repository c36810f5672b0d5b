# Builds jaxvet; `make help` lists the targets.  No configure step: what is
# missing is installed by scripts/setup.sh.
CC      = gcc
CFLAGS  = -O2 -g
STRICT  = -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
          -Wmissing-prototypes -Wpointer-arith -Wvla -Wwrite-strings -Wconversion \
          -Wsign-conversion -Wcast-qual -ffp-contract=off \
          -fno-math-errno -fPIC -fvisibility=hidden -pthread
BUILD   = build
LIBS    = -lz -lm -ldl -pthread
PREFIX  = /usr/local
# What takes one environment with JAX takes this one (scripts/environments.sh).
PYTHON  = $(or $(JAXVET_VENV),build/venv)/bin/python
SOVERSION = 0
VERSION = $(shell sed -n 's/^\#define JX_VERSION "\(.*\)"/\1/p' reports/pipeline/versions.h)

# `make DEBUG=1` has a folder of its own: no optimization, the IR verified after
# every pass, every answer checked by brute force (what JX_VERIFY guards).
ifdef DEBUG
BUILD  := $(BUILD)/debug
CFLAGS  = -O0 -g3 -DJX_VERIFY
endif

LAYERS  = frontend/base frontend/ir frontend/sizes frontend/mlir frontend/read frontend/decompose \
          frontend/write analyzer \
          analyzer/transform analyzer/lint analyzer/values prover checker runtime runtime/kernels runtime/field \
          runtime/gradients runtime/witness runtime/equal \
          reports reports/pipeline reports/formats reports/commands
ALL_SRC = $(foreach d,$(LAYERS),$(wildcard $(d)/*.c))
# The solver's helper process alone is linked with libz3, so that nothing else
# pays for loading it; the command's own files are no part of the library.
SOLVER_SRC = $(wildcard prover/z3.c prover/solver_main.c)
# Which Z3 it is built against: Debian's, or `make Z3=DIR` any other one, from a
# usual prefix (DIR/include, DIR/lib) or an unpacked z3-solver wheel (DIR/z3/...).
ifdef Z3
Z3_HOME := $(patsubst %/include/z3.h,%,$(abspath $(firstword $(wildcard $(Z3)/include/z3.h $(Z3)/z3/include/z3.h))))
ifeq ($(Z3_HOME),)
$(error Z3=$(Z3): no include/z3.h and no z3/include/z3.h in there)
endif
Z3_CFLAGS = -isystem $(Z3_HOME)/include
Z3_LIBS = -L$(Z3_HOME)/lib -Wl,-rpath,$(Z3_HOME)/lib -lz3
else
Z3_LIBS := $(shell pkg-config --libs z3 2>/dev/null || echo -lz3)
Z3_CFLAGS := $(shell pkg-config --cflags z3 2>/dev/null)
endif
CMD_SRC = jaxvet.c $(wildcard reports/commands/*.c)
LIB_SRC = $(filter-out $(SOLVER_SRC) $(CMD_SRC),$(ALL_SRC))
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
CMD_OBJ = $(CMD_SRC:%.c=$(BUILD)/obj/%.o)
# tests/unit/test_*.c are tests; tests/FOLDER/*.c else are programs that tests use.
TESTS   = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
TOOL_SRC = $(filter-out tests/unit/% tests/fuzz/% tests/host/% tests/starve/% tests/conformance/judge.c tests/extents/programs.c tests/prove/number_cbmc.c,$(wildcard tests/*/*.c))
TOOLS   = $(foreach t,$(TOOL_SRC),$(BUILD)/tests/$(basename $(notdir $(t))))
TEST_OBJ = $(TESTS:$(BUILD)/tests/%=$(BUILD)/obj/tests/unit/%.o) $(TOOL_SRC:%.c=$(BUILD)/obj/%.o)
CMD_MOD = $(filter-out $(BUILD)/obj/jaxvet.o,$(CMD_OBJ))
SOLVER_OBJ = $(SOLVER_SRC:%.c=$(BUILD)/obj/%.o)
PROGRAMS = $(BUILD)/jaxvet $(if $(SOLVER_SRC),$(BUILD)/jaxvet-solver)
# Ranks of mpirun as devices: a library that the command loads, where there is MPI.
MPI_LIB := $(if $(shell command -v mpicc),$(BUILD)/libjaxvet_mpi.so)
# Says what is made in a word; `make V=1` shows the commands.
Q       = $(if $(V),,@echo "  $(if $(filter %.o,$@),CC  ,LINK)  $@";)
COMPILE = $(Q)$(CC) $(STRICT) $(CFLAGS) -I. -I$(BUILD)/gen -MMD -MP -c
LINK    = $(Q)$(CC) $(CFLAGS)
# Of the programs that are tests alone: there are some ninety, each with the library.
TEST_LDFLAGS =

CHECKED = $(BUILD)/decompositions.checked
.PHONY: all
all: $(PROGRAMS) $(BUILD)/libjaxvet.so $(BUILD)/libjaxvet_pjrt.so $(MPI_LIB) $(CHECKED)  ## build the command and the library

# The ids of primitives and of ops alone: who needs no more of prims.def or ops.def
# is compiled again only when there are other ones.
PRIM_IDS = $(BUILD)/gen/frontend/ir/prim_ids.h
OP_IDS = $(BUILD)/gen/frontend/mlir/op_ids.h
IDS = $(PRIM_IDS) $(OP_IDS)
$(PRIM_IDS): frontend/ir/prims.def Makefile
$(OP_IDS): frontend/mlir/ops.def Makefile
$(IDS):
	@mkdir -p $(@D)
	@sed -n -e 's/^PRIM(\([a-z0-9_]*\),.*/    JX_PRIM_\1,/p' \
	    -e '/^OP("/{s/^OP("\([^"]*\)".*/    JX_OP_\1,/;s/[.-]/_/g;p}' $< >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# The text of frontend/decompose/*.jaxpr as C.
PROGRAMS_INC = $(BUILD)/gen/frontend/decompose/programs.inc
JAXPRS = $(sort $(wildcard frontend/decompose/*.jaxpr))
$(PROGRAMS_INC): $(JAXPRS) frontend/decompose Makefile
	@mkdir -p $(@D)
	@for f in $(JAXPRS); do echo "{\"$$f\","; sed 's/[\\"]/\\&/g; s/.*/    "&\\n"/' $$f; echo "},"; done >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# They are read, verified and typed: one that is wrong ends the build.
JAXPRS_CHECKED = $(JAXPRS)
$(CHECKED): $(BUILD)/tests/decompositions $(JAXPRS_CHECKED)
	@$< $(JAXPRS_CHECKED)
	@touch $@

.SECONDARY: $(TEST_OBJ)
$(BUILD)/obj/%.o: %.c Makefile | $(IDS) $(PROGRAMS_INC)
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $<

$(BUILD)/libjaxvet.a: $(LIB_OBJ)
	@rm -f $@
	$(if $(V),,@)ar rcs $@ $^

$(BUILD)/libjaxvet.so: $(LIB_OBJ) reports/exports.map
	$(LINK) -shared -Wl,-z,defs -Wl,--version-script=reports/exports.map -Wl,-soname,libjaxvet.so.$(SOVERSION) -o $@ $(LIB_OBJ) $(LIBS)

# The plugin holds all of the library, and shows one function of it.
$(BUILD)/libjaxvet_mpi.so: $(wildcard hosts/mpi/*.c hosts/mpi/*.h) runtime/comm.h
	$(Q)$(CC) $(STRICT) $(CFLAGS) -I. $$(mpicc --showme:compile) -fPIC -shared -o $@ $(filter %.c,$^) $$(mpicc --showme:link)

PJRT_OBJ = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard hosts/pjrt/*.c))
$(BUILD)/libjaxvet_pjrt.so: $(PJRT_OBJ) $(BUILD)/libjaxvet.a hosts/pjrt/exports.map
	$(LINK) -shared -Wl,-z,defs -Wl,--gc-sections -Wl,--version-script=hosts/pjrt/exports.map -Wl,-soname,libjaxvet_pjrt.so -o $@ $(PJRT_OBJ) $(BUILD)/libjaxvet.a $(LIBS)

$(BUILD)/jaxvet: $(CMD_OBJ) $(BUILD)/libjaxvet.a
	$(LINK) -o $@ $^ $(LIBS)

# Holds which Z3 was used last, and is younger than the objects only if that
# was another one.
$(BUILD)/z3.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(Z3_CFLAGS) $(Z3_LIBS)' | cmp -s - $@ || echo '$(Z3_CFLAGS) $(Z3_LIBS)' >$@

.PHONY: FORCE
FORCE:

$(BUILD)/obj/prover/z3.o: prover/z3.c Makefile $(IDS) $(BUILD)/z3.flags $(wildcard $(Z3_HOME)/include/z3_version.h)
	@mkdir -p $(@D)
	$(COMPILE) $(Z3_CFLAGS) -o $@ $<

$(BUILD)/jaxvet-solver: $(SOLVER_OBJ) $(patsubst %,$(BUILD)/obj/frontend/base/%.o,buffer budget pages plain) $(BUILD)/z3.flags
	$(LINK) -o $@ $(filter %.o,$^) $(Z3_LIBS) $(LIBS)

# The newest Z3 that we have met, from PyPI, and a helper of its own with it.
.PHONY: z3-new prove-solvers prove-cvc5
Z3_NEW = 5.4.0.0
z3-new:  ## fetch a newer Z3 (PyPI's z3-solver) and build build/z3-new/jaxvet-solver with it
	@scripts/z3_wheel.sh $(Z3_NEW) build/z3-new/wheel
	@$(MAKE) BUILD=build/z3-new Z3=build/z3-new/wheel build/z3-new/jaxvet-solver

prove-solvers: all  ## the questions of $JAXVET_CORPUS with every solver that is there
	@$(MAKE) z3-new || echo "prove: left out: a newer Z3 (see above)"
	@BUILD=$(BUILD) python3 scripts/prove_solvers.py z3

prove-cvc5: all  ## what the prover proves of $JAXVET_CORPUS, asked of cvc5
	@BUILD=$(BUILD) python3 scripts/prove_solvers.py cvc5

.PHONY: prove-load
prove-load: all  ## the same answers three times while the machine is busy
	@JAXVET=$(BUILD)/jaxvet scripts/prove_load.sh

# A test may use the command's own modules, too.
define TEST
$(BUILD)/tests/$(basename $(notdir $(1))): $(BUILD)/obj/$(1:.c=.o) $(CMD_MOD) $(BUILD)/libjaxvet.a
	@mkdir -p $$(@D)
	$$(LINK) $$(TEST_LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) -lcmocka $$(LIBS)
endef
# Those of the plugin hold it, without its library.
$(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_pjrt_*.c)): $(PJRT_OBJ)
$(foreach t,$(TESTS:$(BUILD)/%=%),$(eval $(call TEST,$(t:tests/%=tests/unit/%).c)))
$(foreach t,$(TOOL_SRC),$(eval $(call TEST,$(t))))
$(BUILD)/tests/runner: $(BUILD)/obj/tests/conformance/judge.o
$(BUILD)/tests/extents_random: $(BUILD)/obj/tests/extents/programs.o

.PHONY: limits
limits: all  ## how well limits of memory and time are kept
	@python3 tests/limits/limits.py $(BUILD)/jaxvet

.PHONY: starve
starve: all  ## memory that ends at every allocation, in every command and in a host; goes on where it was stopped
	@STARVE='--all --done $(BUILD)/starve.done' STARVE_HOST=1 BUILD=$(BUILD) CC="$(CC)" tests/check_starve.sh

# Where each allocation is one of malloc's, each may fail; of so many a sample.
.PHONY: starve-lone
starve-lone:  ## the same in a build where nothing shares a block, at a sample of the allocations
	@$(MAKE) BUILD=build/lone CFLAGS="-O1 -g -DJX_LONE_BLOCKS" all
	@STARVE='--sample 300' BUILD=build/lone CC="$(CC)" tests/check_starve.sh

# Tests: every program of tests/unit, then every tests/check_*.sh (given the build
# folder), then every tests/cli/*.sh; test adds the pytest files of tests/ and
# frontend/python, with the JAX of build/venv and with that of build/venv-new.
.PHONY: check
# Those that take longest, or wait, are begun first: behind all others they would run alone.
LONG    = tests/check_sent.sh $(BUILD)/tests/test_solver tests/check_locale.sh tests/check_starve.sh \
          $(BUILD)/tests/test_prove_random
CHECKS  = $(TESTS) $(wildcard tests/check_*.sh)
check: all $(TESTS) $(TOOLS)  ## run the tests that need no network and no JAX
	@printf '%s\n' $(LONG) $(filter-out $(LONG),$(CHECKS)) | BUILD=$(BUILD) CC="$(CC)" \
	    OBJECTS="$(LIB_OBJ) $(CMD_OBJ)" scripts/side_by_side.sh
	@JAXVET=$(BUILD)/jaxvet tests/cli/run.sh

.PHONY: setup test demo
setup:  ## install what is missing, JAX in build/venv and build/venv-new included
	@scripts/setup.sh all

# The offline tests run while environments with JAX are made.  Nobody looks into their
# programs: without what a debugger reads they are linked in half the time.
test:  ## set up, then run every test
	@scripts/setup.sh packages
	@scripts/setup.sh all & environments=$$!; $(MAKE) -j$$(nproc) TEST_LDFLAGS=-Wl,--strip-debug check; checked=$$?; \
	    wait $$environments && exit $$checked
	@scripts/pytests.sh

demo:  ## set up, then check, gradcheck and run the demo programs
	@scripts/setup.sh build
	@$(MAKE) -j$$(nproc) all
	@demo/run.sh $(BUILD)/jaxvet

# Not pinned, so that its failing is news and not an error of ours.
.PHONY: jax-newest fresh
jax-newest: all $(TOOLS)  ## the tests against PyPI's latest JAX, in build/venv-newest; says what fails
	@scripts/jax_newest.sh

RELEASES = bookworm trixie
fresh:  ## make demo and make test on bare machines of Debian 12 and 13 (RELEASES), by chroot; as root
	@set -e; for r in $(RELEASES); do scripts/fresh.sh $$r; done

# The same tests in other builds.  (gcc's own instrumentation hides a cast from its
# warnings of conversions.)
.PHONY: asan valgrind
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
           -Wno-conversion -Wno-sign-conversion
asan:  ## build under ASan and UBSan in build/asan and run the offline tests
	@UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1 \
	$(MAKE) BUILD=build/asan CFLAGS="-O1 -g -DJX_VERIFY $(SANITIZE)" check

valgrind: all $(TESTS)  ## run the command on some inputs, and the unit tests, under valgrind
	@BUILD=$(BUILD) scripts/valgrind.sh
	@set -e; for t in $(TESTS); do echo "  VALGRIND $$t"; \
	    valgrind -q --leak-check=full --error-exitcode=9 $$t >$(BUILD)/valgrind.log 2>&1 \
	    || { cat $(BUILD)/valgrind.log; exit 1; }; done

# What threads of a host do at once.  (gcc's own instrumentation hides a cast here, too.)
.PHONY: tsan
THREADED = test_pool test_pjrt_threads test_pjrt_races test_pjrt_bad_bytes test_pjrt_lives
tsan:  ## build under TSan in build/tsan and run the tests with several threads
	@$(MAKE) BUILD=build/tsan CFLAGS="-O1 -g -fsanitize=thread -fno-omit-frame-pointer -Wno-conversion -Wno-sign-conversion" \
	    $(THREADED:%=build/tsan/tests/%)
	@set -e; for t in $(THREADED); do echo "  TSAN $$t"; TSAN_OPTIONS=halt_on_error=1 build/tsan/tests/$$t; done

.PHONY: extents
extents: all  ## 2,000 random programs against the bounds of their values (EXTENTS, EXTENTS_SEED)
	@EXTENTS=$${EXTENTS:-2000} JAXVET=$(BUILD)/jaxvet PYTHONPATH=frontend/python build/venv/bin/python -m pytest -q \
	    -p no:cacheprovider tests/python/test_extents.py

.PHONY: extents-random
extents-random: $(BUILD)/tests/extents_random  ## a million random programs on our own runtime against the bounds of their values (PROGRAMS, SEED)
	@$< --programs $${PROGRAMS:-1000000} --seed $${SEED:-0} --rows

.PHONY: faults recipes
recipes: all  ## what docs/HACKING.md says of adding something, tried with made-up ones
	@scripts/recipes.sh $(RECIPES)
faults:  ## each of tests/seeded_faults must trip an assertion in a debug build
	@scripts/faults.sh $(FAULTS)

.PHONY: mutate
mutate: all $(BUILD)/tests/mutate_certificates  ## 10,000 certificates of proofs, changed, must be rejected
	@BUILD=$(BUILD) MUTANTS=10000 tests/check_certificates.sh

# One fuzz target per file of tests/fuzz; what it keeps lies in build/fuzz/corpus.
.PHONY: fuzz
FUZZ_SECONDS = 60
FUZZ_RUNS = 0
FUZZERS = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
fuzz:  ## run each fuzz target for FUZZ_SECONDS (60) under ASan and UBSan, or until all its runs are FUZZ_RUNS
	@$(MAKE) CC=clang BUILD=build/fuzz CFLAGS="-O1 -g -DJX_VERIFY $(SANITIZE) -fsanitize=fuzzer-no-link" \
	    $(FUZZERS:%=build/fuzz/%)
	@set -e; for t in $(FUZZERS); do FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_RUNS=$(FUZZ_RUNS) scripts/fuzz.sh $$t; done

$(BUILD)/fuzz_pjrt: $(PJRT_OBJ)
$(FUZZERS:%=$(BUILD)/%): $(BUILD)/%: $(BUILD)/obj/tests/fuzz/%.o $(CMD_MOD) $(BUILD)/libjaxvet.a
	$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# Every module that there is against jaxlib's own decoder; see tests/mlir.
.PHONY: decode
decode: all $(TOOLS)  ## decode all modules of $JAXVET_CORPUS and of JAX, held against jaxlib
	@BUILD=$(BUILD) scripts/decode.sh corpus wheel versions texts newer

.PHONY: back-compat
back-compat: all  ## run the old modules that JAX's wheel keeps, and compare
	@JAXVET=$(BUILD)/jaxvet $(PYTHON) tests/mlir/back_compat.py

# KINDS=vjp2 makes those alone; HOLD=--no-run leaves their runs out.
.PHONY: exported-kinds
exported-kinds: all $(TOOLS)  ## some 700 exported files of ten kinds, made by JAX and held against it
	@rm -rf $(BUILD)/kinds
	@$(PYTHON) -W ignore tests/exported/kinds.py $(BUILD)/kinds $(KINDS)
	@JAXVET=$(BUILD)/jaxvet $(PYTHON) -W ignore tests/exported/hold.py $(BUILD)/kinds $(HOLD)

.PHONY: planted
planted: all  ## errors planted in exported programs, which run --expect has to see
	@JAXVET=$(BUILD)/jaxvet $(PYTHON) tests/exported/planted.py

# What make check does with 4,000 questions, with many more: parts of 25,000, each
# with a seed of its own, and none twice (scripts/in_parts.sh).
.PHONY: prove-random
PARTS = 40
prove-random: all $(BUILD)/tests/test_prove_random  ## 10^6 random questions and their mirror images, against exhaustive evaluation
	@JX_RANDOM_QUESTIONS=25000 scripts/in_parts.sh prove-random $(PARTS) $(BUILD)/tests/test_prove_random

.PHONY: grammar-random forge checkers-agree cbmc
EXPRESSIONS = 1000000
grammar-random: $(BUILD)/tests/read_sizes  ## random expressions, read by us and by Python's eval
	@BUILD=$(BUILD) EXPRESSIONS=$(EXPRESSIONS) tests/check_grammar.sh

# In parts, none twice: scripts/in_parts.sh.
forge: all  ## false statements with proofs, all small ones and 10^6 at random: no checker accepts one
	@JAXVET=$(BUILD)/jaxvet python3 tests/prove/forge.py enumerate
	@JAXVET=$(BUILD)/jaxvet SECOND=2000 scripts/in_parts.sh forge 10 python3 tests/prove/forge.py random 100000

checkers-agree: all  ## the two checkers on 20,000 certificates of the prover's, and on changed ones
	@JAXVET=$(BUILD)/jaxvet scripts/in_parts.sh checkers-agree 10 python3 tests/prove/checkers_agree.py 2000

CBMC_CHECKS = -I. --signed-overflow-check --div-by-zero-check
cbmc:  ## a bounded model checker on the checker's arithmetic: Debian's, unpacked in build/cbmc if need be
	@mkdir -p build; set -e; for bits in NARROW WIDE; do \
	    scripts/cbmc.sh $(CBMC_CHECKS) -D$$bits tests/prove/number_cbmc.c >build/cbmc.log || { cat build/cbmc.log; exit 1; }; \
	    echo "cbmc ($$bits): $$(sed -n 's/^\*\* \(.*failed\).*/\1/p' build/cbmc.log)"; done

.PHONY: bench conformance retrace-library
bench: all $(BUILD)/tests/time_prove  ## measure start-up, checking, proving and running, beside JAX
	@$(PYTHON) scripts/bench.py

.PHONY: bench-backend
bench-backend: all  ## train ten models on the backend of JAX and on XLA, and compare
	@$(PYTHON) scripts/bench_backend.py $(MODELS)

.PHONY: bench-sanitize
bench-sanitize: all  ## train them on the backend while the sanitizer looks, and compare
	@$(PYTHON) scripts/bench_sanitize.py $(MODELS)

.PHONY: jax-tests
jax-tests: all  ## run JAX's own tests of symbolic sizes with our prover behind it
	@$(PYTHON) scripts/jax_shape_poly.py $(JAX_TESTS)

.PHONY: jax-suite library-suites capture
jax-suite: all  ## run JAX's own tests on XLA's CPU and on our backend (JAX_SUITE='-j 2 lax_test'; the tests from $$JAX_SOURCE, a clone, or GitHub)
	@$(PYTHON) scripts/jax_suite.py $(JAX_SUITE)

library-suites: all  ## the same with those of optax, flax, equinox, chex and distrax
	@$(PYTHON) scripts/jax_suite.py --of libraries $(JAX_SUITE)

capture: all  ## check and run every program that JAX's tests run (JAX_SUITE='--of optax', ...: as above)
	@$(PYTHON) scripts/capture_jax_tests.py $(JAX_SUITE)

.PHONY: right-rules
right-rules: all  ## 2,000 random right rules, of which gradcheck may accuse none
	@JAX_PLATFORMS=cpu build/venv/bin/python scripts/judge_right_rules.py $(RIGHT_RULES)

.PHONY: rule-mutants
rule-mutants: all  ## right derivative rules with one thing changed: which of them gradcheck misses
	@JAXVET=$(BUILD)/jaxvet $(PYTHON) scripts/rule_mutants.py $(RULE_MUTANTS)

.PHONY: custom-api
custom-api: all  ## what JAX's own tests of custom rules transform, transformed by us
	@$${JAXVET_VENV:-build/venv}/bin/python scripts/custom_api.py $(CUSTOM_API)

.PHONY: transforms
transforms: all  ## our transformations of JAX's test harnesses, against JAX's
	@build/venv/bin/python scripts/transforms.py $(TRANSFORMS)

.PHONY: predictions
predictions: all  ## what check --transform predicts of JAX's test harnesses, against JAX
	@build/venv/bin/python scripts/predictions.py $(PREDICTIONS)

.PHONY: accuracy
accuracy: all  ## every elementwise function of JAX and its derivative on every number, ours and XLA's: docs/ACCURACY.md
	@build/venv/bin/python scripts/accuracy.py measure $(ACCURACY)
	@build/venv/bin/python scripts/accuracy.py page

.PHONY: field-rules
field-rules: all $(TOOLS)  ## how many right elementwise rules are proved or identical over the reals, and why others are not
	@JAX_PLATFORMS=cpu $${JAXVET_VENV:-build/venv}/bin/python scripts/field_rules.py $(FIELD_RULES)

.PHONY: equal-random
equal-random: all  ## random pairs of functions, most of which differ somewhere: `jaxvet equal` may call none identical
	@JAX_PLATFORMS=cpu $${JAXVET_VENV:-build/venv}/bin/python scripts/equal_random.py $(EQUAL_RANDOM)

.PHONY: sharding
sharding: all  ## sharded programs of live JAX against their references, and wrong ones: `jaxvet equal`
	@$${JAXVET_VENV:-build/venv}/bin/python scripts/sharding.py $(SHARDING)

.PHONY: field-random
field-random: all $(TOOLS)  ## random pairs of functions, most of which differ somewhere: none may be called identical over the reals
	@JAX_PLATFORMS=cpu $${JAXVET_VENV:-build/venv}/bin/python scripts/field_random.py $(FIELD_RANDOM)

.PHONY: libraries
libraries: all  ## some 1,000 functions of libraries on the newest JAX: dumped, checked, run
	@scripts/libraries.sh $(LIBRARIES)

.PHONY: found
found:  ## the reproducers of docs/FOUND.md print what it says
	@scripts/shipped.sh found.py

.PHONY: shipped-rules
shipped-rules: all  ## the derivative rules that ship in twelve libraries, reached and judged
	@scripts/shipped.sh shipped_rules.py $(SHIPPED_RULES)

.PHONY: releases
releases: all  ## the same programs traced by both pinned releases of JAX, compared
	@python3 scripts/releases.py all build/venv build/venv-new

conformance: all $(TOOLS)  ## run JAX's own test harnesses from ready documents
	@scripts/conformance.sh

.PHONY: lowering
lowering: all  ## programs as StableHLO, run by XLA, against their answers (those checked in, or $$JAXVET_HARNESSES)
	@scripts/lowering.sh

# In full; make test has a sample of each (tests/mlir/test_against_jax.py).
.PHONY: sizes-against-jax dynamic-against-jax forms-against-jax
sizes-against-jax: all  ## exported files at sizes that nobody recorded: $JAXVET_CORPUS, $JAXVET_POLYMORPHIC
	@scripts/against_jax.sh sizes

dynamic-against-jax: all  ## StableHLO whose sizes are arguments ($JAXVET_CORPUS), against what jaxlib refines
	@scripts/against_jax.sh dynamic

forms-against-jax: all  ## programs in all forms: the same findings, the same numbers
	@scripts/against_jax.sh forms

.PHONY: stablehlo-ops
STABLEHLO_CASES = 200
stablehlo-ops: all  ## random programs of each StableHLO op, run by XLA and here
	@JAXVET=$(BUILD)/jaxvet $(PYTHON) -W ignore tests/python/stablehlo_ops.py --cases $(STABLEHLO_CASES)

retrace-library: all  ## hold programs of libraries against themselves at sizes
	@$(PYTHON) scripts/retrace_library.py

.PHONY: install uninstall
$(BUILD)/jaxvet.1: docs/jaxvet.1.in scripts/manpage.sh $(BUILD)/jaxvet
	@scripts/manpage.sh $(BUILD)/jaxvet >$@

BINDIR  = $(DESTDIR)$(PREFIX)/bin
LIBDIR  = $(DESTDIR)$(PREFIX)/lib
EXECDIR = $(DESTDIR)$(PREFIX)/libexec
INCDIR  = $(DESTDIR)$(PREFIX)/include
MANDIR  = $(DESTDIR)$(PREFIX)/share/man/man1
install: all $(BUILD)/jaxvet.1  ## install under PREFIX (/usr/local), below DESTDIR
	install -d $(BINDIR) $(LIBDIR)/pkgconfig $(EXECDIR) $(INCDIR) $(MANDIR)
	install $(BUILD)/jaxvet $(BINDIR)
	$(if $(SOLVER_SRC),install $(BUILD)/jaxvet-solver $(EXECDIR))
	install -m 644 $(BUILD)/libjaxvet.so $(LIBDIR)/libjaxvet.so.$(SOVERSION)
	ln -sf libjaxvet.so.$(SOVERSION) $(LIBDIR)/libjaxvet.so
	install -m 644 $(BUILD)/libjaxvet_pjrt.so $(LIBDIR)
	$(if $(MPI_LIB),install -m 644 $(MPI_LIB) $(LIBDIR))
	install -m 644 jaxvet.h $(INCDIR)
	install -m 644 $(BUILD)/jaxvet.1 $(MANDIR)
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: jaxvet' \
	    'Description: reads, checks and runs traced JAX programs' 'Version: $(VERSION)' \
	    'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -ljaxvet' \
	    >$(LIBDIR)/pkgconfig/jaxvet.pc

uninstall:  ## remove what install put there
	rm -f $(BINDIR)/jaxvet $(EXECDIR)/jaxvet-solver $(LIBDIR)/libjaxvet.so $(LIBDIR)/libjaxvet.so.$(SOVERSION) \
	    $(LIBDIR)/libjaxvet_pjrt.so $(LIBDIR)/libjaxvet_mpi.so \
	    $(LIBDIR)/pkgconfig/jaxvet.pc $(INCDIR)/jaxvet.h $(MANDIR)/jaxvet.1

.PHONY: format lint
SOURCES = $(shell git ls-files '*.c' '*.h')
format:  ## run clang-format over every C file
	clang-format -i $(SOURCES)

lint:  ## run cppcheck, clang-tidy and shellcheck, those that are there
	@scripts/lint.sh

.PHONY: clean
clean:  ## remove what was built (but not build/venv*)
	@if [ -d $(BUILD) ]; then find $(BUILD) -mindepth 1 -maxdepth 1 ! -name 'venv*' -exec rm -rf {} +; fi

.PHONY: help
help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

-include $(LIB_OBJ:.o=.d) $(PJRT_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(SOLVER_OBJ:.o=.d) $(TEST_OBJ:.o=.d) \
         $(FUZZERS:%=$(BUILD)/obj/tests/fuzz/%.d) $(BUILD)/obj/tests/conformance/judge.d $(BUILD)/obj/tests/extents/programs.d
