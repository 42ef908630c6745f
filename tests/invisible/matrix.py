# SPDX-License-Identifier: Apache-2.0
"""Writes the calls of the call matrix: every exported entry point, each parameter with each kind of value.

A call has valid arguments but for one; which values a type can have stands in VARIANTS. Two more calls of each
function have only valid ones: outside of a capture, and while this thread has a capture with global mode open.
"""

from __future__ import annotations

import re
from pathlib import Path

import jinja2
from redline_codegen.model import Api, Function
from redline_codegen.snapshot import read_snapshot
from standin.standin import recorded_functions

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# What only a compiler or another API makes is needed for these. The library of 7.2.4 crashes in the external semaphore
# calls whatever they are given.
LEFT_OUT = re.compile(r"__hipUnregisterFatBinary|hipLibraryUnload|hip\w*ExternalSemaphores\w*")
ENDS = {"hipDeviceReset"}
"""Made last: nothing can be called behind it."""

# Calls that HIP does not define an answer for: it crashes, or counts for minutes.
UNDEFINED = [
    (r"hipGraphExec\w+|hipDrvGraphExec\w+", r"\w+=(\(hipGraphExec_t\)graph|destroyed_exec)"),
    (r"hip(Drv)?Graph(Exec)?(\w*Node)?SetParams\w*", r"h?[nN]ode=empty"),  # writes another type's fields
    (r"hip(Drv)?Graph(?!Kernel)\w*NodeSet(Params\w*|Event)", r"h?[nN]ode=foreign"),
    (r"hip(Drv)?Graph\w*", r"\w+=\((hipGraph_t\)kernel|hipGraphNode_t\)graph)"),
    (r"hipStreamBeginCaptureToGraph", r"graph=\(hipGraph_t\)kernel"),
    (r"hip(Drv)?Graph\w*NodeGetParams", r"h?[nN]ode=(empty|foreign)"),  # reads another type's fields
    (
        r"hipGraphKernelNodeCopyAttributes",
        r"h(Src|Dst)=(destroyed_node|empty|foreign)",
    ),  # reads what nobody set
    (r"hipGraphAddMemAllocNode", r"graph=destroyed_graph"),
    (r"hipDrvGraphExecMemcpyNodeSetParams", r"copyParams=NULL"),
    (r"hipGraphRemoveDependencies", r"valid|capturing|numDependencies=3"),
    (r"hipStreamUpdateCaptureDependencies", r"stream=(NULL|\(hipStream_t\)1)"),
    (r"hipStreamEndCapture", r"stream=\(hipStream_t\)2"),
    (r"hipStreamGetDevice", r"stream=\(hipStream_t\)1"),
    (r"hipUserObject\w+|hipGraphRetainUserObject", r"\w+=0x7fffffff"),
    (r"hipGet(ProcAddress|DriverEntryPoint\w*)", r"symbol=NULL"),
]

VARIANTS = {
    "hipGraph_t": ["NULL", "w->destroyed_graph", "w->other", "(hipGraph_t)w->kernel"],
    "hipGraphNode_t": ["NULL", "w->destroyed_node", "w->foreign", "w->empty", "(hipGraphNode_t)w->graph"],
    "hipGraphExec_t": ["NULL", "w->destroyed_exec", "w->reused_exec", "(hipGraphExec_t)w->graph"],
    "hipStream_t": ["NULL", "(hipStream_t)1", "(hipStream_t)2", "w->capturing"],
    "size_t": ["0", "3"],
    "unsigned int": ["1", "0x7fffffff"],
    "unsigned long long": ["1", "8", "~0ull"],
    "int": ["-1"],
    "hipStreamCaptureMode": ["hipStreamCaptureModeRelaxed", "(hipStreamCaptureMode)9"],
    "hipMemcpyKind": ["hipMemcpyDeviceToHost", "(hipMemcpyKind)77"],
    "hipEvent_t": ["NULL"],
    "hipUserObject_t": ["NULL"],
    "hipLaunchAttributeID": ["hipLaunchAttributePriority"],
}

VALID = {
    "hipGraph_t": "w->graph",
    "hipGraphExec_t": "w->exec",
    "hipStream_t": "w->stream",
    "hipEvent_t": "w->event",
    "hipUserObject_t": "w->object",
    "hipModule_t": "w->module",
    "hipLibrary_t": "w->library",
    "size_t": "1",
    "unsigned int": "0",
    "unsigned long long": "0",
    "uint64_t": "0",
    "int": "0",
    "hipMemcpyKind": "hipMemcpyDeviceToDevice",
    "hipStreamCaptureMode": "hipStreamCaptureModeThreadLocal",
    "hipLaunchAttributeID": "hipLaunchAttributeCooperative",
    "hipGraphMemAttributeType": "hipGraphMemAttrUsedMemCurrent",
    "hipCtx_t": "NULL",
    "hipHostFn_t": "nothing",
    "hipDeviceptr_t": "w->allocated",
    "const hipGraphNode_t *": "&w->kernel",
    "const hipKernelNodeParams *": "&w->kernel_params",
    "const hipMemsetParams *": "&w->memset_params",
    "const HIP_MEMCPY3D *": "&w->driver_copy",
    "const hipMemcpy3DParms *": "&w->copy_params",
    "const hipHostNodeParams *": "&w->host_params",
    "hipMemAllocNodeParams *": "&w->alloc_params",
    "hipGraphNodeParams *": "&w->node_params",
    "hipGraphInstantiateParams *": "&w->instantiate_params",
    "const hipLaunchAttributeValue *": "&w->attribute",
    "hipBatchMemOpNodeParams *": "&w->batch_params",
    "const hipBatchMemOpNodeParams *": "&w->batch_params",
    "hipStreamCaptureMode *": "&w->mode",
    "size_t *": "&w->count",
    "const hipExternalSemaphoreWaitNodeParams *": "(void *)w->zeroes",
    "const hipExternalSemaphoreSignalNodeParams *": "(void *)w->zeroes",
}

# The kind of node that a function wants, by a part of its name; the first that fits counts.
NODES = [
    ("Memset", "w->memset"),
    ("Memcpy", "w->copy"),
    ("HostNode", "w->host"),
    ("ChildGraph", "w->child"),
    ("EventRecordNode", "w->record"),
    ("EventWaitNode", "w->wait"),
    ("MemAlloc", "w->alloc"),
    ("MemFree", "w->free_node"),
]

# Arguments by function and parameter where the type does not say enough.
SPECIAL = {
    ("hipGetProcAddress", "symbol"): '"hipGraphLaunch"',
    ("hipGetProcAddress", "hipVersion"): "70200000",
    ("hipGetDriverEntryPoint", "symbol"): '"hipGraphLaunch"',
    ("hipGetDriverEntryPoint_spt", "symbol"): '"hipStreamEndCapture"',
    ("hipGraphDebugDotPrint", "path"): '"/dev/null"',
    ("hipGraphAddChildGraphNode", "childGraph"): "w->other",
    ("hipGraphExecChildGraphNodeSetParams", "childGraph"): "w->other",
    ("hipGraphNodeFindInClone", "clonedGraph"): "w->clone",
    ("hipGraphInstantiate", "pLogBuffer"): "NULL",
    ("hipGraphInstantiate", "bufferSize"): "0",
    ("hipGraphAddMemFreeNode", "dev_ptr"): "w->allocated",
    ("hipGraphMemFreeNodeGetParams", "dev_ptr"): "w->out[0]",
    ("hipUserObjectCreate", "initialRefcount"): "1",
    ("hipUserObjectCreate", "flags"): "hipUserObjectNoDestructorSync",
    ("hipUserObjectRetain", "count"): "1",
    ("hipUserObjectRelease", "count"): "1",
    ("hipGraphRetainUserObject", "count"): "1",
    ("hipGraphReleaseUserObject", "count"): "1",
    ("hipGraphKernelNodeCopyAttributes", "hSrc"): "w->kernel",
    ("hipGraphKernelNodeCopyAttributes", "hDst"): "w->kernel2",
    ("hipGetFuncBySymbol", "symbolPtr"): "NULL",
    ("hipGraphAddDependencies", "to"): "&w->host",
    ("hipGraphAddDependencies", "from"): "&w->kernel",
    ("hipGraphRemoveDependencies", "from"): "&w->kernel",
    ("hipGraphRemoveDependencies", "to"): "&w->memset",
    ("hipStreamBeginCaptureToGraph", "dependencyData"): "NULL",
    ("hipModuleLoad", "fname"): "w->path",
    ("hipModuleLoadData", "image"): "w->image",
    ("hipModuleLoadDataEx", "image"): "w->image",
    ("hipModuleLoadFatBinary", "fatbin"): "w->image",
    ("hipModuleGetFunction", "kname"): '"scale"',
    ("hipLibraryLoadFromFile", "fileName"): "w->path",
    ("hipLibraryLoadData", "code"): "w->image",
    ("hipLibraryGetKernel", "name"): '"scale"',
}
MEMORY = ("dst", "src", "symbol", "devPtr", "dev_ptr", "ptr")


def valid(function: Function, index: int, outputs: list[int]) -> str:
    parameter = function.parameters[index]
    special = SPECIAL.get((function.name, parameter.name))
    if special:
        return special
    if parameter.type == "hipGraphNode_t":
        return next((node for part, node in NODES if part in function.name), "w->kernel")
    if parameter.type in ("void *", "const void *") and parameter.name in MEMORY:
        return "w->data" if parameter.name != "src" else "w->source"
    if parameter.type in VALID:
        return VALID[parameter.type]
    if parameter.type.endswith("*"):
        outputs.append(index)
        return f"(void *)w->out[{len(outputs) - 1}]"
    return f"({parameter.type})0"


def calls(api: Api) -> list[dict[str, str]]:
    """What matrix_calls.h.j2 makes functions of, in the policy's order."""
    made = []
    functions = [f for f in recorded_functions(api) if not LEFT_OUT.fullmatch(f.name)]
    functions.sort(key=lambda function: function.name in ENDS)
    for function in functions:
        outputs: list[int] = []
        arguments = [valid(function, index, outputs) for index in range(len(function.parameters))]
        made += [_call(function, "valid", arguments), _call(function, "capturing", arguments)]
        for index, parameter in enumerate(function.parameters):
            values = VARIANTS.get(parameter.type, ["NULL"] if parameter.type.endswith("*") else [])
            for value in values:
                if value != arguments[index]:
                    changed = [*arguments[:index], value, *arguments[index + 1 :]]
                    made.append(_call(function, f"{parameter.name}={value.replace('w->', '')}", changed))
    return [call for call in made if not _undefined(call)]


def _undefined(call: dict[str, str]) -> bool:
    return any(re.fullmatch(n, call["name"]) and re.fullmatch(v, call["variant"]) for n, v in UNDEFINED)


def _call(function: Function, variant: str, arguments: list[str]) -> dict[str, str]:
    return {"name": function.name, "variant": variant, "arguments": ", ".join(arguments)}


def write(folder: Path) -> int:
    """Writes matrix_calls.h; gives the number of calls."""
    api = read_snapshot(ROOT / "api" / "rocm-7.2.4.json")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    listed = calls(api)
    text = environment.get_template("matrix_calls.h.j2").render(calls=listed)
    (folder / "matrix_calls.h").write_text(text)
    return len(listed)
