/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries and their functions: what HIP has loaded within a call belongs to what the call is about. */
#include "handlers.h"
#include "kernels/functions.h"
#include "native/process.h"

/* While one of HIP's calls is under way that loads for a module. */
struct load {
    uint64_t number, before;
};

static struct load begin(uint64_t number)
{
    return (struct load){ number, rl_loading_begin(number) };
}

static hipError_t end(struct load load, hipError_t status, void *const *made)
{
    rl_loading_end(load.before);
    if (status == hipSuccess && rl_active() && made && *made)
        rl_module_made(*made, load.number);
    return status;
}

hipError_t rl_module_load(rl_hipModuleLoad_fn *native, const void *caller, hipModule_t *module,
                          const char *fname)
{
    struct load load = begin(rl_module_number());

    (void)caller;
    return end(load, native(module, fname), (void *const *)module);
}

hipError_t rl_module_load_fat_binary(rl_hipModuleLoadFatBinary_fn *native, const void *caller,
                                     hipModule_t *module, const void *fatbin)
{
    struct load load = begin(rl_module_number());

    (void)caller;
    return end(load, native(module, fatbin), (void *const *)module);
}

hipError_t rl_module_load_data(rl_hipModuleLoadData_fn *native, const void *caller, hipModule_t *module,
                               const void *image)
{
    struct load load = begin(rl_module_number());

    (void)caller;
    return end(load, native(module, image), (void *const *)module);
}

hipError_t rl_module_load_data_ex(rl_hipModuleLoadDataEx_fn *native, const void *caller, hipModule_t *module,
                                  const void *image, unsigned int numOptions, hipJitOption *options,
                                  void **optionValues)
{
    struct load load = begin(rl_module_number());

    (void)caller;
    return end(load, native(module, image, numOptions, options, optionValues), (void *const *)module);
}

hipError_t rl_module_get_function(rl_hipModuleGetFunction_fn *native, const void *caller,
                                  hipFunction_t *function, hipModule_t module, const char *kname)
{
    struct load load = begin(rl_module_find(module));
    hipError_t status = end(load, native(function, module, kname), NULL);

    (void)caller;
    if (status == hipSuccess && rl_active() && function && kname)
        rl_function_made(*function, module, kname);
    return status;
}

hipError_t rl_library_load_data(rl_hipLibraryLoadData_fn *native, const void *caller, hipLibrary_t *library,
                                const void *code, hipJitOption *jitOptions, void **jitOptionsValues,
                                unsigned int numJitOptions, hipLibraryOption *libraryOptions,
                                void **libraryOptionValues, unsigned int numLibraryOptions)
{
    struct load load = begin(rl_module_number());

    (void)caller;
    return end(load,
               native(library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                      libraryOptionValues, numLibraryOptions),
               (void *const *)library);
}

hipError_t rl_library_load_from_file(rl_hipLibraryLoadFromFile_fn *native, const void *caller,
                                     hipLibrary_t *library, const char *fileName, hipJitOption *jitOptions,
                                     void **jitOptionsValues, unsigned int numJitOptions,
                                     hipLibraryOption *libraryOptions, void **libraryOptionValues,
                                     unsigned int numLibraryOptions)
{
    struct load load = begin(rl_module_number());

    (void)caller;
    return end(load,
               native(library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                      libraryOptionValues, numLibraryOptions),
               (void *const *)library);
}

hipError_t rl_library_get_kernel(rl_hipLibraryGetKernel_fn *native, const void *caller, hipKernel_t *pKernel,
                                 hipLibrary_t library, const char *name)
{
    struct load load = begin(rl_module_find(library));
    hipError_t status = end(load, native(pKernel, library, name), NULL);

    (void)caller;
    if (status == hipSuccess && rl_active() && pKernel && name)
        rl_function_made(*pKernel, library, name);
    return status;
}

hipError_t rl_library_get_kernel_count(rl_hipLibraryGetKernelCount_fn *native, const void *caller,
                                       unsigned int *count, hipLibrary_t library)
{
    struct load load = begin(rl_module_find(library));

    (void)caller;
    return end(load, native(count, library), NULL);
}

hipError_t rl_library_enumerate_kernels(rl_hipLibraryEnumerateKernels_fn *native, const void *caller,
                                        hipKernel_t *kernels, unsigned int numKernels, hipLibrary_t library)
{
    struct load load = begin(rl_module_find(library));

    (void)caller;
    return end(load, native(kernels, numKernels, library), NULL);
}
