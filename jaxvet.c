/* jaxvet.c - the command: options and subcommands only. */
#include <stdio.h>

int main(void)
{
    fputs("usage: jaxvet SUBCOMMAND ...\n", stderr);
    return 2;
}
