"""The kinds of resources that Assay creates outside its own process and must remove, one per file.

A new kind is a file here and a line in `KINDS`.
"""

from assay.provision.undo.resources.block_device import DeviceNode, LoopDevice
from assay.provision.undo.resources.directory import Directory, EmptyDirectory, UnfinishedPackage
from assay.provision.undo.resources.mount import Mount
from assay.provision.undo.resources.processes import ControlGroup, TaggedProcesses
from assay.provision.undo.resources.resource import CannotUndo, Resource
from assay.provision.undo.resources.shared_memory import PosixSharedMemory, SharedMemory

KINDS: dict[str, type[Resource]] = {
    kind.kind: kind
    for kind in (
        TaggedProcesses,
        Mount,
        LoopDevice,
        DeviceNode,
        ControlGroup,
        Directory,
        EmptyDirectory,
        UnfinishedPackage,
        SharedMemory,
        PosixSharedMemory,
    )
}

__all__ = [
    "KINDS",
    "CannotUndo",
    "ControlGroup",
    "DeviceNode",
    "Directory",
    "EmptyDirectory",
    "LoopDevice",
    "Mount",
    "PosixSharedMemory",
    "Resource",
    "SharedMemory",
    "TaggedProcesses",
    "UnfinishedPackage",
]
