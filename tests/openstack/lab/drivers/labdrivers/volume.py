"""Cinder driver: a volume is a sparse file; no export, no daemon, no root helper."""

import subprocess
from pathlib import Path

from cinder import interface
from cinder.volume import driver
from oslo_config import cfg

OPTS = [cfg.StrOpt("lab_volume_dir")]


@interface.volumedriver
class FileDriver(driver.VolumeDriver):
    VERSION = "1.0"
    CI_WIKI_NAME = "lab"

    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.configuration.append_config_values(OPTS)
        self.dir = Path(self.configuration.lab_volume_dir)

    def do_setup(self, context):
        self.dir.mkdir(parents=True, exist_ok=True)

    def check_for_setup_error(self):
        pass

    def _p(self, name):
        return self.dir / name

    @staticmethod
    def _grow(path, gib):
        with path.open("ab") as f:
            f.truncate(gib * 1024**3)

    @staticmethod
    def _cp(a, b):
        subprocess.check_call(["cp", "--sparse=always", "--reflink=auto", a, b])

    @staticmethod
    def _rm(p):
        p.unlink(missing_ok=True)

    def create_volume(self, volume):
        self._grow(self._p(volume.name), volume.size)

    def delete_volume(self, volume):
        self._rm(self._p(volume.name))

    def create_snapshot(self, snapshot):
        self._cp(self._p(snapshot.volume_name), self._p(snapshot.name))

    def delete_snapshot(self, snapshot):
        self._rm(self._p(snapshot.name))

    def create_volume_from_snapshot(self, volume, snapshot):
        self._cp(self._p(snapshot.name), self._p(volume.name))
        self._grow(self._p(volume.name), volume.size)

    def create_cloned_volume(self, volume, src_vref):
        self._cp(self._p(src_vref.name), self._p(volume.name))
        self._grow(self._p(volume.name), volume.size)

    def revert_to_snapshot(self, context, volume, snapshot):
        self._cp(self._p(snapshot.name), self._p(volume.name))

    def extend_volume(self, volume, new_size):
        self._grow(self._p(volume.name), new_size)

    def copy_image_to_volume(self, context, volume, image_service, image_id, disable_sparse=False):
        with self._p(volume.name).open("r+b") as f:
            image_service.download(context, image_id, f)

    def copy_volume_to_image(self, context, volume, image_service, image_meta):
        with self._p(volume.name).open("rb") as f:
            image_service.update(context, image_meta["id"], {}, f)

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector, **k):
        return {
            "driver_volume_type": "local",
            "data": {"device_path": str(self._p(volume.name)), "access_mode": "rw"},
        }

    def terminate_connection(self, volume, connector, **k):
        pass

    def _update_volume_stats(self):
        self._stats = {
            "volume_backend_name": self.configuration.safe_get("volume_backend_name") or "lab",
            "vendor_name": "lab",
            "driver_version": self.VERSION,
            "storage_protocol": "local",
            "total_capacity_gb": 100000,
            "free_capacity_gb": 100000,
            "reserved_percentage": 0,
            "max_over_subscription_ratio": "20.0",
            "provisioned_capacity_gb": 0,
            "thin_provisioning_support": True,
            "thick_provisioning_support": False,
            "multiattach": True,
            "QoS_support": False,
            "sparse_copy_volume": True,
        }
