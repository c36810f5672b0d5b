/* pages.h - memory in large pages, of which the system gives and takes back a
 * gigabyte in the time of some tens of megabytes in small ones. */
#ifndef JX_PAGES_H
#define JX_PAGES_H

#include <stddef.h>

enum { JX_HUGE_PAGE = 2 << 20 };

/* Asks for them where they lie whole in `size` bytes from `at`. */
void jx_pages_advise(void *at, size_t size);

#endif
