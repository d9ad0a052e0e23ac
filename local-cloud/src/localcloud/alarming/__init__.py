"""The alarm service: the API of Aodh, version 2, and alarms that really ring."""
