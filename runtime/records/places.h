/* SPDX-License-Identifier: Apache-2.0 */
/* Keys with their positions, sorted without qsort(), which would take memory from the application's heap. */
#ifndef REDLINE_PLACES_H
#define REDLINE_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct rl_place {
    uint64_t key; /* a handle, or an edge */
    uint32_t position;
};

static inline void rl_places_sink(struct rl_place *places, size_t root, size_t count)
{
    struct rl_place moved = places[root];
    size_t child;

    while ((child = 2 * root + 1) < count) {
        child += child + 1 < count && places[child + 1].key > places[child].key;
        if (places[child].key <= moved.key)
            break;
        places[root] = places[child];
        root = child;
    }
    places[root] = moved;
}

/* By key. */
static inline void rl_places_sort(struct rl_place *places, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        rl_places_sink(places, i, count);
    for (size_t i = count; i-- > 1;) {
        struct rl_place last = places[i];

        places[i] = places[0];
        places[0] = last;
        rl_places_sink(places, 0, i);
    }
}

#endif
