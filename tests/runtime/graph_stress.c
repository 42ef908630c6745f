/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_stress THREADS SECONDS SEED: threads that make, capture, clone, instantiate, launch, update and
 * destroy graphs of their own over the stand-in, which hands out the address freed last, by whichever thread
 * and whatever it was. After each instantiate the record must describe this very graph; at the end no record
 * is left.
 */
#include "check.h"

#include <pthread.h>
#include <time.h>

enum { MOST_THREADS = 64, MOST_NODES = 12, EXECS = 4 };

struct worker {
    pthread_t thread;
    uint64_t random;
    struct {
        hipGraphExec_t exec;
        size_t nodes;
    } execs[EXECS];
    hipStream_t stream;
    uint64_t rounds;
};

static _Atomic bool stop;

static unsigned pick(struct worker *worker, unsigned count)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return worker->random % count;
}

static hipGraph_t by_hand(struct worker *worker, hipGraphNode_t *nodes, size_t *count)
{
    hipGraph_t graph = new_graph();

    *count = 1 + pick(worker, MOST_NODES);
    for (size_t i = 0; i < *count; i++)
        nodes[i] = kernel_node(graph, i + 1, i && pick(worker, 3) ? nodes[pick(worker, i)] : NULL);
    if (*count > 2 && !pick(worker, 4)) {
        GOOD(hipGraphDestroyNode(nodes[--*count]));
        GOOD(hipGraphKernelNodeSetParams(nodes[0], &(hipKernelNodeParams){ .func = (void *)77 }));
    }
    return graph;
}

static hipGraph_t captured(struct worker *worker, size_t *count)
{
    hipStreamCaptureStatus status;
    hipGraph_t graph, shown = NULL;

    GOOD(hipStreamBeginCapture(worker->stream, hipStreamCaptureModeThreadLocal));
    *count = 1 + pick(worker, MOST_NODES);
    for (size_t i = 0; i < *count; i++)
        standin_capture_node(worker->stream, hipGraphNodeTypeKernel);
    if (pick(worker, 2)) {
        GOOD(hipStreamGetCaptureInfo_v2(worker->stream, &status, NULL, &shown, NULL, NULL));
        kernel_node(shown, 5, NULL);
        ++*count;
    }
    GOOD(hipStreamEndCapture(worker->stream, &graph));
    CHECK(!shown || shown == graph);
    return graph;
}

static void replace_stream(struct worker *worker)
{
    if (worker->stream)
        GOOD(hipStreamDestroy(worker->stream));
    worker->stream = standin_stream();
}

static void drop_exec(struct worker *worker, unsigned slot)
{
    if (worker->execs[slot].exec) {
        CHECK(exec_record(worker->execs[slot].exec)->topology->node_count == worker->execs[slot].nodes);
        GOOD(hipGraphExecDestroy(worker->execs[slot].exec));
    }
    worker->execs[slot].exec = NULL;
}

static void make_exec(struct worker *worker, unsigned slot, hipGraph_t graph, size_t count)
{
    struct rl_exec *record;
    hipGraphExec_t exec;

    drop_exec(worker, slot);
    exec = instantiate(graph);
    record = exec_record(exec);
    CHECK(record && record->topology && record->topology->node_count == count);
    CHECK(reason_of(exec) == RL_REASON_NONE && !stale(exec));
    worker->execs[slot].exec = exec;
    worker->execs[slot].nodes = count;
}

static void use_exec(struct worker *worker, unsigned slot, hipGraph_t graph, size_t count)
{
    hipGraphExec_t exec = worker->execs[slot].exec;
    hipGraphExecUpdateResult result;
    hipGraphNode_t error;
    hipError_t status;

    if (!exec)
        return;
    GOOD(hipGraphLaunch(exec, worker->stream));
    if (!graph || pick(worker, 2))
        return;
    status = hipGraphExecUpdate(exec, graph, &error, &result);
    CHECK(status == hipSuccess || status == hipErrorGraphExecUpdateFailure);
    CHECK(stale(exec) || status != hipSuccess || worker->execs[slot].nodes == count);
    if (status != hipSuccess) { /* refused: nothing has changed */
        CHECK(hipGetLastError() == status);
        CHECK(exec_record(exec)->topology->node_count == worker->execs[slot].nodes);
    }
    GOOD(hipGraphLaunch(exec, NULL));
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    replace_stream(worker);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        hipGraphNode_t nodes[MOST_NODES];
        size_t count;
        hipGraph_t graph = pick(worker, 2) ? by_hand(worker, nodes, &count) : captured(worker, &count), copy;
        unsigned slot = pick(worker, EXECS);

        if (!pick(worker, 3)) {
            GOOD(hipGraphClone(&copy, graph));
            GOOD(hipGraphDestroy(graph));
            graph = copy;
        }
        make_exec(worker, slot, graph, count);
        use_exec(worker, pick(worker, EXECS), graph, count);
        GOOD(hipGraphDestroy(graph));
        use_exec(worker, slot, NULL, count);
        if (!pick(worker, 8))
            replace_stream(worker);
        if (!pick(worker, 4))
            drop_exec(worker, pick(worker, EXECS));
        worker->rounds++;
    }
    for (unsigned slot = 0; slot < EXECS; slot++)
        drop_exec(worker, slot);
    GOOD(hipStreamDestroy(worker->stream));
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[MOST_THREADS];
    int threads = argc > 1 ? atoi(argv[1]) : 8;
    double seconds = argc > 2 ? atof(argv[2]) : 2;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1, rounds = 0;
    struct timespec pause = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };

    CHECK(threads > 0 && threads <= MOST_THREADS);
    for (int i = 0; i < threads; i++) {
        workers[i].random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i * 7919 + 1;
        CHECK(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    nanosleep(&pause, NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        rounds += workers[i].rounds;
    }
    CHECK(tables_empty() && !standin_objects());
    printf("%llu rounds\n", (unsigned long long)rounds);
    return 0;
}
