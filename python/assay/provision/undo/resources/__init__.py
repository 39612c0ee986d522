"""The kinds of resources that Assay creates outside its own process and must remove, one per file.

A new kind is a file here and a line in `KINDS`.
"""

from assay.provision.undo.resources.control_group import ControlGroup
from assay.provision.undo.resources.device_node import DeviceNode
from assay.provision.undo.resources.directory import Directory
from assay.provision.undo.resources.empty_directory import EmptyDirectory
from assay.provision.undo.resources.loop_device import LoopDevice
from assay.provision.undo.resources.mount import Mount
from assay.provision.undo.resources.package import UnfinishedPackage
from assay.provision.undo.resources.posix_shared_memory import PosixSharedMemory
from assay.provision.undo.resources.process import TaggedProcesses
from assay.provision.undo.resources.resource import CannotUndo, Resource
from assay.provision.undo.resources.shared_memory import SharedMemory

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
