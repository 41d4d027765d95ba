import { ClusterError } from "@isthmus/ports";

/** Where requests are reported. */
export interface RequestLog {
  say(line: string): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Runs a request, and reports when it has ended: what it was, its result, and the time. */
export type Timed = <T>(what: string, request: Promise<T>, resultOf?: (answer: T) => string) => Promise<T>;

/** A function that reports requests. Of what was answered, only what `resultOf` says. */
export function timedRequests({ say, now }: RequestLog): Timed {
  return async (what, request, resultOf = () => "done") => {
    const begun = now();
    const ended = (result: string): void => say(`${what}: ${result}, ${now() - begun} ms`);
    try {
      const answer = await request;
      ended(resultOf(answer));
      return answer;
    } catch (error) {
      ended(error instanceof ClusterError ? error.code : "given up");
      throw error;
    }
  };
}
