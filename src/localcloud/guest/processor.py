"""User data as cloud-init would treat it: what is done at each boot, and what only at the first."""

from localcloud.guest.instance import Instance
from localcloud.guest import scripts


def run(instance: Instance) -> int:
    """Process vendor data and user data; returns 0, or 1 when something failed."""
    if not instance.first_time("user_data") or not instance.user_data:
        return 0
    path = instance.directory / "scripts" / "part-001"
    path.write_bytes(instance.user_data)
    path.chmod(0o700)
    return scripts.run_script(path, instance)
