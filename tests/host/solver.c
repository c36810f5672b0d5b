/* solver.c - a host that leaves the folder it was started in, `solver FOLDER`,
 * and then asks what only the helper process answers. */
#include "jaxvet.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *constraints[] = {"a >= 1"}, *text = "";
    jaxvet_error error = {0};
    jaxvet_verdict verdict;
    jaxvet_prover *prover;

    if (argc > 1 && chdir(argv[1]) != 0)
        return 1;
    prover = jaxvet_prover_new(constraints, 1, 1, 0, &error);
    if (!prover ||
        jaxvet_prove(prover, "a*a + b*b + c*c + d*d",
                     ">=", "a*b + b*c + c*d + d*a", 0, &verdict, &text, &error))
        printf("error: %s\n", error.message);
    else
        printf("%s: %s\n", verdict == JAXVET_UNKNOWN ? "unknown" : "true",
               text);
    jaxvet_prover_free(prover);
    return 0;
}
