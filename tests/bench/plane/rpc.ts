/** Calls and streams between a benchmark's process and one that it has started. */
export interface Remote {
  call<T>(method: string, argument?: unknown): Promise<T>;
  stream<T>(method: string, argument: unknown, signal: AbortSignal): AsyncIterable<T>;
}

/** What one end answers, by method. A stream is an answer that comes in pieces, until its signal is aborted. */
export interface Answers {
  readonly calls: Readonly<Record<string, (argument: never) => unknown>>;
  readonly streams?: Readonly<Record<string, (argument: never, signal: AbortSignal) => AsyncIterable<unknown>>>;
}

/** One end of the channel: `process` in the child, the ChildProcess in its parent. */
export interface Channel {
  send?(message: object, sent: (error: Error | null) => void): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

/** What went wrong at the other end. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly code: string | undefined;
  readonly details: object | undefined;

  constructor({ message, code, details }: Fault) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

interface Fault {
  readonly message: string;
  readonly code?: string;
  readonly details?: object;
}

type Frame =
  | { readonly type: "call" | "stream"; readonly id: number; readonly method: string; readonly argument?: unknown }
  | { readonly type: "abort"; readonly id: number }
  | { readonly type: "item" | "end"; readonly id: number; readonly value?: unknown; readonly fault?: Fault };

/** The other end of a channel. */
export function remote(channel: Channel): Remote {
  const open = new Map<number, (frame: Extract<Frame, { readonly type: "item" | "end" }>) => void>();
  let lastId = 0;
  channel.on("message", (message) => {
    const frame = message as Frame;
    if (frame.type === "item" || frame.type === "end") open.get(frame.id)?.(frame);
  });

  return {
    call<T>(method: string, argument?: unknown): Promise<T> {
      const id = ++lastId;
      return new Promise<T>((resolve, reject) => {
        open.set(id, ({ value, fault }) => {
          open.delete(id);
          if (fault === undefined) resolve(value as T);
          else reject(new RemoteError(fault));
        });
        sayOn(channel, { type: "call", id, method, argument });
      });
    },
    async *stream<T>(method: string, argument: unknown, signal: AbortSignal) {
      const id = ++lastId;
      const pieces: T[] = [];
      let end: { readonly fault: Fault | undefined } | undefined;
      let wake: () => void = () => undefined;
      open.set(id, ({ type, value, fault }) => {
        if (type === "item") pieces.push(value as T);
        else end = { fault };
        wake();
      });
      const abort = () => wake();
      signal.addEventListener("abort", abort);
      sayOn(channel, { type: "stream", id, method, argument });
      try {
        while (!signal.aborted) {
          const piece = pieces.shift();
          if (piece !== undefined) yield piece;
          else if (end?.fault !== undefined) throw new RemoteError(end.fault);
          else if (end !== undefined) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
        throw signal.reason;
      } finally {
        signal.removeEventListener("abort", abort);
        open.delete(id);
        if (end === undefined) sayOn(channel, { type: "abort", id });
      }
    },
  };
}

/** Answers the other end of a channel. */
export function answer(channel: Channel, { calls, streams = {} }: Answers): void {
  const running = new Map<number, AbortController>();
  const say = (frame: Frame) => sayOn(channel, frame);

  async function call(id: number, method: string, argument: unknown): Promise<void> {
    const handler = calls[method];
    if (handler === undefined) throw new Error(`nobody answers ${method}`);
    say({ type: "end", id, value: await handler(argument as never) });
  }

  async function stream(id: number, method: string, argument: unknown): Promise<void> {
    const handler = streams[method];
    if (handler === undefined) throw new Error(`nobody answers ${method}`);
    const life = new AbortController();
    running.set(id, life);
    try {
      for await (const value of handler(argument as never, life.signal)) say({ type: "item", id, value });
      say({ type: "end", id });
    } finally {
      running.delete(id);
    }
  }

  channel.on("message", (message) => {
    const frame = message as Frame;
    if (frame.type === "abort") running.get(frame.id)?.abort();
    if (frame.type !== "call" && frame.type !== "stream") return;
    const done = frame.type === "call" ? call(frame.id, frame.method, frame.argument) : stream(frame.id, frame.method, frame.argument);
    done.catch((error: unknown) => say({ type: "end", id: frame.id, fault: faultOf(error) }));
  });
}

/** Of a process that is gone nothing is expected any more: its parent hears of its end. */
function sayOn(channel: Channel, frame: Frame): void {
  channel.send?.(frame, () => undefined);
}

function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, details } = error as Error & { readonly code?: unknown; readonly details?: object };
  const name = typeof code === "string" ? { code } : { message: error.stack ?? error.message };
  return { message: error.message, ...name, ...(details === undefined ? {} : { details }) };
}
