/* Decides every captured frame through the C ABI; one decision a line, in the order of the files given. */
#include "../c/jsonl.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    vector v = vector_new();
    for (int i = 1; i < argc; i++) {
        buffer file = file_read(argv[i]);
        char *line = file.data;
        while (line < file.data + file.len) {
            char *end = (char *)memchr(line, '\n', file.len - (size_t)(line - file.data));
            size_t len = end ? (size_t)(end - line) : strlen(line);
            if (!vector_read(&v, line, len)) {
                fprintf(stderr, "%s: a line is no vector\n", argv[i]);
                return 1;
            }
            char *json = kandev_policy_decide(v.input.data, v.config.data);
            if (json == NULL) {
                fprintf(stderr, "out of memory\n");
                return 1;
            }
            puts(json);
            kandev_policy_string_free(json);
            line += len + 1;
        }
        buffer_free(&file);
    }
    vector_free(&v);
    return 0;
}
