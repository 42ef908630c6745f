/* SPDX-License-Identifier: Apache-2.0 */
/* See reasons.h. */
#include "report/reasons.h"

const char *rl_reason_name(enum rl_reason reason)
{
#define NAME(name, sentence) #name,
    static const char *const names[] = { RL_REASONS(NAME) };
#undef NAME

    return names[reason < RL_REASON_COUNT ? reason : RL_REASON_NONE];
}

const char *rl_reason_sentence(enum rl_reason reason)
{
#define SENTENCE(name, sentence) sentence,
    static const char *const sentences[] = { RL_REASONS(SENTENCE) };
#undef SENTENCE

    return sentences[reason < RL_REASON_COUNT ? reason : RL_REASON_NONE];
}
