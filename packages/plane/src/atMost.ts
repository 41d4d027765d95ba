/** Runs pieces of work, `limit` of them at once; more wait for their turn, first come, first served. */
export function atMost(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < limit) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Its place goes to the next one.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
