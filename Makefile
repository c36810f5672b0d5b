# Builds jaxvet; `make help` lists the targets.  No configure step: what is
# missing is installed by scripts/setup.sh (make setup).
CC      = gcc
CFLAGS  = -O2 -g
STRICT  = -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
          -Wmissing-prototypes -Wpointer-arith -Wvla -Wwrite-strings -ffp-contract=off \
          -fno-math-errno -fPIC -fvisibility=hidden -pthread
BUILD   = build
LIBS    = -ljson-c -lz -lm -ldl -pthread
PREFIX  = /usr/local
VERSION = $(shell sed -n 's/^\#define JX_VERSION "\(.*\)"/\1/p' reports/versions.h)

# `make DEBUG=1` has a folder of its own: no optimization, the IR verified after
# every pass, every answer checked by brute force (what JX_VERIFY guards).
ifdef DEBUG
BUILD  := $(BUILD)/debug
CFLAGS  = -O0 -g3 -DJX_VERIFY
endif

LAYERS  = frontend/base frontend/ir frontend/mlir frontend/read frontend/write analyzer \
          analyzer/transform analyzer/lint analyzer/shard prover runtime runtime/kernels reports
ALL_SRC = $(foreach d,$(LAYERS),$(wildcard $(d)/*.c))
# The solver's helper process alone is linked with libz3, so that nothing else
# pays for loading it; the command's own files are no part of the library.
SOLVER_SRC = $(wildcard prover/z3.c prover/solver_main.c)
CMD_SRC = jaxvet.c reports/options.c reports/commands.c $(wildcard reports/cmd_*.c)
LIB_SRC = $(filter-out $(SOLVER_SRC) $(CMD_SRC),$(ALL_SRC))
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
CMD_OBJ = $(CMD_SRC:%.c=$(BUILD)/obj/%.o)
CMD_MOD = $(filter-out $(BUILD)/obj/jaxvet.o,$(CMD_OBJ))
SOLVER_OBJ = $(SOLVER_SRC:%.c=$(BUILD)/obj/%.o)
PROGRAMS = $(BUILD)/jaxvet $(if $(SOLVER_SRC),$(BUILD)/jaxvet-solver)
TESTS   = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
TEST_OBJ = $(TESTS:$(BUILD)/tests/%=$(BUILD)/obj/tests/unit/%.o)
# Says what is made in a word; `make V=1` shows the commands.
Q       = $(if $(V),,@echo "  $(if $(filter %.o,$@),CC  ,LINK)  $@";)
COMPILE = $(Q)$(CC) $(STRICT) $(CFLAGS) -I. -MMD -MP -c
LINK    = $(Q)$(CC) $(CFLAGS)

.PHONY: all
all: $(PROGRAMS) $(BUILD)/libjaxvet.so  ## build the command and the library

.SECONDARY: $(TEST_OBJ)
$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $<

$(BUILD)/libjaxvet.a: $(LIB_OBJ)
	@rm -f $@
	$(if $(V),,@)ar rcs $@ $^

$(BUILD)/libjaxvet.so: $(LIB_OBJ)
	$(LINK) -shared -Wl,-soname,libjaxvet.so.0 -o $@ $^ $(LIBS)

$(BUILD)/jaxvet: $(CMD_OBJ) $(BUILD)/libjaxvet.a
	$(LINK) -o $@ $^ $(LIBS)

$(BUILD)/jaxvet-solver: $(SOLVER_OBJ) $(BUILD)/libjaxvet.a
	$(LINK) -o $@ $^ -lz3 $(LIBS)

# Tests of the command's own modules link those too.
$(TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(CMD_MOD) $(BUILD)/libjaxvet.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ -lcmocka $(LIBS)

.PHONY: check
check: all $(TESTS)  ## run the tests that need no network and no JAX
	@set -e; for t in $(TESTS); do $$t; done

.PHONY: clean
clean:  ## remove what was built (but not build/venv)
	@if [ -d $(BUILD) ]; then find $(BUILD) -mindepth 1 -maxdepth 1 ! -name venv -exec rm -rf {} +; fi

.PHONY: help
help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(SOLVER_OBJ:.o=.d) $(TEST_OBJ:.o=.d)
