/* SPDX-License-Identifier: Apache-2.0 */
/* host FLAGS LIBRARY [argument...]: opens a library with dlopen() flags named by letters (l: lazy, d: RTLD_DEEPBIND,
 * g: global) and calls its `int start(int, char **)`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *flags = argc > 2 ? argv[1] : "";
    int mode = (strchr(flags, 'l') ? RTLD_LAZY : RTLD_NOW) | (strchr(flags, 'd') ? RTLD_DEEPBIND : 0) |
               (strchr(flags, 'g') ? RTLD_GLOBAL : RTLD_LOCAL);
    void *library = argc > 2 ? dlopen(argv[2], mode) : NULL;
    int (*start)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "start") : NULL;

    if (!start) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    return start(argc - 2, argv + 2);
}
