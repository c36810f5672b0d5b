/* blame.h - where two programs begin to give different values. */
#ifndef JX_BLAME_H
#define JX_BLAME_H

#include "analyzer/transform/same.h"
#include "runtime/agree.h"

/* Two programs whose outputs differ often have other structures before that
 * line, too, which do no harm.  Here the value that each line of the user's
 * gives last is compared by running both: the first that differs is the site
 * (in `a`), unless *site is within that line already.  False, and *site as it
 * was, where that shows nothing. */
bool jx_blame(jx_program *a, jx_program *b, const jx_agree_limits *limits,
              jx_site *site);

#endif
