/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the application that is kept: what stands there before a launch by HIP, behind it, and behind a replay of
 * the same, so that the one can be put back and the others be compared.
 *
 *     rl_keep_add(...);                                any number of regions; rl_keep_read() whenever some are new
 *     ... HIP launches ...
 *     rl_keep_look(&keep, RL_LOOK_HIP);
 *     rl_keep_put(&keep, RL_LOOK_HIP, RL_PUT_INPUTS);
 *     ... a replay ...
 *     rl_keep_look(&keep, RL_LOOK_REPLAY);             and each once more, if there is a difference
 *     rl_keep_put(&keep, RL_LOOK_REPLAY, RL_PUT_RESULT);
 *
 * Others may write into the same memory meanwhile, so only bytes of two kinds are ever written: those that HIP's
 * launch has changed, and those that only the replay has, *stray* ones. These are the replay's if a second one leaves
 * the same again; else they are somebody else's, and stay.
 *
 * Threads: as transfer.h. Failure: false, and keep.why says of what kind.
 */
#ifndef REDLINE_KEEP_H
#define REDLINE_KEEP_H

#include "replay/transfer.h"

enum rl_look {
    RL_LOOK_BEFORE,
    RL_LOOK_HIP,
    RL_LOOK_REPLAY,
    RL_LOOK_HIP_AGAIN,
    RL_LOOK_REPLAY_AGAIN,
    RL_LOOKS
};
enum rl_put { RL_PUT_INPUTS, RL_PUT_RESULT };
enum rl_keep_failure { RL_KEEP_GOOD, RL_KEEP_TOO_LARGE, RL_KEEP_NO_MEMORY, RL_KEEP_NO_COPY };

enum { RL_KEEP_PAGE = 4096 };
#define RL_KEEP_MOST_BYTES ((size_t)1 << 30)

struct rl_region {
    struct rl_place place;
    uint32_t dispatch;     /* whose arguments have led here */
    unsigned char *before; /* NULL: not read yet */
    const unsigned char *
        *pages[RL_LOOKS]; /* what a look found; NULL: as before HIP's launch, later as behind it */
};

struct rl_keep {
    struct rl_transfer transfer;
    struct rl_region *regions;
    size_t count, room, bytes;
    struct rl_keep_chunk *chunks; /* that pages are cut from */
    enum rl_keep_failure why;
};

bool rl_keep_begin(struct rl_keep *keep, const struct rl_hsa_table *hsa, struct rl_device *device);
void rl_keep_end(struct rl_keep *keep);

bool rl_keep_add(struct rl_keep *keep, const struct rl_place *place, uint32_t dispatch);
const struct rl_region *rl_keep_find(const struct rl_keep *keep, uint64_t address); /* NULL: in none */
bool rl_keep_read(struct rl_keep *keep); /* what was added since the last time */

bool rl_keep_look(struct rl_keep *keep, enum rl_look look);

/* `now`: the last look; RL_LOOK_BEFORE: none that says what stands there, and all that HIP has changed is written. */
bool rl_keep_put(struct rl_keep *keep, enum rl_look now, enum rl_put put);

bool rl_keep_is_equal(const struct rl_keep *keep); /* what HIP and the replay have left */
bool rl_keep_has_stray(const struct rl_keep *keep);

/* Bytes of a page that the replay has left otherwise than HIP, and would again. In units of RL_KEEP_PAGE from the
 * region's start; *offset: of the first one in the region. */
size_t rl_keep_differences(const struct rl_region *region, size_t page, size_t *offset);

const unsigned char *rl_keep_page(const struct rl_region *region, enum rl_look look, size_t page);

static inline size_t rl_keep_pages(const struct rl_region *region)
{
    return (region->place.bytes + RL_KEEP_PAGE - 1) / RL_KEEP_PAGE;
}

#endif
