/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that we make ourselves, those that HIP makes to itself, and callbacks: nobody notices any of
 * them. */
#include "base/fault.h"
#include "check.h"
#include "native/native.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *capture_globally(void *barrier)
{
    hipStream_t stream = standin_stream();
    hipGraph_t graph;

    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    GOOD(hipStreamEndCapture(stream, &graph));
    CHECK(reason_from(graph) == RL_REASON_NONE);
    return NULL;
}

/* C019: another thread has a global capture open, and this thread is in the default mode. */
static void check_foreign_capture(void)
{
    typedef hipError_t get_nodes(hipGraph_t, hipGraphNode_t *, size_t *);
    get_nodes *native = (get_nodes *)standin_function("hipGraphGetNodes");
    hipGraphExecUpdateResult result;
    hipGraphNode_t nodes[3], error;
    hipGraph_t graph = chain(nodes), other = chain(nodes);
    pthread_barrier_t barrier;
    hipGraphExec_t exec;
    pthread_t thread;
    size_t count;

    pthread_barrier_init(&barrier, NULL, 2);
    CHECK(!pthread_create(&thread, NULL, capture_globally, &barrier));
    pthread_barrier_wait(&barrier);
    standin_strict_capture(true);
    CHECK(native(graph, NULL, &count) == hipErrorStreamCaptureUnsupported); /* what we must not run into */
    CHECK(standin_strict_failures() == 1 && hipGetLastError() == hipErrorStreamCaptureUnsupported);
    standin_strict_capture(false);
    GOOD(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    CHECK(reason_of(exec) == RL_REASON_NONE);
    standin_within("hipGraphGetEdges", NULL);
    GOOD(hipGraphExecUpdate(exec, other, &error, &result));
    GOOD(hipGraphLaunch(exec, NULL));
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    CHECK(standin_calls("hipThreadExchangeStreamCaptureMode") % 2 == 0);
    CHECK(standin_thread_mode() == hipStreamCaptureModeGlobal);
}

static void turn_strict(void)
{
    standin_strict_capture(true);
}

/* The same, and every call of ours fails that is not made in relaxed mode. */
static void check_relaxed_mode(void)
{
    hipStreamCaptureMode mode = hipStreamCaptureModeThreadLocal;
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes);
    hipStream_t stream = standin_stream();
    hipGraphExec_t exec;

    GOOD(hipThreadExchangeStreamCaptureMode(&mode));
    GOOD(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    standin_within("hipGraphInstantiate", turn_strict);
    GOOD(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    standin_strict_capture(false);
    CHECK(standin_strict_failures() == 0 && standin_calls("hipGraphGetNodes") == 2);
    CHECK(reason_of(exec) == RL_REASON_NONE);
    CHECK(standin_thread_mode() == hipStreamCaptureModeThreadLocal);
}

/* An error that waits to be asked for stays, and nothing is asked that could replace it. */
static void check_pending_error(void)
{
    hipGraphExecUpdateResult result;
    hipGraphNode_t nodes[3], error;
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec;

    GOOD(hipGraphLaunch(instantiate(graph), NULL));
    CHECK(hipGraphLaunch(NULL, NULL) == hipErrorInvalidValue);
    standin_reset();
    exec = instantiate(graph);
    CHECK(standin_all_calls() == 2); /* the application's, and the look at the error */
    CHECK(reason_of(exec) == RL_REASON_PENDING_ERROR);
    CHECK(hipGetLastError() == hipErrorInvalidValue && hipGetLastError() == hipSuccess);
    /* examined again when it is updated */
    GOOD(hipGraphExecUpdate(exec, graph, &error, &result));
    CHECK(reason_of(exec) != RL_REASON_PENDING_ERROR && hipGetLastError() == hipSuccess);
}

static hipGraphExec_t unread_exec(hipGraph_t graph)
{
    hipGraphExec_t exec;

    CHECK(hipGraphLaunch(NULL, NULL) == hipErrorInvalidValue);
    exec = instantiate(graph);
    CHECK(reason_of(exec) == RL_REASON_PENDING_ERROR);
    return exec;
}

/* An error does not decide for the exec's life: its graph is read as soon as HIP can be asked, if it still is what it
 * was. */
static void check_pending_error_that_ends(void)
{
    hipGraphNode_t nodes[3];
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec = unread_exec(graph), other = unread_exec(graph);

    CHECK(hipGraphLaunch(exec, NULL) == hipSuccess && reason_of(exec) == RL_REASON_PENDING_ERROR);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    GOOD(hipGraphLaunch(exec, NULL));
    CHECK(reason_of(exec) == RL_REASON_NONE && exec_record(exec)->topology->node_count == 3);
    CHECK(reason_of(other) == RL_REASON_PENDING_ERROR);
    GOOD(hipGraphDestroy(graph)); /* the last moment */
    CHECK(reason_of(other) == RL_REASON_NONE && exec_record(other)->topology->node_count == 3);

    graph = chain(nodes);
    exec = unread_exec(graph);
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    kernel_node(graph, 4, nodes[2]);
    GOOD(hipGraphLaunch(exec, NULL));
    CHECK(reason_of(exec) == RL_REASON_PENDING_ERROR); /* the graph is not what the exec was made of */

    graph = chain(nodes);
    exec = unread_exec(graph);
    GOOD(hipGraphDestroy(graph)); /* with the error still there */
    CHECK(hipGetLastError() == hipErrorInvalidValue);
    GOOD(hipGraphLaunch(exec, NULL));
    CHECK(reason_of(exec) == RL_REASON_PENDING_ERROR && hipGetLastError() == hipSuccess);
}

/* A call of ours that fails leaves neither an error nor another mode. */
static void check_failing_calls(void)
{
    static const char *const names[] = { "hipGraphGetNodes",       "hipGraphGetEdges",
                                         "hipGraphNodeGetType",    "hipGraphKernelNodeGetParams",
                                         "hipGraphNodeGetEnabled", "hipThreadExchangeStreamCaptureMode" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (unsigned n = 1; n < 4; n++) {
            hipGraphNode_t nodes[3];
            hipGraph_t graph = chain(nodes);
            hipGraphExec_t exec;

            standin_reset();
            standin_fail(names[i], n, 1, hipErrorUnknown, false);
            exec = instantiate(graph);
            CHECK(reason_of(exec) != RL_REASON_NONE || standin_calls(names[i]) < n || i == 5);
            CHECK(hipGetLastError() == hipSuccess && standin_thread_mode() == hipStreamCaptureModeGlobal);
            GOOD(hipGraphExecDestroy(exec));
            GOOD(hipGraphDestroy(graph));
        }
    CHECK(live(RL_EXEC) == 0 && live(RL_NODE) == 0);
}

/* C069: HIP calls its own exported functions; its objects are its own affair, and nothing runs twice. */
static void check_hip_calls_itself(void)
{
    hipGraphExecUpdateResult result;
    hipGraphNode_t nodes[3], error;
    hipGraph_t graph = chain(nodes);
    hipGraphExec_t exec;

    standin_calls_itself("hipGraphInstantiate");
    exec = instantiate(graph);
    CHECK(standin_calls("hipGraphInstantiate") == 2); /* ours, and the one within */
    CHECK(standin_calls("hipGraphGetNodes") == 2);    /* ours alone */
    CHECK(live(RL_EXEC) == 1 && live(RL_GRAPH) == 1 && live(RL_NODE) == 3);
    CHECK(reason_of(exec) == RL_REASON_NONE);
    standin_reset();
    standin_calls_itself("hipGraphExecUpdate");
    GOOD(hipGraphExecUpdate(exec, graph, &error, &result));
    standin_calls_itself("hipGraphLaunch");
    GOOD(hipGraphLaunch(exec, NULL));
    CHECK(standin_calls("hipGraphLaunch") == 3);
    standin_reset();
    CHECK(live(RL_EXEC) == 1 && live(RL_GRAPH) == 1 && live(RL_NODE) == 3);
    standin_calls_itself("hipGraphAddKernelNode");
    kernel_node(graph, 4, NULL);
    CHECK(live(RL_NODE) == 4 && reason_from(graph) == RL_REASON_NONE);
}

static hipGraphExec_t callback_exec;
static hipGraphNode_t callback_node;

/* What a destructor of a user object or a host function of the application may do. */
static void *application_callback(void *unused)
{
    hipKernelNodeParams params = { .func = (void *)5 };
    hipGraphNode_t nodes[3];
    hipGraph_t graph;
    hipGraphExec_t exec;

    (void)unused;
    standin_within("hipGraphDestroy", NULL);
    standin_within("hipGraphLaunch", NULL);
    GOOD(hipGraphExecKernelNodeSetParams(callback_exec, callback_node, &params));
    graph = chain(nodes);
    exec = instantiate(graph);
    CHECK(reason_of(exec) == RL_REASON_NONE);
    GOOD(hipGraphExecDestroy(exec));
    GOOD(hipGraphDestroy(graph));
    return NULL;
}

static void call_back_here(void)
{
    application_callback(NULL);
}

static void call_back_elsewhere(void)
{
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, application_callback, NULL));
    pthread_join(thread, NULL);
}

/* C042: callbacks that enter again, from this thread and from another, while HIP is in a call. */
static void check_callbacks(void)
{
    void (*const callbacks[])(void) = { call_back_here, call_back_elsewhere };

    for (int i = 0; i < 2; i++) {
        hipGraphNode_t nodes[3];
        hipGraph_t graph = chain(nodes);

        callback_node = nodes[0];
        callback_exec = instantiate(graph);
        standin_within("hipGraphLaunch", callbacks[i]);
        GOOD(hipGraphLaunch(callback_exec, NULL));
        CHECK(stale(callback_exec)); /* what the application does in its callback counts */
        GOOD(hipGraphExecDestroy(callback_exec));
        callback_exec = instantiate(graph);
        standin_within("hipGraphDestroy", callbacks[i]);
        GOOD(hipGraphDestroy(graph));
        CHECK(stale(callback_exec));
        GOOD(hipGraphExecDestroy(callback_exec));
        CHECK(tables_empty());
    }
}

hipGraphExec_t jumping_exec;
hipGraphNode_t jumping_node, jumping_error;
hipKernelNodeParams jumping_params;
hipGraph_t jumping_graph;
hipGraphExecUpdateResult jumping_result;

/* What a compiler makes of a callback whose last statement is the call. */
__attribute__((naked)) static void set_parameters_by_jump(void)
{
    __asm__("mov jumping_exec(%rip), %rdi\n mov jumping_node(%rip), %rsi\n lea jumping_params(%rip), %rdx\n"
            "jmp hipGraphExecKernelNodeSetParams");
}

__attribute__((naked)) static void update_by_jump(void)
{
    __asm__("mov jumping_exec(%rip), %rdi\n mov jumping_graph(%rip), %rsi\n lea jumping_error(%rip), %rdx\n"
            "lea jumping_result(%rip), %rcx\n jmp hipGraphExecUpdate");
}

/* C042: such a callback returns into HIP, and is the application's all the same. */
static void check_callbacks_that_end_in_a_jump(void)
{
    typedef hipError_t get_roots(hipGraph_t, hipGraphNode_t *, size_t *);
    get_roots *native = (get_roots *)standin_function("hipGraphGetRootNodes");
    hipGraph_t graph = new_graph();
    size_t count;

    jumping_params =
        (hipKernelNodeParams){ .func = (void *)1, .gridDim = { 7, 1, 1 }, .blockDim = { 64, 1, 1 } };
    jumping_node = kernel_node(graph, 1, NULL);
    jumping_graph = new_graph();
    GOOD(hipGraphAddKernelNode(&jumping_error, jumping_graph, NULL, 0, &jumping_params));
    for (int i = 0; i < 2; i++) {
        jumping_exec = instantiate(graph);
        CHECK(exec_record(jumping_exec)->topology->nodes[0].kernel.grid.x == 1);
        standin_within("hipGraphGetRootNodes", i ? update_by_jump : set_parameters_by_jump);
        GOOD(native(graph, NULL, &count));
        standin_within("hipGraphGetRootNodes", NULL);
        CHECK(stale(jumping_exec) && exec_record(jumping_exec)->topology->nodes[0].kernel.grid.x == 7);
    }
}

/* C047: names that we export give our function, whatever way HIP finds them, and all else is as HIP
 * answers. */
static void check_lookup(void)
{
    hipDriverProcAddressQueryResult status = 99;
    hipDriverEntryPointQueryResult other_status = 99;
    void *function;

    for (size_t i = 0; i < rl_hip_entry_count; i++) {
        const struct rl_native_entry *entry = &rl_hip_entries[i];
        void *ours = *(void *const *)((const char *)&rl_hip_shims + entry->offset);

        function = NULL;
        if (hipGetProcAddress(entry->name, &function, 70000, 0, &status) == hipSuccess) {
            CHECK(function == (entry->exported ? ours : standin_export(entry->name)));
            CHECK(status == HIP_GET_PROC_ADDRESS_SUCCESS);
            GOOD(hipGetDriverEntryPoint(entry->name, &function, 0, &other_status));
            CHECK(function == (entry->exported ? ours : standin_export(entry->name)));
        } else {
            CHECK(!entry->exported && hipGetLastError() == hipErrorNotFound);
        }
    }
    GOOD(hipGetProcAddress("hipGraphLaunch", &function, 70000, hipEnablePerThreadDefaultStream, NULL));
    CHECK(function == (void *)rl_hip_shims.hipGraphLaunch_spt);
    function = (void *)&status;
    CHECK(hipGetProcAddress("hipNoSuchFunction", &function, 70000, 0, &status) == hipErrorNotFound);
    CHECK(function == NULL && status == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK(hipGetProcAddress(NULL, &function, 0, 0, NULL) == hipErrorInvalidValue);
    CHECK(hipGetProcAddress("hipGraphLaunch", NULL, 0, 0, NULL) == hipErrorInvalidValue);
    CHECK(standin_arguments("hipGetProcAddress")[1] == 0);
    /* One object through both: the address by pointer, the rest by symbol. */
    hipGraphExec_t exec;
    hipGraphNode_t nodes[3];
    hipError_t (*by_pointer)(hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, char *, size_t);

    (void)hipGetLastError();
    GOOD(hipGetProcAddress("hipGraphInstantiate", (void **)&by_pointer, 70000, 0, NULL));
    GOOD(by_pointer(&exec, chain(nodes), NULL, NULL, 0));
    CHECK(reason_of(exec) == RL_REASON_NONE);
}

/* A run of everything, as an application sees it. */
static unsigned long long scenario(void)
{
    unsigned long long seen = 0;
    hipGraphExecUpdateResult result = 55;
    hipStreamCaptureStatus status;
    hipGraphNode_t nodes[4], error = NULL, child;
    hipGraph_t graph = NULL, captured = NULL, clone = NULL, inner = NULL;
    hipGraphExec_t exec = NULL, other = NULL;
    hipStream_t stream = standin_stream();
    hipKernelNodeParams params = { .func = (void *)3 };
    void *function = NULL;

#define SEE(call) (seen = (seen ^ (unsigned long long)(call)) * 1099511628211ull)
    SEE(hipGraphCreate(&graph, 0));
    for (int i = 0; i < 4; i++)
        SEE(hipGraphAddKernelNode(&nodes[i], graph, nodes, i < 2 ? 0 : 1, &params));
    SEE(hipGraphAddDependencies(graph, &nodes[1], &nodes[3], 1));
    SEE(hipGraphClone(&clone, graph));
    SEE(hipGraphAddChildGraphNode(&child, clone, NULL, 0, graph));
    SEE(hipGraphChildGraphNodeGetGraph(child, &inner));
    SEE(hipGraphInstantiate(&exec, clone, NULL, NULL, 0));
    SEE(hipGraphLaunch(exec, stream));
    SEE(hipGraphExecDestroy(exec));
    SEE(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    SEE(hipStreamGetCaptureInfo_v2(stream, &status, NULL, &captured, NULL, NULL));
    SEE(status);
    standin_capture_node(stream, hipGraphNodeTypeKernel);
    SEE(hipStreamEndCapture(stream, &captured));
    SEE(hipGraphInstantiateWithFlags(&other, captured, 1));
    SEE(hipGraphExecUpdate(other, captured, &error, &result));
    SEE(hipGraphExecUpdate(other, graph, &error, &result));
    SEE(result);
    SEE(hipGetLastError());
    SEE(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    SEE(hipGraphExecKernelNodeSetParams(exec, nodes[0], &params));
    SEE(hipGetProcAddress("hipGraphLaunch", &function, 70000, 0, NULL));
    SEE(function != NULL);
    SEE(hipGraphLaunch(exec, stream));
    SEE(hipGraphLaunch(other, NULL));
    SEE(hipGraphDestroyNode(nodes[1]));
    SEE(hipGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
    SEE(hipGetLastError());
    SEE(hipGraphDestroy(graph));
    SEE(hipGraphDestroy(captured));
    SEE(hipGraphDestroy(clone));
    SEE(hipGraphExecDestroy(exec));
    SEE(hipGraphExecDestroy(other));
    SEE(hipStreamDestroy(stream));
    SEE(hipGetLastError());
    SEE(standin_thread_mode());
    return seen;
}

/* Failure of the n-th allocation, look-up and native call, and of all after it: an application sees the same.
 * Each in a fork, which finds the library anew. */
static void check_faults(void)
{
    unsigned long long undisturbed = scenario();
    int status;

    for (int site = 0; site < RL_FAULT_SITE_COUNT; site++)
        for (unsigned n = 1; n <= 200; n++) {
            pid_t child = fork();

            CHECK(child >= 0);
            if (!child) {
                rl_fault_arm((enum rl_fault_site)site, n, 1);
                CHECK(scenario() == undisturbed);
                if (site == RL_FAULT_SYMBOL)
                    CHECK(n > rl_hip_entry_count || rl_fault_calls(RL_FAULT_SYMBOL) >= n);
                rl_fault_arm((enum rl_fault_site)site, n, UINT64_MAX / 2);
                CHECK(scenario() == undisturbed);
                CHECK(tables_empty() && !standin_objects());
                _exit(0);
            }
            CHECK(waitpid(child, &status, 0) == child && status == 0);
        }
}

RUN_CHECKS({ "foreign_capture", check_foreign_capture }, { "relaxed_mode", check_relaxed_mode },
           { "pending_error", check_pending_error },
           { "pending_error_that_ends", check_pending_error_that_ends },
           { "failing_calls", check_failing_calls }, { "hip_calls_itself", check_hip_calls_itself },
           { "callbacks", check_callbacks },
           { "callbacks_that_end_in_a_jump", check_callbacks_that_end_in_a_jump }, { "lookup", check_lookup },
           { "faults", check_faults })
