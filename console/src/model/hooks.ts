/** Reads of the API inside of components. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Read<T> {
  value: T | undefined;
  error: unknown;
  reload: () => void;
}

/** Read once for each set of dependencies; the answer of an earlier read is dropped. */
export function useRead<T>(
  read: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
): Read<T> {
  const [state, setState] = useState<{ value: T | undefined; error: unknown }>({
    value: undefined,
    error: null,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const ended = new AbortController();
    latest.current(ended.signal).then(
      (value) => !ended.signal.aborted && setState({ value, error: null }),
      (error) => !ended.signal.aborted && setState((before) => ({ value: before.value, error })),
    );
    return () => ended.abort();
  }, [...dependencies, turn]);
  return { ...state, reload: useCallback(() => setTurn((n) => n + 1), []) };
}

/** Call a function again and again while the page is visible. */
export function useInterval(call: () => void, ms: number): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
}
