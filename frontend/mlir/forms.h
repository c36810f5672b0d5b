/* forms.h - the pretty forms of ops, as ops.def has them, for reading and for
 * printing.
 *
 * A form is taken apart once for each reader or printer that meets its op; both
 * then walk along the same items. */
#ifndef JX_MLIR_FORMS_H
#define JX_MLIR_FORMS_H

#include "frontend/mlir/ops.h"
#include "frontend/mlir/tree.h"

struct jx_mtext;
struct jx_mop;
struct jx_mlir_printer;

/* What a part says of its op, so that the rest of the form need not. */
enum {
    JX_SAYS_OPERANDS = 1,
    JX_SAYS_TYPES = 2,
    JX_SAYS_REGIONS = 4,
    JX_SAYS_DICT = 8,
    JX_SAYS_ALL = 15,
};

/* A row of form_parts.def. */
typedef struct jx_form_part {
    const char *name;
    const char *attrs; /* those that it says */
    int says;
    bool (*take)(struct jx_mtext *t, struct jx_mop *op);
    /* Whether what it says of the op can be said so; NULL: of any. */
    bool (*fits)(const jx_mlir_op *op);
    void (*put)(struct jx_mlir_printer *p, const jx_mlir_op *op);
} jx_form_part;

typedef enum jx_form_kind {
    JX_FORM_TEXT = 0,  /* .text */
    JX_FORM_OPERAND,   /* $ */
    JX_FORM_OPERANDS,  /* $* */
    JX_FORM_EACH,      /* $+ */
    JX_FORM_DICT,      /* {} */
    JX_FORM_ATTR,      /* {.text:.how.of=.preset} */
    JX_FORM_OPEN,      /* (?, which .end closes */
    JX_FORM_CLOSE,     /* ?) */
    JX_FORM_IN_TYPE,   /* @in */
    JX_FORM_IN_TYPES,  /* @in* */
    JX_FORM_OUT_TYPE,  /* @out */
    JX_FORM_OUT_TYPES, /* @out* */
    JX_FORM_PART,      /* .part */
} jx_form_kind;

typedef struct jx_form_item {
    jx_form_kind kind;
    int spaces; /* printed before it */
    int end;
    char how; /* the letter of an attribute's kind */
    size_t length;
    const char *text; /* `length` characters of the form; of an attribute its
                         name */
    const char *of, *preset; /* or NULL */
    const jx_form_part *part;
} jx_form_item;

typedef struct jx_form {
    bool read_only; /* the op is printed in the generic form */
    int count;
    const jx_form_item *items;
    const char *said; /* the attributes that have a place, as a list of names */
} jx_form;

/* The forms that one reader or printer has met, by op. */
typedef struct jx_forms {
    const jx_form *of[JX_OP_COUNT];
} jx_forms;

/* The form of an op; NULL where it has none, or without memory.  A form that
 * makes no sense has no items: test_mlir_forms sees that there is none. */
const jx_form *jx_form_of(jx_ctx *ctx, jx_forms *met, jx_op_id id);

/* Reads what stands behind the op's name; false after a failure. */
bool jx_form_take(struct jx_mtext *t, struct jx_mop *op, const jx_form *form);
/* Prints the op with its name; false: it can't be printed in this form. */
bool jx_form_put(struct jx_mlir_printer *p, const jx_mlir_op *op,
                 const jx_form *form);

#define PART_ANY(name, attrs, says)                                            \
    bool jx_take_##name(struct jx_mtext *t, struct jx_mop *op);                \
    void jx_put_##name(struct jx_mlir_printer *p, const jx_mlir_op *op);
#define PART(name, attrs, says)                                                \
    PART_ANY(name, attrs, says) bool jx_fits_##name(const jx_mlir_op *op);
#include "frontend/mlir/form_parts.def"
#undef PART
#undef PART_ANY

#endif
