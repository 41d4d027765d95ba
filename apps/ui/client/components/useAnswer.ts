import { messageOf } from "@isthmus/core";
import { useEffect, useState } from "react";

/** What a server has answered: nothing yet, why not, or what. */
export interface Answer<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
}

/** Asks the console's server, again whenever `key` is another one; what was answered before stays until then. `read` is module-level. */
export function useAnswer<T>(read: (signal: AbortSignal) => Promise<T>, key: string): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: undefined, problem: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` makes it ask again
  useEffect(() => {
    const stop = new AbortController();
    read(stop.signal).then(
      (value) => setAnswer({ value, problem: undefined }),
      (error: unknown) => {
        if (!stop.signal.aborted) setAnswer(({ value }) => ({ value, problem: messageOf(error) }));
      },
    );
    return () => stop.abort();
  }, [read, key]);
  return answer;
}
