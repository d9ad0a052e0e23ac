"""The console: a web page under ``/console``, its sessions, and the REST API behind them."""
