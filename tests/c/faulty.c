/* Deliberately wrong, to see that the tools the tests rely on are there: `overflow`, `leak` or `undefined`. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    volatile size_t size = 16;
    if (strcmp(what, "overflow") == 0) {
        volatile char *memory = (volatile char *)malloc(size);
        printf("%d\n", memory ? memory[size] : 0);
        free((void *)memory);
    } else if (strcmp(what, "leak") == 0) {
        volatile char *memory = (volatile char *)malloc(size);
        if (memory)
            memory[0] = 1;
        memory = NULL;
        printf("%d\n", memory != NULL);
    } else if (strcmp(what, "undefined") == 0) {
        volatile int most = INT_MAX;
        printf("%d\n", most + 1);
    }
    return 0;
}
