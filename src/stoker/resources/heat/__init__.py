"""Types that need no cloud service but this one."""
