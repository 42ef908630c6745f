/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is compiled into a program or plugin, as a compiler's constructors and destructors tell HIP of it. */
#ifndef TESTS_COMPILED_H
#define TESTS_COMPILED_H

#include "identity.h"

void **__hipRegisterFatBinary(const void *wrapper);
void __hipUnregisterFatBinary(void **modules);
void __hipRegisterFunction(void **modules, const void *host, char *device, const char *name, unsigned threads,
                           void *thread_id, void *block_id, void *block, void *grid, int *warp);

/* One compiled-in code object: host functions stand for its kernels. */
struct compiled {
    struct {
        uint32_t magic, version;
        const void *bundle, *unused;
    } wrapper;
    void **modules;
    char hosts[4];
};

static inline char *add_entry(char *at, uint64_t offset, uint64_t size, const char *id)
{
    uint64_t head[3] = { offset, size, strlen(id) };

    memcpy(at, head, sizeof(head));
    memcpy(at + sizeof(head), id, head[2]);
    return at + sizeof(head) + head[2];
}

/* An offload bundle of nothing for the host and `file` for the GPU. */
static inline const void *bundle_of(const char *file)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    enum { PAGE = 4096 };
    uint64_t entries = 2;
    char id[128], *bundle, *at;
    size_t size;
    char *bytes = file_bytes(file, &size);

    if (posix_memalign((void **)&bundle, PAGE, PAGE + size))
        FAIL("got no memory for a bundle");
    memset(bundle, 0, PAGE);
    snprintf(id, sizeof(id), "hipv4-amdgcn-amd-amdhsa--%s", app.gfx);
    memcpy(bundle, magic, strlen(magic));
    at = bundle + strlen(magic);
    memcpy(at, &entries, sizeof(entries));
    at = add_entry(at + sizeof(entries), PAGE, 0, "host-x86_64-unknown-linux-gnu-");
    add_entry(at, PAGE, size, id);
    memcpy(bundle + PAGE, bytes, size);
    free(bytes);
    return bundle;
}

static inline void compile_in(struct compiled *compiled, const char *file, const char *const *names,
                              uint32_t count)
{
    compiled->wrapper.magic = 0x48495046;
    compiled->wrapper.version = 1;
    compiled->wrapper.bundle = bundle_of(file);
    compiled->modules = __hipRegisterFatBinary(&compiled->wrapper);
    for (uint32_t i = 0; i < count; i++)
        __hipRegisterFunction(compiled->modules, &compiled->hosts[i], (char *)names[i], names[i], 0, NULL,
                              NULL, NULL, NULL, NULL);
}

static inline void take_out(struct compiled *compiled)
{
    __hipUnregisterFatBinary(compiled->modules);
    free((void *)compiled->wrapper.bundle);
}

#endif
