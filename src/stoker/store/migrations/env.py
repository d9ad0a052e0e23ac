"""Runs migrations on the connection that :mod:`stoker.store.databases` hands over."""

from alembic import context

from stoker.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
