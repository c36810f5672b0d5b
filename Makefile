# Builds jaxvet; `make help` lists the targets.
CC      = gcc
CFLAGS  = -O2 -g
STRICT  = -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
          -Wmissing-prototypes -Wpointer-arith -Wvla -Wwrite-strings -ffp-contract=off \
          -fno-math-errno -fPIC -fvisibility=hidden -pthread
BUILD   = build
LIBS    = -ljson-c -lz -lm -ldl -pthread
LAYERS  = frontend/base frontend/ir frontend/read frontend/write analyzer prover \
          runtime runtime/kernels reports

LIB_SRC = $(foreach d,$(LAYERS),$(wildcard $(d)/*.c))
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
TESTS   = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))

.PHONY: all check clean help
all: $(BUILD)/jaxvet $(BUILD)/libjaxvet.so

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(CFLAGS) -I. -MMD -MP -c -o $@ $<

$(BUILD)/libjaxvet.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/libjaxvet.so: $(LIB_OBJ)
	$(CC) -shared -o $@ $^ $(LIBS)

$(BUILD)/jaxvet: $(BUILD)/obj/jaxvet.o $(BUILD)/libjaxvet.a
	$(CC) -o $@ $^ $(LIBS)

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libjaxvet.a
	@mkdir -p $(@D)
	$(CC) $(STRICT) $(CFLAGS) -I. -MMD -MP -o $@ $< $(BUILD)/libjaxvet.a -lcmocka $(LIBS)

check: all $(TESTS)
	@set -e; for t in $(TESTS); do $$t; done

clean:
	rm -rf $(BUILD)

-include $(LIB_OBJ:.o=.d)
