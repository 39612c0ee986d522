"""What storages on block devices share: images, loop devices, file systems, guards; one idea per
file."""
