"""Tables of the service itself: trusts, marks, engines, tickets. They hold no records of stacks."""

from __future__ import annotations

import sqlalchemy as sa

from stoker.store.schema.columns import ID, NAME, NUMBER, TEXT, WORD, metadata

trusts = sa.Table(
    "trusts",
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
    sa.Column("trust_id", ID, nullable=False, unique=True),
    sa.Column("project_id", ID, nullable=False),
    sa.Column("user_id", ID, nullable=False),
    sa.Column("trustee_id", ID, nullable=False),
    sa.Column("roles", TEXT, nullable=False),
    sa.Column("replaced_by", ID),
    sa.Column("retired", sa.Boolean, nullable=False),
    sa.Index("ix_trusts_owner", "project_id", "user_id"),
    comment="trusts in the identity service that stacks act by",
)

marks = sa.Table(
    "marks",
    metadata,
    sa.Column("name", WORD, primary_key=True),
    sa.Column("value", TEXT, nullable=False),
    comment="what holds for the whole database",
)

engines = sa.Table(
    "engines",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("host", NAME, nullable=False),
    sa.Column("process", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("updated_at", sa.Float, nullable=False),
    comment="the engines that share the work, as each has told of itself",
)

spent_tickets = sa.Table(
    "spent_tickets",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("expires_at", sa.Float, nullable=False, index=True),
    comment="one-time tickets of the console that were used, until they expire",
)

takeovers = sa.Table(
    "takeovers",
    metadata,
    sa.Column("stack_id", ID, primary_key=True),
    sa.Column("project_id", ID, nullable=False),
    sa.Column("name", NAME, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False, comment="of the rows of the tree in Heat"),
    sa.Column("taken_at", sa.Float, nullable=False),
    sa.Column("resources", sa.Integer, nullable=False),
    sa.Column("remarks", TEXT, nullable=False),
    comment="trees of stacks that were taken over from Heat, by their root stack",
)
