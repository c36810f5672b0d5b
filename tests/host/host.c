/* host.c - what a program in C does with libjaxvet. */
#include <jaxvet.h>

#include <stdio.h>

int main(void)
{
    if (jaxvet_abi_version() != JAXVET_ABI_VERSION) {
        fputs("host: the library and its header do not fit\n", stderr);
        return 1;
    }
    printf("jaxvet %s\n", jaxvet_version());
    return 0;
}
