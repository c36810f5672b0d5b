/* texts.h - a short list of texts: the values of an option that may be given
 * again. */
#ifndef JX_TEXTS_H
#define JX_TEXTS_H

enum { JX_TEXTS_MAX = 64 };

/* In the order in which they were given; none is ours. */
typedef struct jx_texts {
    const char *at[JX_TEXTS_MAX];
    int count;
} jx_texts;

#endif
