/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something is launched natively: each reason has a name for tools and a sentence for people. A reason
 * is added here and nowhere else.
 */
#ifndef REDLINE_REASONS_H
#define REDLINE_REASONS_H

#define RL_REASONS(X)                                                                                        \
    X(NONE, "")                                                                                              \
    /* of the process */                                                                                     \
    X(SWITCHED_OFF, "REDLINE=0 switches this library off")                                                   \
    X(NOT_CLR, "the libamdhip64 of this process is not AMD's clr")                                           \
    X(TWO_HIPS, "two different copies of libamdhip64 are loaded")                                            \
    X(NOT_BOUND, "a function that changes graphs is not bound to this library")                              \
    X(UNKNOWN_FUNCTION, "libamdhip64 has a function that this version does not know")                        \
    X(WRAPPED, "another library wraps HIP's functions, and would not see replays")                           \
    /* of a graph or an exec */                                                                              \
    X(OUT_OF_MEMORY, "there was no memory for a record of it")                                               \
    X(UNSEEN, "it was made where this library does not see it")                                              \
    X(NATIVE_FAILED, "a HIP call on it failed and may have changed a part of it")                            \
    X(CAPTURE_UNKNOWN, "its capture was changed in a way that cannot be followed")                           \
    X(TOPOLOGY_DIFFERS, "HIP's graph differs from what the calls seen so far made of it")                    \
    X(TOPOLOGY_CONTRADICTORY, "HIP's answers about the graph contradict each other")                         \
    X(PENDING_ERROR, "an error of HIP was pending, and asking HIP about the graph could have replaced it")   \
    X(FLAGS, "it was instantiated with flags that only HIP honours")                                         \
    X(EMPTY, "its graph has no nodes")                                                                       \
    X(USER_OBJECT, "the graph retains a user object, whose destructor waits for launches by HIP")            \
    X(NODE_TYPE, "it has a node of a type that only HIP can run")                                            \
    /* of a launch that was observed */                                                                      \
    X(NO_PACKETS, "HIP puts nothing into a queue on the thread that launches it")                            \
    X(QUEUE, "HIP used a queue in a way that this version does not know")                                    \
    X(DEVICES, "it runs on more than one GPU")                                                               \
    X(PACKET_UNKNOWN, "HIP used a packet that this version does not know")                                   \
    X(PACKETS_DIFFER, "HIP's packets differ from the graph")                                                 \
    X(CODE_UNKNOWN, "the code of one of its kernels cannot be read")                                         \
    X(COPY_ENGINE, "HIP copies a part of it by a copy engine or on the host")                                \
    X(HOST_WORK, "HIP does a part of it on the host")                                                        \
    X(NOT_LOWERED, "a kernel needs something that only a dispatch by HIP sets up")                           \
    X(REPLAY_DIFFERS, "a replay left other bytes in memory than a launch by HIP")                            \
    /* of a device, or of what stands around it */                                                           \
    X(NOT_CARRIED, "HIP did not leave room for the replay in the stream's queue")                            \
    X(TOO_SMALL, "it is smaller than REDLINE_MIN_NODES")                                                     \
    X(TARGET_UNKNOWN, "this version has no packets for the GPU")                                             \
    X(TARGET_DENIED, "REDLINE_TARGETS does not allow the GPU")                                               \
    X(DEVICE_FAILED, "the GPU has reported an error")                                                        \
    X(DEVICE_UNUSABLE, "the GPU or its memory cannot be used in the way replays need")                       \
    X(ENVIRONMENT, "a setting of HIP or ROCr in the environment asks for launches by HIP")                   \
    X(TOOL, "a profiler, tracer or debugger is at work")                                                     \
    X(HIP_UNKNOWN, "this HIP lacks a function that replays need")

#define RL_REASON_MEMBER(name, sentence) RL_REASON_##name,
enum rl_reason { RL_REASONS(RL_REASON_MEMBER) RL_REASON_COUNT };
#undef RL_REASON_MEMBER

const char *rl_reason_name(enum rl_reason reason);     /* e.g. "TOPOLOGY_DIFFERS" */
const char *rl_reason_sentence(enum rl_reason reason); /* no capital, no full stop; "" for NONE */

#endif
