/* SPDX-License-Identifier: Apache-2.0 */
/* See gate.h. */
#include "replay/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/object.h"
#include "native/tools.h"
#include "report/options.h"
#include "report/report.h"

/* HIP_VERSION as hipRuntimeGetVersion() gives it: batches came with 6.4, and 7.2.4 sends them within a
 * record. */
enum { BATCHES_FROM = 60400000, RECORDS_SEND_FROM = 70253211 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum rl_reason reason;
static const char *what = "";

static bool is_on(const char *value)
{
    return value && *value && strcmp(value, "0") != 0;
}

static bool is_off(const char *value)
{
    return value && !strcmp(value, "0");
}

static bool is_set(const char *value)
{
    return value && *value;
}

/* What makes HIP do on the CPU or elsewhere what replays expect in the stream's queue, and what loads tools.
 */
static const struct {
    const char *name;
    bool (*against)(const char *value);
    enum rl_reason reason;
} settings[] = {
    { "AMD_DIRECT_DISPATCH", is_off, RL_REASON_ENVIRONMENT }, /* another thread writes the packets */
    { "HIP_LAUNCH_BLOCKING", is_on, RL_REASON_ENVIRONMENT },  /* launches wait, and HIP does not see ours */
    { "AMD_SERIALIZE_KERNEL", is_on, RL_REASON_ENVIRONMENT },
    { "AMD_SERIALIZE_COPY", is_on, RL_REASON_ENVIRONMENT },
    { "AMD_OCL_WAIT_COMMAND", is_on, RL_REASON_ENVIRONMENT },
    { "GPU_FLUSH_ON_EXECUTION", is_on, RL_REASON_ENVIRONMENT },
    { "HSA_ALLOCATE_QUEUE_DEV_MEM", is_on,
      RL_REASON_ENVIRONMENT }, /* slots need fences, and are slow to read */
    { "HSA_ENABLE_DEBUG", is_on, RL_REASON_TOOL },
    { "HSA_TOOLS_LIB", is_set, RL_REASON_TOOL },
    { "ROCP_TOOL_LIB", is_set, RL_REASON_TOOL },
    { "ROCP_TOOL_LIBRARIES", is_set, RL_REASON_TOOL },
    { "ROCPROFILER_REGISTER_LIBRARY", is_set, RL_REASON_TOOL },
    { "ROCPROFILER_REGISTER_FORCE_LOAD", is_on, RL_REASON_TOOL },
    { "ROCM_DEBUG_AGENT_OPTIONS", is_set, RL_REASON_TOOL },
};

/* Where it cannot be seen what a tool does, one that is loaded counts as one that is at work. */
static bool visit_tool(const struct rl_object *object, void *context)
{
    static const char *const tools[] = { "librocprofiler64.",   "librocprofiler64v2.",
                                         "librocprofiler-sdk.", "librocprofiler-sdk-tool.",
                                         "libroctracer64.",     "librocm-debug-agent." };
    const char *slash = strrchr(object->path, '/'), *name = slash ? slash + 1 : object->path;

    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        if (!strncmp(name, tools[i], strlen(tools[i]))) {
            *(const char **)context = tools[i];
            return true;
        }
    return false;
}

/* By the line of /proc/self/status that says who traces the process: 0 for nobody. */
static bool is_traced(void)
{
    static const char line[] = "\nTracerPid:\t";
    char text[2048], *found;
    int saved = errno, file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof(text) - 1);

    if (file >= 0)
        close(file);
    errno = saved;
    text[size > 0 ? size : 0] = 0;
    found = strstr(text, line);
    return found && found[sizeof(line) - 1] != '0';
}

static bool exists(const char *path)
{
    int saved = errno;
    bool there = access(path, F_OK) == 0;

    errno = saved;
    return there;
}

/* Under WSL a thread on the host translates the packets of queues. */
static bool is_wsl(void)
{
    return exists("/dev/dxg") && !exists("/dev/kfd");
}

static void decide(void)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && reason == RL_REASON_NONE; i++)
        if (settings[i].against(getenv(settings[i].name))) {
            reason = settings[i].reason;
            what = settings[i].name;
        }
    if (reason == RL_REASON_NONE && is_wsl()) {
        reason = RL_REASON_ENVIRONMENT;
        what = "/dev/dxg is there and /dev/kfd is not";
    }
}

static enum rl_reason closed(const struct rl_hip_table *hip, const char **detail, bool *passing)
{
    const char *tool = rl_tool();

    pthread_once(&once, decide);
    *detail = what;
    *passing = reason == RL_REASON_NONE && tool;
    if (reason != RL_REASON_NONE)
        return reason;
    if (tool)
        *detail = tool;
    else if (is_traced())
        *detail = "another process traces this one";
    else if (rl_tools_are_seen() || !rl_objects_walk(visit_tool, detail))
        *detail = "";
    if (**detail)
        return RL_REASON_TOOL;
    if (!hip->hipEventRecord || !hip->hipEventCreateWithFlags || !hip->hipGetDevice || !hip->hipSetDevice ||
        !hip->hipGetDeviceCount || !hip->hipStreamGetDevice)
        return RL_REASON_HIP_UNKNOWN;
    return RL_REASON_NONE;
}

enum rl_reason rl_gate(const struct rl_hip_table *hip, const char **detail, bool *passing)
{
    enum rl_reason found = closed(hip, detail, passing);

    rl_report_gate(*detail);
    return found;
}

bool rl_gate_must_flush(const struct rl_hip_table *hip)
{
    int version = 0;

    /* rule: batches-are-sent */
    return !hip->hipRuntimeGetVersion || hip->hipRuntimeGetVersion(&version) != hipSuccess ||
           (version >= BATCHES_FROM && version < RECORDS_SEND_FROM);
}

/* "gfx1100,gfx1201" allows these alone, "-gfx1030" denies one, "*" stands for all that have packets. */
bool rl_gate_target(const char *gfx)
{
    const char *list = rl_options()->targets;
    bool allowed = true, first = true;

    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ", ");
        bool denies = *at == '-';
        const char *name = at + denies;
        size_t name_length = length - denies;
        bool meant = (name_length == 1 && *name == '*') ||
                     (strlen(gfx) == name_length && !memcmp(gfx, name, name_length));

        if (length) {
            if (first && !denies)
                allowed = false;
            first = false;
            if (meant)
                allowed = !denies;
        }
        at += length;
        at += strspn(at, ", ");
    }
    return allowed;
}
