"""The CloudWatch API: measurements, and the alarms that watch them."""
