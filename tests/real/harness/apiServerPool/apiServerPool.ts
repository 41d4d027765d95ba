import type { ApiServerAccess } from "../apiServer.ts";
import type { Form, PooledServer } from "./pooledServer.ts";

/** What a suite asks for: all its servers at once, so that no two suites wait for each other's. */
export interface LeaseRequest {
  /** One for each server. */
  readonly forms: readonly Form[];
}

/** Servers that belong to one suite until it gives them back. */
export interface Lease {
  readonly servers: readonly ApiServerAccess[];
  /** They are reset for the next one. */
  release(): void;
  /** Nobody knows what the tenant left running: they are ended. */
  abandon(): void;
}

export interface ApiServerPool {
  /** Resolves when as many are free; in the order of requests. Rejects when the pool has fewer than that, or when none starts. */
  lease(request: LeaseRequest): Promise<Lease>;
  /** Ends all; requests that wait are rejected. */
  close(): Promise<void>;
}

export interface ApiServerPoolOptions {
  /** How many servers there are at most. */
  readonly most: number;
  /** `serial`: 1, 2, …; never the same twice. */
  readonly start: (serial: number) => Promise<PooledServer>;
  /** Is given the reason when a server is ended before its time. */
  readonly warn: (message: string) => void;
}

interface Slot {
  server: PooledServer | undefined;
  state: "free" | "leased" | "resetting";
}

interface Waiting extends LeaseRequest {
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
}

/** A pool that starts servers as they are needed. */
export function apiServerPool({ most, start, warn }: ApiServerPoolOptions): ApiServerPool {
  const slots = new Set<Slot>();
  const queue: Waiting[] = [];
  const ends: Promise<void>[] = [];
  const gifts = new Set<Promise<void>>();
  let serial = 0;
  let isClosed = false;

  /** Gives the first request its servers once they are there; later ones wait behind it. */
  function serve(): void {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const chosen = choose(next);
      if (chosen === undefined) return;
      queue.shift();
      for (const slot of chosen) slot.state = "leased";
      const given = give(next, chosen).finally(() => gifts.delete(given));
      gifts.add(given);
    }
  }

  /** Free servers, first those of a form that is asked for; new ones only where no server will be free soon. Undefined: it has to wait. */
  function choose({ forms }: LeaseRequest): readonly Slot[] | undefined {
    const free = new Set([...slots].filter(({ state }) => state === "free"));
    const missing = forms.length - free.size;
    const soon = [...slots].filter(({ state }) => state === "resetting").length;
    if (missing > 0 && (soon >= missing || missing > most - slots.size)) return undefined;
    const take = (found: Slot | undefined): Slot | undefined => {
      if (found !== undefined) free.delete(found);
      return found;
    };
    const ofForm = forms.map((form) => take([...free].find(({ server }) => server?.form === form)));
    return ofForm.map((slot) => slot ?? take([...free][0]) ?? added());
  }

  function added(): Slot {
    const slot: Slot = { server: undefined, state: "free" };
    slots.add(slot);
    return slot;
  }

  async function give({ forms, resolve, reject }: Waiting, chosen: readonly Slot[]): Promise<void> {
    const prepared = await Promise.allSettled(chosen.map((slot, i) => prepare(slot, forms[i] ?? "bare")));
    const failed = prepared.find((result) => result.status === "rejected");
    if (failed !== undefined || isClosed) {
      for (const slot of chosen) void giveBack(slot);
      reject(failed?.reason ?? new Error(CLOSED));
      return;
    }
    let isOver = false;
    const end = (one: (slot: Slot) => Promise<void>) => () => {
      if (isOver) return;
      isOver = true;
      for (const slot of chosen) void one(slot);
    };
    const servers = prepared.flatMap((result) => (result.status === "fulfilled" ? [result.value.access] : []));
    resolve({ servers, release: end(giveBack), abandon: end(retire) });
  }

  /** Starts what has not started, and replaces what does not come to the form. */
  async function prepare(slot: Slot, form: Form): Promise<PooledServer> {
    if (slot.server !== undefined) await slot.server.resume().catch((error) => replace(slot, error));
    if (slot.server !== undefined && slot.server.form !== form) {
      const { server } = slot;
      await server.reset(form).catch((error) => replace(slot, error));
    }
    if (slot.server === undefined) {
      slot.server = await start(++serial);
      if (form !== slot.server.form) await slot.server.reset(form);
    }
    return slot.server;
  }

  async function replace(slot: Slot, error: unknown): Promise<void> {
    const { server } = slot;
    warn(`an API server is replaced: ${String(error)}`);
    slot.server = undefined;
    await server?.stop();
  }

  async function giveBack(slot: Slot): Promise<void> {
    const { server } = slot;
    if (isClosed || server === undefined) return retire(slot);
    slot.state = "resetting";
    try {
      const wanted = queue[0]?.forms ?? [];
      await server.reset(wanted.includes(server.form) ? server.form : (wanted[0] ?? server.form));
      server.suspend();
      slot.state = "free";
      serve();
    } catch (error) {
      if (!isClosed) warn(`an API server is replaced: ${String(error)}`);
      await retire(slot);
    }
  }

  function retire(slot: Slot): Promise<void> {
    slots.delete(slot);
    const ended = slot.server?.stop() ?? Promise.resolve();
    ends.push(ended);
    serve();
    return ended;
  }

  return {
    lease(request) {
      if (isClosed) return Promise.reject(new Error(CLOSED));
      if (request.forms.length > most)
        return Promise.reject(new Error(`${request.forms.length} API servers are asked for, and ISTHMUS_API_SERVERS allows ${most}`));
      return new Promise((resolve, reject) => {
        queue.push({ ...request, resolve, reject });
        serve();
      });
    },
    async close() {
      isClosed = true;
      for (const { reject } of queue.splice(0)) reject(new Error(CLOSED));
      await Promise.all(gifts);
      await Promise.all([...ends, ...[...slots].map((slot) => slot.server?.stop())]);
    },
  };
}

const CLOSED = "the pool of API servers is closed";
