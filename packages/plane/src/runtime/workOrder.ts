/** Which items of a work queue wait for others. Of groups that wait for each other, directly or not, all would wait for ever. */
export interface WorkOrder<T> {
  /** To which group an item belongs. */
  readonly groupOf: (item: T) => string;
  /** Groups for whose items an item waits: for those that were set before it or together with it, and for one try of each. */
  readonly waitsFor: (item: T) => readonly string[];
}

/** An item from when it is set until it was tried. */
export interface Turn {
  readonly group: string;
  /** When its name was first set, since it was last tried: others wait for it by this. */
  readonly first: number;
  /** When its latest item was set: what it waits for was set by then. */
  readonly latest: number;
}

/** Turns of the items of one queue, and the names that are held until others have had theirs. */
export interface WorkTurns<T> {
  /** Says whether its name was held: the new item may have to wait for others, or for none. */
  set(key: string, item: T): boolean;
  /** Whether an item has to wait; then its name is held, and given by `released` later. */
  holds(key: string, item: T): boolean;
  /** Its item is being tried from now on. */
  started(key: string): Turn | undefined;
  /** It was tried, or is not to be done any more. */
  finished(turn: Turn | undefined): void;
  deleted(key: string): void;
  /** Names that are not held any more, by what was settled meanwhile. */
  released(): readonly string[];
}

/**
 * Turns by a number that grows with each item that is started: what is set in one go, in whichever order, has one number. Nobody waits
 * for what is set later, so nobody waits for ever while more and more comes.
 */
export function turnsOf<T>({ groupOf, waitsFor }: WorkOrder<T>): WorkTurns<T> {
  let now = 0;
  const due = new Map<string, Turn>();
  /** Per group, how many turns are open of each number; numbers in ascending order. */
  const open = new Map<string, Map<number, number>>();
  const held = new Map<string, readonly string[]>();
  let hasSettled = false;

  function opened({ group, first }: Turn): void {
    const turns = open.get(group) ?? new Map<number, number>();
    open.set(group, turns.set(first, (turns.get(first) ?? 0) + 1));
  }

  function settled(turn: Turn | undefined): void {
    const turns = turn === undefined ? undefined : open.get(turn.group);
    if (turn === undefined || turns === undefined) return;
    const left = (turns.get(turn.first) ?? 0) - 1;
    if (left > 0) turns.set(turn.first, left);
    else turns.delete(turn.first);
    if (turns.size === 0) open.delete(turn.group);
    hasSettled ||= left <= 0;
  }

  function mustWait(groups: readonly string[], latest: number): boolean {
    return groups.some((group) => {
      const [first = Number.POSITIVE_INFINITY] = open.get(group)?.keys() ?? [];
      return first <= latest;
    });
  }

  return {
    set(key, item) {
      const group = groupOf(item);
      const before = due.get(key);
      if (before?.group === group) {
        due.set(key, { ...before, latest: now });
      } else {
        settled(before);
        const turn = { group, first: now, latest: now };
        due.set(key, turn);
        opened(turn);
      }
      return held.delete(key);
    },
    holds(key, item) {
      const groups = waitsFor(item);
      if (groups.length === 0 || !mustWait(groups, due.get(key)?.latest ?? now)) return false;
      held.set(key, groups);
      return true;
    },
    started(key) {
      const turn = due.get(key);
      due.delete(key);
      held.delete(key);
      now++;
      return turn;
    },
    finished: settled,
    deleted(key) {
      settled(due.get(key));
      due.delete(key);
      held.delete(key);
    },
    released() {
      if (!hasSettled) return [];
      hasSettled = false;
      if (held.size === 0) return [];
      const names = [...held].filter(([key, groups]) => !mustWait(groups, due.get(key)?.latest ?? now)).map(([key]) => key);
      for (const key of names) held.delete(key);
      return names;
    },
  };
}
