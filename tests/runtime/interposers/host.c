/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without HIP. Each argument is done in order:
 *   local:FILE  global:FILE  deep:FILE   dlopen with that scope and keep it
 *   new:FILE                             dlmopen into a namespace of its own
 *   run                                  run() of the object opened last
 *   close                                dlclose it
 *   own                                  run() of the program itself, when it was linked to one
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

__attribute__((weak)) int run(void);

static int failed(void)
{
    fprintf(stderr, "%s\n", dlerror());
    return 1;
}

int main(int argc, char **argv)
{
    void *opened[16] = { 0 };
    int count = 0;

    for (int i = 1; i < argc; i++) {
        char *colon = strchr(argv[i], ':');
        char kind = argv[i][0];

        if (colon) {
            int scope = kind == 'g' ? RTLD_GLOBAL : kind == 'd' ? RTLD_LOCAL | RTLD_DEEPBIND : RTLD_LOCAL;

            opened[count] = kind == 'n' ? dlmopen(LM_ID_NEWLM, colon + 1, RTLD_NOW)
                                        : dlopen(colon + 1, RTLD_NOW | scope);
            if (!opened[count++])
                return failed();
        } else if (kind == 'r') {
            int (*its_run)(void) = (int (*)(void))dlsym(opened[count - 1], "run");

            if (!its_run)
                return failed();
            its_run();
        } else if (kind == 'c') {
            dlclose(opened[--count]);
        } else {
            run();
        }
    }
    return 0;
}
