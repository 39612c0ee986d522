"""Takes planned runs; returns each the deployment it needs, shared with runs that need the same."""

from assay.lab.pool.commit_durability import CommitDurability
from assay.lab.pool.pool import Pool
from assay.lab.pool.pooled_system import PooledSystem

__all__ = ["CommitDurability", "Pool", "PooledSystem"]
