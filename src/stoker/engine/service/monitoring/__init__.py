"""Watch rules, alarms and metrics."""
