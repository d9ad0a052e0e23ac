"""Magnum driver without nodes: each change of a cluster is complete when it is next read."""

from magnum.drivers.common import driver
from magnum.objects import fields

DONE = {
    "CREATE_IN_PROGRESS": "CREATE_COMPLETE",
    "UPDATE_IN_PROGRESS": "UPDATE_COMPLETE",
    "DELETE_IN_PROGRESS": "DELETE_COMPLETE",
}


class LabDriver(driver.Driver):
    @property
    def provides(self):
        return [{"server_type": "vm", "os": "fedora-coreos", "coe": "kubernetes"}]

    def _begin(self, cluster, status):
        cluster.status = status
        for ng in cluster.nodegroups:
            ng.status = status
            ng.save()
        cluster.save()

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        new = DONE.get(cluster.status)
        if new:
            cluster.api_address = "https://192.0.2.1:6443"
            self._begin(cluster, new)

    def create_cluster(self, context, cluster, cluster_create_timeout):
        self._begin(cluster, fields.ClusterStatus.CREATE_IN_PROGRESS)

    def update_cluster(self, context, cluster, scale_manager=None, rollback=False):
        self._begin(cluster, fields.ClusterStatus.UPDATE_IN_PROGRESS)

    def delete_cluster(self, context, cluster):
        self._begin(cluster, fields.ClusterStatus.DELETE_IN_PROGRESS)

    def resize_cluster(
        self, context, cluster, resize_manager, node_count, nodes_to_remove, nodegroup=None
    ):
        self._begin(cluster, fields.ClusterStatus.UPDATE_IN_PROGRESS)

    def upgrade_cluster(
        self,
        context,
        cluster,
        cluster_template,
        max_batch_size,
        nodegroup,
        scale_manager=None,
        rollback=False,
    ):
        self._begin(cluster, fields.ClusterStatus.UPDATE_IN_PROGRESS)

    def create_nodegroup(self, context, cluster, nodegroup):
        self._begin(cluster, fields.ClusterStatus.UPDATE_IN_PROGRESS)

    update_nodegroup = delete_nodegroup = create_nodegroup

    def create_federation(self, context, federation):
        raise NotImplementedError

    update_federation = delete_federation = create_federation
