"""Which services the cloud has."""

from localcloud.alarming.routes import service as alarming_service
from localcloud.block_storage.routes import service as block_storage_service
from localcloud.compute.routes import service as compute_service
from localcloud.core.cloud import Cloud, Service
from localcloud.dns.routes import service as dns_service
from localcloud.identity.routes import service as identity_service
from localcloud.image.routes import service as image_service
from localcloud.key_manager.routes import service as key_manager_service
from localcloud.load_balancer.routes import service as load_balancer_service
from localcloud.messaging.routes import service as messaging_service
from localcloud.metrics.routes import service as metrics_service
from localcloud.network.routes import service as network_service
from localcloud.object_store.routes import service as object_store_service
from localcloud.shared_file_system.routes import service as shared_file_system_service
from localcloud.workflow.routes import service as workflow_service


def services(cloud: Cloud) -> list[Service]:
    """Return the services of the cloud, in the order in which they start."""
    return [
        identity_service(cloud),
        image_service(cloud),
        network_service(cloud),
        object_store_service(cloud),
        block_storage_service(cloud),
        key_manager_service(cloud),
        load_balancer_service(cloud),
        messaging_service(cloud),
        dns_service(cloud),
        metrics_service(cloud),
        alarming_service(cloud),
        workflow_service(cloud),
        shared_file_system_service(cloud),
        compute_service(cloud),
    ]
