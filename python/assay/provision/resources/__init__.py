"""The kinds of resources that Assay creates outside its own process and must remove, one per file.

A new kind is a file here and a line in `KINDS`.
"""

from assay.provision.resources.control_group import ControlGroup
from assay.provision.resources.device_node import DeviceNode
from assay.provision.resources.directory import Directory
from assay.provision.resources.empty_directory import EmptyDirectory
from assay.provision.resources.loop_device import LoopDevice
from assay.provision.resources.mount import Mount
from assay.provision.resources.package import UnfinishedPackage
from assay.provision.resources.posix_shared_memory import PosixSharedMemory
from assay.provision.resources.process import TaggedProcesses
from assay.provision.resources.resource import CannotUndo, Resource
from assay.provision.resources.shared_memory import SharedMemory

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
