"""Settings of Horizon in these tests, for ``openstack_dashboard/local``."""

import os

DEBUG = True  # it serves its static files itself
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = "known to this test alone"
OPENSTACK_KEYSTONE_URL = os.environ["KEYSTONE_URL"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
SESSION_ENGINE = "django.contrib.sessions.backends.file"
SESSION_FILE_PATH = os.environ["HORIZON_SESSIONS"]
TIME_ZONE = "UTC"
