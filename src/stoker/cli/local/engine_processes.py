"""Engine processes that ``stoker serve`` starts, to try how they share the work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys

from stoker.cli.console.failures import CommandError
from stoker.cli.local.serve_options import ServeOptions
from stoker.kernel.logs.log import Log

log = Log(__name__)

AGAIN_AFTER = 1.0  # seconds before an engine that died is restarted
_READY_WITHIN = 60.0
# Seconds before an engine that does not stop is killed. Others resume its stacks.
ENDS_WITHIN = 15.0


class EngineProcesses:
    """The ``stoker engine`` processes, as many as the options request."""

    def __init__(self, options: ServeOptions) -> None:
        self._count = options.engines
        command = [sys.executable, "-m", "stoker", "engine", "--data-dir", str(options.data_dir)]
        command += ["--local-cloud" if options.local_cloud else "--no-local-cloud"]
        for file in options.config.files:
            command += ["--config-file", str(file)]
        for directory in options.config.directories:
            command += ["--config-dir", str(directory)]
        self._command = [*command, "--parent", str(os.getpid())]
        # Every user can see command lines, and the URL may have a password.
        named = {"STOKER_DATABASE": options.database} if options.database else {}
        if options.verify:
            named["STOKER_VERIFY"] = "1"
        self._environment = {**os.environ, **named}
        self._running: set[asyncio.subprocess.Process] = set()
        self._closing = False
        self._not_ready = options.engines
        self.ready = asyncio.Event()  # set when all engines are ready
        if not options.engines:
            self.ready.set()

    async def run(self) -> None:
        """Keep the processes running. Raise :class:`CommandError` if one cannot start."""
        await asyncio.gather(*(self._keep() for _ in range(self._count)), _for_ever())

    async def _keep(self) -> None:
        while not self._closing:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
                env=self._environment,
            )
            self._running.add(process)
            assert process.stdout is not None
            ready = await asyncio.wait_for(process.stdout.readline(), _READY_WITHIN)
            if ready:
                self._not_ready -= 1
                if self._not_ready == 0:
                    self.ready.set()
            code = await process.wait()
            self._running.discard(process)
            if not ready and code > 0 and not self._closing:
                raise CommandError("an engine did not start; see its output above")
            if not self._closing:
                log.warning("engine died; it is started again", process=process.pid, code=code)
                await asyncio.sleep(AGAIN_AFTER)

    def reload(self) -> None:
        """Have the engines read the encryption keys again."""
        for process in self._running:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGHUP)

    async def close(self) -> None:
        """Stop the engines, and wait for their end."""
        self._closing = True
        for process in self._running:
            process.terminate()
        await asyncio.gather(*map(_end_of, self._running))


async def _end_of(process: asyncio.subprocess.Process) -> None:
    try:
        await asyncio.wait_for(process.wait(), ENDS_WITHIN)
    except TimeoutError:
        log.warning("engine killed, as it did not end", process=process.pid)
        process.kill()
        await process.wait()


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()
