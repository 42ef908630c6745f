/*
 * Why something is launched natively: each reason has a name for tools and a sentence for people. A reason
 * is added here and nowhere else.
 */
#ifndef REDLINE_REASONS_H
#define REDLINE_REASONS_H

#define RL_REASONS(X)                                                                                      \
    X(NONE, "")                                                                                            \
    /* of the process */                                                                                   \
    X(SWITCHED_OFF, "REDLINE=0 switches this library off")                                                 \
    X(NOT_CLR, "the libamdhip64 of this process is not AMD's clr")                                         \
    X(TWO_HIPS, "two different copies of libamdhip64 are loaded")                                          \
    X(NOT_BOUND, "a function that changes graphs is not bound to this library")                            \
    X(UNKNOWN_FUNCTION, "libamdhip64 has a graph function that this version does not know")                \
    /* of a graph or an exec */                                                                            \
    X(OUT_OF_MEMORY, "there was no memory for a record of it")                                             \
    X(UNSEEN, "it was made where this library does not see it")                                            \
    X(NATIVE_FAILED, "a HIP call on it failed and may have changed it half-way")                           \
    X(CAPTURE_UNKNOWN, "its capture was changed in a way that cannot be followed")                         \
    X(TOPOLOGY_DIFFERS, "HIP's graph differs from what the calls seen so far made of it")                  \
    X(TOPOLOGY_CONTRADICTORY, "HIP's answers about the graph contradict each other")                       \
    X(PENDING_ERROR, "an error of HIP was waiting to be asked for, which questions about the graph may hide") \
    X(FLAGS, "it was instantiated with flags that only HIP honours")                                       \
    X(EMPTY, "its graph has no nodes")                                                                     \
    X(USER_OBJECT, "the graph retains a user object, whose destructor waits for launches by HIP")          \
    X(NODE_TYPE, "it has a node of a type that only HIP can run")                                          \
    X(NO_REPLAY, "this version launches every graph through HIP")

#define RL_REASON_MEMBER(name, sentence) RL_REASON_##name,
enum rl_reason { RL_REASONS(RL_REASON_MEMBER) RL_REASON_COUNT };
#undef RL_REASON_MEMBER

const char *rl_reason_name(enum rl_reason reason);     /* e.g. "TOPOLOGY_DIFFERS" */
const char *rl_reason_sentence(enum rl_reason reason); /* no capital, no full stop; "" for NONE */

#endif
