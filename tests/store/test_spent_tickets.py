"""One-time tickets that were used, in both databases."""

from __future__ import annotations

import asyncio
from pathlib import Path

from stoker.store.opening import OpenStore


async def test_ticket_is_spent_once_among_processes(own_database_url: str, tmp_path: Path) -> None:
    stores = [OpenStore(own_database_url, tmp_path) for _ in range(2)]
    try:
        tries = [store.spent_tickets.spend("t1", 1000.0) for store in stores * 5]
        assert sorted(await asyncio.gather(*tries)) == [False] * 9 + [True]
        assert await stores[0].spent_tickets.spend("t2", 2000.0)
        assert await stores[0].spent_tickets.purge(1500.0) == 1
        assert not await stores[1].spent_tickets.spend("t2", 2000.0)
        assert await stores[1].spent_tickets.spend("t1", 3000.0)
    finally:
        for store in stores:
            store.close()


def test_seal_is_opened_with_each_key_of_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'stoker.db'}"
    store = OpenStore(url, tmp_path, "first")
    sealed = store.seals.seal("text", "purpose")
    store.renew_keys("second", ["first"])
    assert store.seals.unseal(sealed, "purpose") == "text"
    assert store.seals.unseal(sealed, "other") is None
    assert store.seals.unseal(f"{sealed}A", "purpose") is None
    store.close()
    other = tmp_path / "other"
    other.mkdir()
    store = OpenStore(f"sqlite:///{other / 'stoker.db'}", other, "third")
    assert store.seals.unseal(sealed, "purpose") is None
    store.close()
