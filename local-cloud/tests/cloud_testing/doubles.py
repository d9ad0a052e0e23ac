"""A clock and tokens for tests."""

from datetime import UTC, datetime, timedelta

from localcloud.web.http import RequestContext, UnauthorizedError


class ManualClock:
    """A clock that moves on request only; sleeping moves it."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)


class StaticTokens:
    """Tokens that are known beforehand: ``admin``, ``demo`` and ``other`` (three projects)."""

    contexts = {
        name: RequestContext(
            user_id=f"{name}-user",
            project_id=f"{name}-project",
            project_domain_id="default",
            roles=("admin", "manager", "member", "reader")
            if name == "admin"
            else ("member", "reader"),
            token=name,
        )
        for name in ("admin", "demo", "other")
    }

    def validate(self, token: str) -> RequestContext:
        if token not in self.contexts:
            raise UnauthorizedError("The request you have made requires authentication.")
        return self.contexts[token]
