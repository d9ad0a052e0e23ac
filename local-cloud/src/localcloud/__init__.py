"""An OpenStack-compatible cloud on one machine, whose servers and networks are real."""
