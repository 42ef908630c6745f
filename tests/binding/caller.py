# SPDX-License-Identifier: Apache-2.0
"""Writes a C program that calls every HIP entry point of a release and prints all that came back.

Every pointer argument gets a buffer of its own that is filled with a pattern, every integer 1, every handle
NULL, every function pointer a function that does nothing. For each call one line is printed: name, value
returned, last error, and which buffers the call wrote with what. Calls that crash natively are caught and
printed as such.
"""

from __future__ import annotations

from redline_codegen.model import Api, Function, names_in

BUFFER = 8192


_HEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

%(prototypes)s
#define BUFFER %(buffer)d
#define PATTERN 0xa5
static unsigned char buffers[%(most)d][BUFFER] __attribute__((aligned(64)));
static sigjmp_buf crashed;

static void on_crash(int number)
{
    siglongjmp(crashed, number);
}

static void prepare(int count)
{
    for (int i = 0; i < count; i++)
        memset(buffers[i], PATTERN, BUFFER);
}

/* An address inside a library differs from run to run; its offset in the library does not. */
static void make_relative(unsigned char *buffer)
{
    for (int k = 0; k < BUFFER; k += 8) {
        unsigned long long word;
        Dl_info info;
        memcpy(&word, buffer + k, sizeof word);
        if (dladdr((void *)word, &info)) {
            word -= (unsigned long long)info.dli_fbase;
            memcpy(buffer + k, &word, sizeof word);
        }
    }
}

/* FNV-1a of what the call left in each buffer that it changed. */
static void report(int count)
{
    for (int i = 0; i < count; i++) {
        make_relative(buffers[i]);
        unsigned long long hash = 1469598103934665603ull;
        int changed = 0;
        for (int k = 0; k < BUFFER; k++) {
            changed += buffers[i][k] != PATTERN;
            hash = (hash ^ buffers[i][k]) * 1099511628211ull;
        }
        if (changed)
            printf(" out%%d=%%d:%%016llx", i, changed, hash);
    }
    printf(" last=%%d\\n", (int)hipGetLastError());
}

static void print_bytes(const void *data, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        printf("%%02x", ((const unsigned char *)data)[i]);
}

static void nothing(void)
{
}

int call_everything(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
"""

_MAIN = """
#ifndef AS_MODULE
int main(void)
{
    return call_everything();
}
#endif
"""


def called_functions(api: Api, declared: dict[str, Function]) -> list[Function]:
    """What the header or `declared` has a prototype of and the release's real library exports."""
    assert api.hip.library
    exported = {symbol.name for symbol in api.hip.library.symbols}
    known = {**api.hip.functions, **declared}
    return [f for f in known.values() if f.name in exported]


def program(api: Api, declared: dict[str, Function]) -> str:
    functions = called_functions(api, declared)
    most = max(len(function.parameters) for function in functions)
    calls = "".join(_call(api, function) for function in functions)
    prototypes = "".join(f"{function.signature};\n" for function in declared.values())
    return (
        _HEAD % {"buffer": BUFFER, "most": most, "prototypes": prototypes}
        + calls
        + "    return 0;\n}\n"
        + _MAIN
    )


def _call(api: Api, function: Function) -> str:
    arguments, buffers = [], 0
    for parameter in function.parameters:
        text, used = _argument(api, parameter.type, buffers)
        arguments.append(text)
        buffers += used
    call = f"{function.name}({', '.join(arguments)})"
    if function.returns == "void":
        action = f'{call}; printf("{function.name}");'
    elif function.returns == "const char *":
        action = f'const char *text = {call}; printf("{function.name} %s", text ? text : "(null)");'
    else:
        shown = f'printf("{function.name} "); print_bytes(&value, sizeof value);'
        action = f"{function.returns} value = {call}; {shown}"
    return (
        f"    prepare({buffers});\n    if (!sigsetjmp(crashed, 1)) {{\n        {action}\n"
        f'    }} else {{\n        printf("{function.name} crashed");\n    }}\n    report({buffers});\n'
    )


def _argument(api: Api, type_text: str, buffers: int) -> tuple[str, int]:
    """C text of an argument and how many buffers it takes."""
    resolved = _resolve(api, type_text)
    if "(*" in resolved:
        return f"({type_text})nothing" if "(*" not in type_text else "(void *)nothing", 0
    if type_text.endswith("*") or "[" in type_text:
        return f"(void *)buffers[{buffers}]", 1
    if resolved.endswith("*"):
        return f"({type_text})0", 0
    if names_in(resolved) & set(api.hip.records) or resolved.startswith(("struct ", "union ")):
        return f"({type_text}){{0}}", 0
    return f"({type_text})1", 0


def _resolve(api: Api, type_text: str) -> str:
    """Follows typedefs of plain names to what they stand for."""
    seen = set()
    while type_text in api.hip.typedefs and type_text not in seen:
        seen.add(type_text)
        type_text = api.hip.typedefs[type_text]
    return type_text
