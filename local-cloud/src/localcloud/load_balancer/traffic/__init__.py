"""Traffic of load balancers: listeners, pools, health checks of members, and load balancing
methods.
"""
