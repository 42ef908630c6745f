/* SPDX-License-Identifier: Apache-2.0 */
/* See keep.h. */
#include "replay/keep.h"

#include <string.h>

#include "base/memory.h"

enum { CHUNK_PAGES = 256 };

struct rl_keep_chunk {
    struct rl_keep_chunk *next;
    size_t used;
    unsigned char pages[CHUNK_PAGES][RL_KEEP_PAGE];
};

_Static_assert(RL_TRANSFER_PIECE % RL_KEEP_PAGE == 0, "no page is in two pieces");

static bool fail(struct rl_keep *keep, enum rl_keep_failure why)
{
    if (keep->why == RL_KEEP_GOOD)
        keep->why = why;
    return false;
}

bool rl_keep_begin(struct rl_keep *keep, const struct rl_hsa_table *hsa, struct rl_device *device)
{
    memset(keep, 0, sizeof(*keep));
    return rl_transfer_begin(&keep->transfer, hsa, device) || fail(keep, RL_KEEP_NO_COPY);
}

void rl_keep_end(struct rl_keep *keep)
{
    rl_transfer_end(&keep->transfer);
    for (size_t i = 0; i < keep->count; i++) {
        rl_release(keep->regions[i].before);
        for (int look = 0; look < RL_LOOKS; look++)
            rl_release(keep->regions[i].pages[look]);
    }
    rl_release(keep->regions);
    while (keep->chunks) {
        struct rl_keep_chunk *next = keep->chunks->next;

        rl_release(keep->chunks);
        keep->chunks = next;
    }
}

const struct rl_region *rl_keep_find(const struct rl_keep *keep, uint64_t address)
{
    for (size_t i = 0; i < keep->count; i++)
        if (address - keep->regions[i].place.base < keep->regions[i].place.bytes)
            return &keep->regions[i];
    return NULL;
}

static bool grow(struct rl_keep *keep)
{
    size_t room = keep->room ? 2 * keep->room : 64;
    struct rl_region *larger;

    if (keep->count < keep->room)
        return true;
    larger = rl_allocate(room, sizeof(*larger));
    if (!larger)
        return fail(keep, RL_KEEP_NO_MEMORY);
    if (keep->count)
        memcpy(larger, keep->regions, keep->count * sizeof(*larger));
    rl_release(keep->regions);
    keep->regions = larger;
    keep->room = room;
    return true;
}

bool rl_keep_add(struct rl_keep *keep, const struct rl_place *place, uint32_t dispatch)
{
    keep->bytes += place->bytes;
    if (place->bytes > RL_KEEP_MOST_BYTES || keep->bytes > RL_KEEP_MOST_BYTES)
        return fail(keep, RL_KEEP_TOO_LARGE);
    if (!grow(keep))
        return false;
    keep->regions[keep->count++] = (struct rl_region){ .place = *place, .dispatch = dispatch };
    return true;
}

static void take_before(void *context, size_t offset, const unsigned char *bytes, size_t count)
{
    memcpy((unsigned char *)context + offset, bytes, count);
}

bool rl_keep_read(struct rl_keep *keep)
{
    for (size_t i = 0; i < keep->count && keep->why == RL_KEEP_GOOD; i++) {
        struct rl_region *region = &keep->regions[i];

        if (region->before)
            continue;
        region->before = rl_allocate(1, region->place.bytes);
        if (!region->before)
            return fail(keep, RL_KEEP_NO_MEMORY);
        rl_transfer_get(&keep->transfer, &region->place, take_before, region->before);
    }
    return rl_transfer_flush(&keep->transfer) || fail(keep, RL_KEEP_NO_COPY);
}

static size_t bytes_of(const struct rl_region *region, size_t page)
{
    size_t left = region->place.bytes - page * RL_KEEP_PAGE;

    return left < RL_KEEP_PAGE ? left : RL_KEEP_PAGE;
}

const unsigned char *rl_keep_page(const struct rl_region *region, enum rl_look look, size_t page)
{
    if (region->pages[look] && region->pages[look][page])
        return region->pages[look][page];
    if (look > RL_LOOK_HIP)
        return rl_keep_page(region, RL_LOOK_HIP, page);
    return region->before + page * RL_KEEP_PAGE;
}

/* ---- looks ---- */

static unsigned char *new_page(struct rl_keep *keep)
{
    struct rl_keep_chunk *chunk = keep->chunks;

    if (chunk && chunk->used < CHUNK_PAGES)
        return chunk->pages[chunk->used++];
    chunk = rl_allocate(1, sizeof(*chunk));
    if (!chunk) {
        fail(keep, RL_KEEP_NO_MEMORY);
        return NULL;
    }
    chunk->next = keep->chunks;
    chunk->used = 1;
    keep->chunks = chunk;
    return chunk->pages[0];
}

struct looking {
    struct rl_keep *keep;
    struct rl_region *region;
    enum rl_look look;
};

static void take_page(const struct looking *looking, size_t page, const unsigned char *bytes)
{
    struct rl_region *region = looking->region;
    enum rl_look expected = looking->look == RL_LOOK_HIP ? RL_LOOK_BEFORE : RL_LOOK_HIP;
    size_t count = bytes_of(region, page);
    unsigned char *kept;

    if (!memcmp(bytes, rl_keep_page(region, expected, page), count))
        return;
    kept = new_page(looking->keep);
    if (kept)
        memcpy(kept, bytes, count);
    region->pages[looking->look][page] = kept;
}

static void take_look(void *context, size_t offset, const unsigned char *bytes, size_t count)
{
    const struct looking *looking = context;

    for (size_t at = 0; at < count && looking->keep->why == RL_KEEP_GOOD; at += RL_KEEP_PAGE)
        take_page(looking, (offset + at) / RL_KEEP_PAGE, bytes + at);
}

bool rl_keep_look(struct rl_keep *keep, enum rl_look look)
{
    struct looking *looking = rl_allocate(keep->count ? keep->count : 1, sizeof(*looking));
    bool good;

    if (!looking)
        return fail(keep, RL_KEEP_NO_MEMORY);
    for (size_t i = 0; i < keep->count && keep->why == RL_KEEP_GOOD; i++) {
        struct rl_region *region = &keep->regions[i];

        looking[i] = (struct looking){ keep, region, look };
        region->pages[look] = rl_allocate(rl_keep_pages(region), sizeof(*region->pages[look]));
        if (region->pages[look])
            rl_transfer_get(&keep->transfer, &region->place, take_look, &looking[i]);
        else
            fail(keep, RL_KEEP_NO_MEMORY);
    }
    good = rl_transfer_flush(&keep->transfer) || fail(keep, RL_KEEP_NO_COPY);
    rl_release(looking);
    return good && keep->why == RL_KEEP_GOOD;
}

/* ---- byte by byte ---- */

/* All that is known of a page. */
struct page {
    const unsigned char *looks[RL_LOOKS];
    size_t bytes;
};

static struct page page_of(const struct rl_region *region, size_t number)
{
    struct page page = { .bytes = bytes_of(region, number) };

    for (int look = 0; look < RL_LOOKS; look++)
        page.looks[look] = rl_keep_page(region, (enum rl_look)look, number);
    return page;
}

/* What nobody has found to be changed is one and the same copy. */
static bool is_touched(const struct page *page)
{
    return page->looks[RL_LOOK_HIP] != page->looks[RL_LOOK_BEFORE] ||
           page->looks[RL_LOOK_REPLAY] != page->looks[RL_LOOK_HIP];
}

static bool by_hip(const struct page *page, size_t i)
{
    return page->looks[RL_LOOK_HIP][i] != page->looks[RL_LOOK_BEFORE][i];
}

static bool is_stray(const struct page *page, size_t i)
{
    return !by_hip(page, i) && page->looks[RL_LOOK_REPLAY][i] != page->looks[RL_LOOK_HIP][i];
}

static bool is_difference(const struct page *page, size_t i)
{
    return page->looks[RL_LOOK_REPLAY][i] != page->looks[RL_LOOK_HIP][i] &&
           page->looks[RL_LOOK_HIP_AGAIN][i] == page->looks[RL_LOOK_HIP][i] &&
           (!is_stray(page, i) || page->looks[RL_LOOK_REPLAY_AGAIN][i] == page->looks[RL_LOOK_REPLAY][i]);
}

static unsigned char wanted(const struct page *page, size_t i, enum rl_look now, enum rl_put put)
{
    if (is_stray(page, i))
        return page->looks[put == RL_PUT_INPUTS || is_difference(page, i) ? RL_LOOK_HIP : RL_LOOK_REPLAY][i];
    if (by_hip(page, i))
        return page->looks[put == RL_PUT_INPUTS ? RL_LOOK_BEFORE : RL_LOOK_HIP][i];
    return page->looks[now][i];
}

bool rl_keep_is_equal(const struct rl_keep *keep)
{
    for (size_t i = 0; i < keep->count; i++)
        for (size_t page = 0; page < rl_keep_pages(&keep->regions[i]); page++)
            if (keep->regions[i].pages[RL_LOOK_REPLAY][page])
                return false;
    return true;
}

static bool has_stray(const struct rl_region *region)
{
    for (size_t number = 0; number < rl_keep_pages(region); number++) {
        struct page page = page_of(region, number);

        for (size_t i = 0; is_touched(&page) && i < page.bytes; i++)
            if (is_stray(&page, i))
                return true;
    }
    return false;
}

bool rl_keep_has_stray(const struct rl_keep *keep)
{
    size_t i = 0;

    while (i < keep->count && !has_stray(&keep->regions[i]))
        i++;
    return i < keep->count;
}

size_t rl_keep_differences(const struct rl_region *region, size_t number, size_t *offset)
{
    struct page page = page_of(region, number);
    size_t count = 0;

    for (size_t i = 0; is_touched(&page) && i < page.bytes; i++)
        if (is_difference(&page, i) && !count++)
            *offset = number * RL_KEEP_PAGE + i;
    return count;
}

/* ---- back ---- */

static void put_page(struct rl_keep *keep, const struct rl_region *region, size_t number, enum rl_look now,
                     enum rl_put put)
{
    struct page page = page_of(region, number);
    unsigned char bytes[RL_KEEP_PAGE];

    if (!is_touched(&page))
        return;
    for (size_t i = 0; i < page.bytes; i++)
        bytes[i] = wanted(&page, i, now, put);
    rl_transfer_put(&keep->transfer, &region->place, number * RL_KEEP_PAGE, bytes, page.looks[now],
                    page.bytes);
}

bool rl_keep_put(struct rl_keep *keep, enum rl_look now, enum rl_put put)
{
    keep->transfer.failed = keep->transfer.late; /* once more, if it was only a copy that failed */
    for (size_t i = 0; i < keep->count; i++)
        for (size_t page = 0; page < rl_keep_pages(&keep->regions[i]); page++)
            put_page(keep, &keep->regions[i], page, now, put);
    return rl_transfer_flush(&keep->transfer) || fail(keep, RL_KEEP_NO_COPY);
}
