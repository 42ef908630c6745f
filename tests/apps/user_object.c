/* SPDX-License-Identifier: Apache-2.0 */
/* A user object moved into a graph lives until the last launch of the exec has ended, and is then released
 * once. */
#include <time.h>

#include "app.h"

struct object {
    const uint32_t *result; /* pinned: written by the last kernel of the graph */
    uint32_t seen;          /* what it held when the destructor ran */
    uint32_t destroyed;
};

static void destroy(void *data)
{
    struct object *object = data;

    object->seen = __atomic_load_n(object->result, __ATOMIC_ACQUIRE);
    __atomic_add_fetch(&object->destroyed, 1, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
    app_begin("user_object", argc, argv, 4, 1024);
    hipFunction_t copy = app_kernel("copy"), slow_set = app_kernel("slow_set"),
                  mul_add = app_kernel("mul_add");
    uint32_t *data = device_words(app.n), *result = pinned_words(app.n), three = 3, five = 5;
    hipStream_t stream = new_stream();

    for (uint32_t round = 0; round < app.rounds; round++) {
        struct object object = { .result = result };
        uint32_t start = 100 + round;
        hipUserObject_t handle;
        HIP(hipUserObjectCreate(&handle, &object, destroy, 1, hipUserObjectNoDestructorSync));
        begin_capture(stream);
        LAUNCH(mul_add, app.n, stream, &data, &three, &five, &app.n);
        LAUNCH(copy, app.n, stream, &result, &data, &app.n);
        hipGraph_t graph = end_capture(stream);
        HIP(hipGraphRetainUserObject(graph, handle, 1, hipGraphUserObjectMove));
        hipGraphExec_t exec = instantiate(graph);
        HIP(hipGraphDestroy(graph));
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipStreamSynchronize(stream));
        EXPECT("releases while the exec lives", __atomic_load_n(&object.destroyed, __ATOMIC_ACQUIRE), 0);
        LAUNCH(slow_set, app.n, stream, &data, &start, &app.n);
        HIP(hipGraphLaunch(exec, stream));
        HIP(hipGraphExecDestroy(exec));
        HIP(hipStreamSynchronize(stream));
        /* HIP releases on a thread of its own, soon after; ten seconds is for ever. */
        for (int wait = 0; wait < 10000 && !__atomic_load_n(&object.destroyed, __ATOMIC_ACQUIRE); wait++)
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        EXPECT("releases", __atomic_load_n(&object.destroyed, __ATOMIC_ACQUIRE), 1);
        EXPECT("result when released", object.seen, start * 3 + 5);
    }
    return app_pass();
}
