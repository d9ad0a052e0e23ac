"""Runs migrations on the connection that :mod:`stoker.store.sql.databases` hands over."""

from alembic import context

from stoker.store.schema.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
