/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Late by default, as hardware can be: copies much later than the work that HIP queues behind them. */
static struct sg_options options = {
    .seed = 1,
    .kernel_delay = { 0, 60, 1000 },
    .copy_delay = { 200, 800, 3000 },
    .wave_delay = { 50, 300, 1500 },
};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int parse_range(const char *text, struct sg_range *range)
{
    unsigned low, high;
    char end;

    if (sscanf(text, "%u:%u%c", &low, &high, &end) != 2 || low > high || high > 60000000)
        return -1;
    *range = (struct sg_range){ low, high, 0 };
    return 0;
}

static void read_range(const char *name, struct sg_range *range)
{
    const char *text = getenv(name);

    if (text && *text && parse_range(text, range))
        fprintf(stderr, "softgpu: %s=%s is not A:B in microseconds; ignored\n", name, text);
}

static void read_named(const char *text)
{
    char *copy = strdup(text), *save = NULL;

    for (char *item = copy ? strtok_r(copy, ",", &save) : NULL; item; item = strtok_r(NULL, ",", &save)) {
        char *equal = strrchr(item, '=');
        struct sg_range range;

        if (!equal || parse_range(equal + 1, &range) || equal - item >= SG_KERNEL_NAME ||
            options.kernel_count == SG_KERNEL_DELAYS) {
            fprintf(stderr, "softgpu: SOFTGPU_DELAY_NAMED: %s is not NAME=A:B; ignored\n", item);
            continue;
        }
        *equal = 0;
        strcpy(options.kernel[options.kernel_count].name, item);
        options.kernel[options.kernel_count++].delay = range;
    }
    free(copy);
}

static void read_all(void)
{
    const char *text;

    options.trace = getenv("SOFTGPU_TRACE");
    if (options.trace && !*options.trace)
        options.trace = NULL;
    if ((text = getenv("SOFTGPU_SEED")) && *text)
        options.seed = strtoull(text, NULL, 0);
    read_range("SOFTGPU_DELAY_KERNEL_US", &options.kernel_delay);
    read_range("SOFTGPU_DELAY_COPY_US", &options.copy_delay);
    read_range("SOFTGPU_DELAY_WAVE_US", &options.wave_delay);
    if ((text = getenv("SOFTGPU_DELAY_NAMED")))
        read_named(text);
}

const struct sg_options *sg_options(void)
{
    pthread_once(&once, read_all);
    return &options;
}

struct sg_range sg_options_delay(const char *kernel, struct sg_range otherwise)
{
    const struct sg_options *all = sg_options();

    for (int i = 0; kernel && i < all->kernel_count; i++)
        if (!strcmp(all->kernel[i].name, kernel))
            return all->kernel[i].delay;
    return otherwise;
}
