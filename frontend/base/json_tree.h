/* json_tree.h - what a tree of JSON is made of; for json.c and json_read.c. */
#ifndef JX_JSON_TREE_H
#define JX_JSON_TREE_H

#include "frontend/base/json.h"

#define JX_JSON_MOST ((size_t)INT32_MAX) /* bytes of a text */

struct jx_json {
    uint32_t kind;
    uint32_t count; /* bytes of a text, items of an array, members */
    union {
        int64_t integer; /* a bool's, too */
        double real;
        const char *text; /* ends with NUL; a wide integer's digits, too */
        /* An array's; an object's are key, value, key, value, ..., in the order
         * of the text, and behind many of them comes their order by key. */
        const jx_json *items;
    } of;
};

typedef struct jx_json_document {
    jx_json root; /* comes first: freeing is told of it alone */
    jx_arena *arena;
} jx_json_document;

/* The order of an object's keys takes so many bytes behind its members: none
 * where they are few, and looked through. */
size_t jx_json_order_size(uint32_t count);
void jx_json_order_keys(jx_json *object);
/* The second of two keys that are the same, or NULL. */
const char *jx_json_key_again(const jx_json *object);

#endif
