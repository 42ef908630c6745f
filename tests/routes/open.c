/* SPDX-License-Identifier: Apache-2.0 */
/* open HIP PLUGIN [argument...]: opens HIP by a path, then a plugin that needs it by its soname, and starts the plugin. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *hip = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *plugin = hip ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*start)(int, char **) = plugin ? (int (*)(int, char **))dlsym(plugin, "start") : NULL;

    if (!start) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    return start(argc - 2, argv + 2);
}
