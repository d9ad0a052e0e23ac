"""The list of the cloud's services."""

from localcloud.alarming.service import AlarmingService
from localcloud.block_storage.service import BlockStorageService
from localcloud.compute.service import ComputeService
from localcloud.core.cloud import Cloud, LazyService
from localcloud.dns.service import DnsService
from localcloud.identity.service import IdentityService
from localcloud.image.service import ImageService
from localcloud.key_manager.service import KeyManagerService
from localcloud.load_balancer.service import LoadBalancingService
from localcloud.messaging.service import MessagingService
from localcloud.metrics.service import MetricService
from localcloud.network.service import NetworkService
from localcloud.object_store.service import ObjectStoreService
from localcloud.shared_file_system.service import SharedFileSystemService
from localcloud.workflow.service import WorkflowService

# In the order in which they start. Compute is last: servers that boot again need the others.
_SERVICES: tuple[type[LazyService], ...] = (
    IdentityService,
    ImageService,
    NetworkService,
    ObjectStoreService,
    BlockStorageService,
    KeyManagerService,
    LoadBalancingService,
    MessagingService,
    DnsService,
    MetricService,
    AlarmingService,
    WorkflowService,
    SharedFileSystemService,
    ComputeService,
)


def services(cloud: Cloud) -> list[LazyService]:
    """Return the services of the cloud, in the order in which they start."""
    return [cloud.one(service) for service in _SERVICES]
