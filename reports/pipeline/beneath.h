/* beneath.h - opens files that somebody else has named, below a folder. */
#ifndef JX_BENEATH_H
#define JX_BENEATH_H

/* A folder, as an anchor for jx_open_beneath(); -1 with errno. */
int jx_open_folder(const char *path);

/* Opens the file of a relative path for reading: a regular one, in the folder
 * or below it, wherever `..` and links on the way lead as long as they stay
 * there. Each step is taken from the folder that the one before has opened, so
 * that nothing renamed or linked meanwhile leads out.  Never waits, as opening
 * a pipe or a terminal would.  -1 if there is none. */
int jx_open_beneath(int folder, const char *path);

#endif
