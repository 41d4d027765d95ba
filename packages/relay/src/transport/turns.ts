/**
 * Shares one thread among the streams of a server: what they bring is done in the order in which it came, some of it in each turn
 * of the event loop. What waits is bounded by the number of streams: of each, one message, its end, and that its socket has room.
 */
export interface Turns {
  /** Does `job` at once while the event loop's turn has time left and nobody waits, else in a later turn. */
  take(job: () => void): void;
}

export interface TurnsOptions {
  /** For so long, in ms, each turn works; a job that has begun ends. */
  readonly sliceMs?: number;
  /** In ms. */
  readonly now?: () => number;
}

/**
 * One turn of the event loop reads all sockets that have something, of each up to 2 MB, which deflated is ten thousand objects and more:
 * when many agents join, nobody else would be heard for seconds.
 */
export function startTurns({ sliceMs = 3, now = () => performance.now() }: TurnsOptions = {}): Turns {
  const waiting: (() => void)[] = [];
  /** Time spent in this turn. */
  let spent = 0;
  let isTurnAhead = false;

  function perform(job: () => void): void {
    const started = now();
    try {
      job();
    } finally {
      spent += now() - started;
      // Also when nobody waits: with the next turn there is time again.
      ahead();
    }
  }

  function ahead(): void {
    if (isTurnAhead) return;
    isTurnAhead = true;
    setImmediate(turn);
  }

  function turn(): void {
    isTurnAhead = false;
    spent = 0;
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      perform(job);
      if (spent >= sliceMs) return;
    }
  }

  return {
    take(job) {
      if (waiting.length === 0 && spent < sliceMs) return perform(job);
      waiting.push(job);
      ahead();
    },
  };
}
